// Goal: a store has exactly the contents of the worked example of FORMAT.md.
// Method: the test writes the documents of the example, reads the store's trees by LMDB alone, and
// compares them with the text byte by byte. format_example_test.py checks that the text alone
// suffices to decode these bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lmdb.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/checksum/crc32c.h"
#include "engine/local/open_store.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWidth = 104;

std::string hex(const MDB_val& bytes) {
  const auto* const data = static_cast<const uint8_t*>(bytes.mv_data);
  std::string text;
  for (size_t i = 0; i < bytes.mv_size; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", data[i]);
    text += digits;
  }
  return text;
}

// Returns the number of zeros at the end of the value, or 0 if they are too few for a line of their
// own.
size_t zeros_at_end(const MDB_val& bytes) {
  const auto* const data = static_cast<const uint8_t*>(bytes.mv_data);
  size_t count = 0;
  while (count < bytes.mv_size && data[bytes.mv_size - count - 1] == 0) ++count;
  return count > 64 ? count : 0;
}

// Replaces the random UUID in a collection's entry by that of the text, and computes the entry's
// checksum again.
void replace_uuid(std::string& value) {
  constexpr std::string_view kField("\x05uuid\0\x10\0\0\0\x04", 11);
  constexpr std::string_view kUuidOfTheText(
      "\xd0\xd1\xd2\xd3\xd4\xd5\x46\xd7\x98\xd9\xda\xdb\xdc\xdd\xde\xdf");
  constexpr size_t kChecksumBytes = 4;
  const size_t at = value.find(kField);
  if (at == std::string::npos) return;
  value.replace(at + kField.size(), kUuidOfTheText.size(), kUuidOfTheText);
  const uint32_t checksum = crc32c({reinterpret_cast<const uint8_t*>(value.data()) + kChecksumBytes,
                                    value.size() - kChecksumBytes});
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    value[i] = static_cast<char>(checksum >> (24 - 8 * i));
  }
}

// Appends "tree key", and the value on lines of its own, in the format of FORMAT.md.
void append_entries(MDB_txn* txn, const std::string& tree, std::string& text) {
  MDB_dbi dbi = 0;
  ASSERT_EQ(mdb_dbi_open(txn, tree.c_str(), 0, &dbi), 0);
  MDB_cursor* cursor = nullptr;
  ASSERT_EQ(mdb_cursor_open(txn, dbi, &cursor), 0);
  MDB_val key{};
  MDB_val value{};
  while (mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0) {
    text += "    " + tree + " " + hex(key) + "\n";
    const size_t zeros = zeros_at_end(value);
    value.mv_size -= zeros;
    std::string bytes(static_cast<const char*>(value.mv_data), value.mv_size);
    replace_uuid(bytes);
    const std::string digits = hex({bytes.size(), bytes.data()});
    for (size_t at = 0; at < digits.size(); at += kWidth) {
      text += "        " + digits.substr(at, kWidth) + "\n";
    }
    if (zeros > 0) text += "        00 * " + std::to_string(zeros) + "\n";
  }
  mdb_cursor_close(cursor);
}

std::string entries_of(const fs::path& store) {
  std::string text;
  MDB_env* env = nullptr;
  EXPECT_EQ(mdb_env_create(&env), 0);
  EXPECT_EQ(mdb_env_set_maxdbs(env, 200), 0);
  // The store's normal map size is larger than the address space that a sanitizer leaves.
  EXPECT_EQ(mdb_env_set_mapsize(env, size_t{64} << 20), 0);
  EXPECT_EQ(
      mdb_env_open(env, (store / "data.mdb").c_str(), MDB_NOSUBDIR | MDB_RDONLY | MDB_NOLOCK, 0600),
      0);
  MDB_txn* txn = nullptr;
  EXPECT_EQ(mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn), 0);
  append_entries(txn, "catalog", text);
  for (int i = 0; i < 128; ++i) {
    char tree[8];
    std::snprintf(tree, sizeof tree, "t%03d", i);
    append_entries(txn, tree, text);
  }
  mdb_txn_abort(txn);
  mdb_env_close(env);
  return text;
}

// Returns the lines between the example's markers.
std::string block(const std::string& text, const std::string& name) {
  const size_t begin = text.find("<!-- " + name + " -->\n");
  const size_t end = text.find("<!-- end -->", begin);
  if (begin == std::string::npos || end == std::string::npos) return "no block " + name;
  const size_t first = text.find('\n', begin) + 1;
  return text.substr(first, end - first);
}

bson::Document document(const std::string& json) {
  return *bson::document_from_json(json);
}

std::string in_lines(const std::string& bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % 52 == 0) text += i == 0 ? "    " : "\n    ";
    char hex[3];
    std::snprintf(hex, sizeof hex, "%02x", static_cast<uint8_t>(bytes[i]));
    text += hex;
  }
  return text + "\n";
}

std::string beginning_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(4096, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

// Returns a record's header and changes with its checksum. The size of the changes is at `size_at`.
// The random id at `id_at` is replaced by that of the text.
std::string record_in(std::string bytes, size_t header, size_t size_at, size_t id_at,
                      const std::string& shown) {
  constexpr size_t kIdBytes = 16;
  std::string digits;
  for (const char c : shown) {
    if (c != ' ' && c != '\n') digits += c;
  }
  uint32_t size;
  std::memcpy(&size, bytes.data() + size_at, sizeof size);
  if (digits.size() < 2 * header || size > bytes.size() - header) return "no record";
  for (size_t i = id_at; i < id_at + kIdBytes; ++i) {
    bytes[i] = static_cast<char>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
  }
  bytes.resize(header + size);
  const uint32_t checksum = crc32c({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return in_lines(bytes);
}

// Returns the log's record of the removal.
std::string record_of_a_removal(const fs::path& store, const std::string& shown) {
  {
    auto opened = open(store, {});
    auto transaction = (*opened)->begin();
    const auto collection = (*opened)->database("library")->collection("people");
    EXPECT_TRUE(collection->remove(**transaction, document(R"({"_id": "g"})"), false));
    EXPECT_TRUE((*transaction)->commit(engine::Durability::kDurable));
  }
  return record_in(beginning_of(store / "redo"), 48, 44, 8, shown);
}

// Returns the record in `pending` of an insertion after eight small changes, made this long after
// the opening.
std::string record_of_an_insertion(const fs::path& store, std::chrono::milliseconds after,
                                   const std::string& shown) {
  auto opened = open(store, {});
  std::this_thread::sleep_for(after);
  const auto collection = (*opened)->database("library")->collection("people");
  for (int year = 1816; year <= 1823; ++year) {
    auto transaction = (*opened)->begin(engine::TransactionKind::kShort);
    EXPECT_TRUE(
        collection->update(**transaction, document(R"({"_id": 7})"),
                           document(R"({"$set": {"born": )" + std::to_string(year) + "}}")));
    EXPECT_TRUE((*transaction)->commit());
  }
  auto transaction = (*opened)->begin(engine::TransactionKind::kShort);
  EXPECT_TRUE(collection->insert(**transaction, document(R"({"_id": "h", "name": "Hedy"})")));
  EXPECT_TRUE((*transaction)->commit());
  return record_in(beginning_of(store / "pending"), 36, 4, 20, shown);
}

TEST(FormatExample, Store_HoldsWhatTheTextShows) {
  std::ifstream file(FORMAT_FILE);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string pattern = (fs::temp_directory_path() / "gridmount-format.XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path folder = fs::path(pattern) / "store";
  {
    auto store = open(folder, {.create = true});
    ASSERT_TRUE(store);
    auto transaction = (*store)->begin();
    ASSERT_TRUE(transaction);
    const auto collection = (*store)->database("library")->collection("people");
    for (const char* const index : {R"({"key": {"name": 1}, "name": "name_1", "unique": true})",
                                    R"({"key": {"born": -1, "tags": 1}, "name": "born_tags"})"}) {
      const auto definition = engine::IndexDefinition::parse(document(index));
      ASSERT_TRUE(definition);
      ASSERT_TRUE(collection->create_index(**transaction, *definition));
    }
    std::string line;
    std::istringstream documents(block(text, "documents"));
    int count = 0;
    while (std::getline(documents, line)) {
      if (line.find('{') == std::string::npos) continue;
      ASSERT_TRUE(collection->insert(**transaction, document(line)));
      ++count;
    }
    ASSERT_EQ(count, 2);
    ASSERT_TRUE((*transaction)->commit());
  }
  const std::string entries = entries_of(folder);
  const std::string shown = block(text, "entries");
  EXPECT_EQ("\n" + entries + "\n", shown);
  EXPECT_EQ("\n" + record_of_a_removal(folder, block(text, "record")) + "\n",
            block(text, "record"));
  // After an opening, the store itself reads. If such a read happens between the changes, the batch
  // begins later.
  std::string pending;
  for (int i = 0; i < 20 && pending != block(text, "pending"); ++i) {
    const fs::path copied = fs::path(pattern) / std::to_string(i);
    fs::copy(folder, copied, fs::copy_options::recursive);
    const std::chrono::milliseconds after(10 * i);
    pending = "\n" + record_of_an_insertion(copied, after, block(text, "pending")) + "\n";
  }
  EXPECT_EQ(pending, block(text, "pending"));
  std::ifstream format(folder / "format");
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(format)), std::istreambuf_iterator<char>()),
            "gridmount store\nformat 5\n");
  fs::remove_all(pattern);
}

}  // namespace
}  // namespace gridmount::local
