// Goal: a flipped bit anywhere in data.mdb is either harmless, or reported by every read or write
// that meets it. It never ends the process, never hangs it, and never silently changes contents.
//
// Method: the bits of a store's file are flipped one at a time, each in a copy. A child process
// opens the copy, reads it in every way, checks it, and writes to it: it inserts, changes and
// removes documents all over the store, in one transaction and in several. One store is small. The
// other has deep trees, a long list of free pages, and few enough documents that a child can read
// all of it. GRIDMOUNT_BIT_FLIPS sets the number of flips in the small store (1500 at random, 100
// in sanitized builds); the other store gets an eighth of them. 0 means one bit of every byte of
// the small file and 10,000 bits of the other. GRIDMOUNT_BIT_FLIP_SEED replays a run.
// GRIDMOUNT_BIT_FLIP_AT flips only this bit, counted from the beginning of the file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/binary_overwrite.h"
#include "engine/bson/builder.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"
#include "tests/engine/local/integrity/bit_flips.h"
#include "tests/sanitized.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;

bson::Document document_of(int32_t id) {
  bson::Builder builder;
  // Some documents are in a leaf, some have pages of their own.
  builder.append("_id", id).append("a", id % 7);
  builder.append("text", std::string(id % 20 == 0 ? 9000 : 100, static_cast<char>('a' + id % 26)));
  return std::move(builder).finish();
}

bson::Document field_is(const char* name, int32_t value) {
  bson::Builder builder;
  builder.append(name, value);
  return std::move(builder).finish();
}

bson::Document set_text(const std::string& text) {
  bson::Builder fields;
  fields.append("text", text);
  const bson::Document set = std::move(fields).finish();
  bson::Builder builder;
  builder.append("$set", set.view());
  return std::move(builder).finish();
}

// Returns a document with `content`. make_patches() stores such a document as a record and two
// patches.
bson::Document document_of_patches(const std::string& content) {
  bson::Builder builder;
  builder.append("_id", 1);
  builder.append("data", bson::Binary{0, reinterpret_cast<const uint8_t*>(content.data()),
                                      static_cast<uint32_t>(content.size())});
  return std::move(builder).finish();
}
constexpr uint32_t kPatchedBytes = 35'000;
std::string patched_content() {
  std::string content(kPatchedBytes, 'p');
  content.replace(4096, 4096, 4096, 'q');
  content.replace(30'000, 100, 100, 'r');
  return content;
}

class BitFlips : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gridmount-flips.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Makes a store with `documents` documents, after many more have been inserted and removed.
  void make_store(int32_t documents, int32_t removed) {
    documents_ = documents;
    OpenOptions options;
    options.create = true;
    auto store = local::open(whole(), options);
    ASSERT_TRUE(store);
    auto collection = (*store)->database("test")->collection("c");
    {
      auto transaction = (*store)->begin();
      ASSERT_TRUE(transaction);
      ASSERT_TRUE(collection->create_index(**transaction, {"by_a", field_is("a", 1), false}));
      for (int32_t id = 0; id < documents + removed; ++id) {
        ASSERT_TRUE(collection->insert(**transaction, document_of(id)));
      }
      ASSERT_TRUE((*transaction)->commit(engine::Durability::kDurable));
    }
    make_patches(**store);
    for (int32_t id = documents; id < documents + removed; id += 10) {
      auto transaction = (*store)->begin();
      ASSERT_TRUE(transaction);
      for (int32_t i = id; i < id + 10; ++i) {
        ASSERT_TRUE(collection->remove(**transaction, field_is("_id", i), false));
      }
      ASSERT_TRUE((*transaction)->commit(engine::Durability::kDurable));
    }
  }

  static void make_patches(engine::Store& store) {
    auto collection = store.database("test")->collection("p");
    const std::string content = patched_content();
    const auto* const bytes = reinterpret_cast<const uint8_t*>(content.data());
    const engine::BinaryPiece pieces[] = {{4096, {bytes + 4096, 4096}},
                                          {30'000, {bytes + 30'000, 100}}};
    auto transaction = store.begin();
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(
        collection->insert(**transaction, document_of_patches(std::string(kPatchedBytes, 'p'))));
    // The first overwrite gives the record a form that can have patches.
    for (const engine::BinaryPiece& piece : {pieces[0], pieces[0], pieces[1]}) {
      const auto done =
          engine::overwrite_binary(*collection, **transaction, field_is("_id", 1),
                                   {"data", kPatchedBytes, kPatchedBytes, {&piece, 1}});
      ASSERT_TRUE(done && *done);
    }
    ASSERT_TRUE((*transaction)->commit(engine::Durability::kDurable));
  }

  fs::path whole() const { return folder_ / "whole"; }
  fs::path damaged() const { return folder_ / "damaged"; }

  // This function and the functions that it calls run in a child.
  int use_all() const {
    auto store = local::open(damaged(), {});
    if (!store) return kReported;
    const int read = read_all(**store);
    if (read == kSilentDifference) return read;
    const int written = write_all(**store, read == kReported);
    if (written == kSilentDifference) return written;
    return read == kReported || written == kReported ? kReported : kHarmless;
  }

  int read_all(engine::Store& store) const {
    bool reported = false;
    const auto snapshot = store.snapshot();
    if (!snapshot) return kReported;
    auto collection = store.database("test")->collection("c");
    std::map<int32_t, int> seen;
    const auto note = [&](const bson::View document, int32_t wanted_id) {
      const auto id = document.find("_id");
      if (!id || id->type() != bson::Type::kInt32) return false;
      if (wanted_id >= 0 && id->as_int32() != wanted_id) return false;
      const bson::Document wanted = document_of(id->as_int32());
      if (document.size() != wanted.view().size() ||
          !std::equal(wanted.view().bytes().begin(), wanted.view().bytes().end(),
                      document.bytes().begin())) {
        return false;
      }
      ++seen[id->as_int32()];
      return true;
    };
    // Reads in insertion order or by an index. If no error is reported, the result must be
    // complete.
    const auto read = [&](const bson::Document& filter, int32_t wanted) {
      const auto cursor = collection->find(**snapshot, filter);
      if (!cursor) {
        reported = true;
        return true;
      }
      int32_t count = 0;
      while (true) {
        const auto document = (*cursor)->next();
        if (!document) {
          reported = true;
          return true;
        }
        if (!*document) return count == wanted;
        if (!note(**document, -1)) return false;
        ++count;
      }
    };
    if (!read(bson::Document(), documents_)) return kSilentDifference;
    for (int32_t a = 0; a < 7; ++a) {
      if (!read(field_is("a", a), (documents_ + 6 - a) / 7)) return kSilentDifference;
    }
    for (int32_t id = 0; id < documents_; ++id) {
      const auto found = collection->find_one(**snapshot, field_is("_id", id));
      if (!found) reported = true;
      if (found && !(*found && note(**found, id))) return kSilentDifference;
    }
    const auto patched =
        store.database("test")->collection("p")->find_one(**snapshot, bson::View());
    if (!patched) reported = true;
    if (patched) {
      const bson::Document wanted = document_of_patches(patched_content());
      if (!*patched || !std::equal(wanted.view().bytes().begin(), wanted.view().bytes().end(),
                                   (**patched).bytes().begin(), (**patched).bytes().end())) {
        return kSilentDifference;
      }
    }
    if (!read_partially(**snapshot, *collection)) reported = true;
    const auto report = check_structure(store);
    if (!report || !report->problems.empty()) reported = true;
    if (reported) return kReported;
    // Nothing was reported, so nothing may be missing.
    for (int32_t id = 0; id < documents_; ++id) {
      if (seen[id] != 3) return kSilentDifference;
    }
    return kHarmless;
  }

  // Reads each document in part, and walks its fields, whatever their values are. Returns true if
  // nothing was reported.
  bool read_partially(engine::Snapshot& snapshot, engine::Collection& collection) const {
    bool whole = true;
    engine::FindOptions options;
    options.partial = true;
    const auto walk = [](bson::View document) {
      size_t bytes = 0;
      for (const bson::Element element : document) bytes += element.value.size();
      return bytes != 0;
    };
    for (int32_t id = 0; id < documents_; ++id) {
      const auto found = collection.find_one(snapshot, field_is("_id", id), options);
      if (!found || !*found || !walk(**found)) whole = false;
    }
    const auto cursor = collection.find(snapshot, field_is("a", 3), options);
    if (!cursor) return false;
    while (true) {
      const auto document = (*cursor)->next();
      if (!document) return false;
      if (!*document) return whole;
      if (!walk(**document)) whole = false;
    }
  }

  // Committed changes must be there afterwards, unless something was reported. Runs in a child.
  int write_all(engine::Store& store, bool reported) const {
    auto collection = store.database("test")->collection("c");
    const auto run = [&](const auto& change) {
      auto transaction = store.begin();
      if (!transaction) {
        reported = true;
        return;
      }
      change(**transaction);
      if (!(*transaction)->commit()) reported = true;
    };
    const auto note = [&](const auto& result) {
      if (!result) reported = true;
    };
    const std::string text(300, '!');
    // Changes single documents all over the store, each in its own transaction.
    for (int32_t id = 0; id < documents_; id += documents_ / 10) {
      run([&](engine::Transaction& t) { note(collection->remove(t, field_is("_id", id), false)); });
      run([&](engine::Transaction& t) { note(collection->insert(t, document_of(id))); });
      run([&](engine::Transaction& t) {
        note(collection->update(t, field_is("_id", id + 1), set_text(text)));
      });
    }
    run([&](engine::Transaction& t) {
      const std::string zeros(10, '\0');
      const engine::BinaryPiece piece{
          4100, {reinterpret_cast<const uint8_t*>(zeros.data()), zeros.size()}};
      note(engine::overwrite_binary(*store.database("test")->collection("p"), t, bson::View(),
                                    {"data", kPatchedBytes, kPatchedBytes, {&piece, 1}}));
    });
    // Inserts documents, so that free pages are used. At the end, everything is removed.
    run([&](engine::Transaction& t) {
      for (int32_t id = documents_; id < documents_ + 30; ++id) {
        note(collection->insert(t, document_of(id)));
      }
    });
    if (!reported) {
      const auto snapshot = store.snapshot();
      if (!snapshot) return kReported;
      int32_t count = 0;
      const auto cursor = collection->find(**snapshot, bson::Document());
      if (!cursor) return kReported;
      while (true) {
        const auto document = (*cursor)->next();
        if (!document) return kReported;
        if (!*document) break;
        ++count;
      }
      if (count != documents_ + 30) return kSilentDifference;
    }
    for (int32_t low = 0; low < documents_ + 30; low += (documents_ + 30) / 5) {
      run([&](engine::Transaction& t) {
        for (int32_t id = low; id < low + (documents_ + 30) / 5; ++id) {
          note(collection->remove(t, field_is("_id", id), false));
        }
      });
    }
    run([&](engine::Transaction& t) { note(store.database("test")->drop(t, "c")); });
    note(store.make_durable());
    return reported ? kReported : kHarmless;
  }

  // Flips the same bit at each of the offsets.
  void flip(const std::vector<uint64_t>& offsets, int bit) const {
    fs::remove_all(damaged());
    fs::copy(whole(), damaged(), fs::copy_options::recursive);
    std::fstream file(damaged() / "data.mdb", std::ios::in | std::ios::out | std::ios::binary);
    for (const uint64_t offset : offsets) {
      file.seekg(static_cast<std::streamoff>(offset));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(offset));
      file.put(static_cast<char>(byte ^ (1 << bit)));
    }
  }

  // Returns the outcome of a child that uses the damaged store: its exit status, or the negated
  // number of a signal.
  int outcome_of_use() const {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kChildSeconds);
      if (freopen("/dev/null", "w", stderr) == nullptr ||
          freopen("/dev/null", "w", stdout) == nullptr) {
        _exit(9);
      }
      _exit(use_all());
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  // Returns where the document is in the store's file: in the current page and in older versions of
  // it.
  std::vector<uint64_t> places_of(bson::View document) const {
    std::ifstream file(whole() / "data.mdb", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string_view wanted(reinterpret_cast<const char*>(document.data()), document.size());
    std::vector<uint64_t> places;
    for (size_t at = bytes.find(wanted); at != std::string::npos; at = bytes.find(wanted, at + 1)) {
      places.push_back(at);
    }
    return places;
  }

  // Flips `count` random bits, or one bit of every byte if `count` is 0.
  void flip_and_use(uint64_t count, uint64_t seed) {
    const uint64_t size = fs::file_size(whole() / "data.mdb");
    std::cout << "GRIDMOUNT_BIT_FLIP_SEED=" << seed << ", " << size << " bytes" << std::endl;
    std::mt19937_64 random(seed);
    std::map<int, int> outcomes;
    const uint64_t alone = number_from("GRIDMOUNT_BIT_FLIP_AT", UINT64_MAX);
    const bool every = count == 0;
    if (every) count = size;
    if (alone != UINT64_MAX) count = 1;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t at = every ? 8 * i + random() % 8 : random() % (8 * size);
      if (alone != UINT64_MAX) at = alone;
      flip({at / 8}, static_cast<int>(at % 8));
      const int outcome = outcome_of_use();
      ++outcomes[outcome];
      EXPECT_TRUE(outcome == kHarmless || outcome == kReported)
          << outcome << " for GRIDMOUNT_BIT_FLIP_AT=" << at;
    }
    for (const auto& [outcome, times] : outcomes)
      std::cout << outcome << ": " << times << std::endl;
    // With fewer flips, all may have the same outcome.
    constexpr uint64_t kTellsOfBoth = 100;
    if (count < kTellsOfBoth) return;
    // Otherwise this test verifies nothing.
    EXPECT_GT(outcomes[kReported], 0);
    EXPECT_GT(outcomes[kHarmless], 0);
  }

  fs::path folder_;
  int32_t documents_ = 0;
};

uint64_t seed() {
  return number_from("GRIDMOUNT_BIT_FLIP_SEED", std::random_device()());
}

uint64_t flips() {
  return number_from("GRIDMOUNT_BIT_FLIPS", kSanitized ? 100 : 1500);
}

TEST_F(BitFlips, InASmallStore_AreHarmlessOrReported) {
  make_store(60, 0);
  flip_and_use(flips(), seed());
}

TEST_F(BitFlips, InALargerStore_AreHarmlessOrReported) {
  constexpr uint64_t kAtNight = 10'000;
  make_store(300, 200);
  flip_and_use(flips() == 0 ? kAtNight : std::max<uint64_t>(flips() / 8, 1), seed());
}

// The flipped bytes are the document's length and the types, names and values of its fields. Each
// of them leads to the next.
TEST_F(BitFlips, InTheFieldsOfADocument_AreReported) {
  make_store(60, 0);
  const bson::Document document = document_of(3);
  const std::vector<uint64_t> places = places_of(document);
  ASSERT_FALSE(places.empty());
  const bson::View view = document.view();
  const auto fields_end = static_cast<size_t>(view["text"].data() + 8 - view.data());
  for (size_t byte = 0; byte < fields_end; ++byte) {
    for (int bit = kSanitized ? static_cast<int>(byte % 8) : 0; bit < 8;
         bit += kSanitized ? 8 : 1) {
      std::vector<uint64_t> offsets;
      for (const uint64_t place : places) offsets.push_back(place + byte);
      flip(offsets, bit);
      EXPECT_EQ(outcome_of_use(), kReported) << "bit " << bit << " of byte " << byte;
    }
  }
}

}  // namespace
}  // namespace gridmount::local
