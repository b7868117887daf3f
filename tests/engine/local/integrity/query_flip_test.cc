// Goal: after a bit flip in a page of data.mdb's trees, each query gives the same answer as before,
// or an error. Nothing else is allowed, whatever other queries have reported.
//
// Method: two kinds of collections: many small ones that share trees, and one whose trees have
// several levels. One bit at a time is flipped in a copy of the store. A child process opens the
// copy read-only without any check and runs queries: by every index, for keys that exist and keys
// that do not, in ranges in both directions, counted, sorted and covered. Or it opens the copy for
// writing, inserts values that unique indexes have or do not have, and commits nothing.
// GRIDMOUNT_BIT_FLIPS sets the number of bits for each kind of page (600 at random, 60 in sanitized
// builds); 0 means all of them. The test also replaces an entry by another one of its page as many
// times. GRIDMOUNT_BIT_FLIP_SEED replays a run. GRIDMOUNT_BIT_FLIP_AT flips only this bit, counted
// from the beginning of the file.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/local/open_store.h"
#include "tests/engine/local/integrity/bit_flips.h"
#include "tests/sanitized.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;

constexpr int32_t kDocuments = 160;
// Together with their _id indexes, these are more ranges than there are trees.
constexpr int kSmallCollections = 70;

bson::Document json(const std::string& text) {
  return *bson::document_from_json(text);
}

std::string name_of(int32_t id) {
  // Long names, so that few fit in a page, and there are several levels of branches.
  std::string name = std::to_string(1000 + id * 7 % kDocuments * 3);
  return name + std::string(300, static_cast<char>('a' + id % 26));
}

bson::Document document_of(int32_t id) {
  bson::Builder builder;
  builder.append("_id", 2 * id).append("a", id % 7).append("name", name_of(id));
  builder.append("u", 3 * id);
  builder.append("text", std::string(id % 20 == 0 ? 9000 : 40, static_cast<char>('a' + id % 26)));
  return std::move(builder).finish();
}

struct Query {
  std::string what;
  // Returns an answer, or nothing for an error.
  std::function<std::optional<std::string>(engine::Store&, engine::Snapshot&)> ask;
};

// Reports the error when a single flip is examined.
std::nullopt_t told(const Error& error) {
  std::cerr << error.message() << std::endl;
  return std::nullopt;
}

std::optional<std::string> text_of(engine::Cursor& cursor) {
  std::string text;
  while (true) {
    const auto next = cursor.next();
    if (!next) return told(next.error());
    if (!*next) return text;
    text.append(reinterpret_cast<const char*>((*next)->data()), (*next)->size());
  }
}

Query found(const std::string& collection, const std::string& filter, const std::string& sort = "",
            const std::string& hint = "", const std::vector<std::string>& only = {}) {
  return {
      "find " + collection + " " + filter + " " + sort + " " + hint,
      [=](engine::Store& store, engine::Snapshot& snapshot) -> std::optional<std::string> {
        engine::FindOptions options;
        const bson::Document order = sort.empty() ? bson::Document() : json(sort);
        const bson::Document hinted = hint.empty() ? bson::Document() : json(hint);
        options.sort = order;
        if (!hint.empty()) options.hint = bson::Value(hinted.view());
        if (!only.empty()) options.only_paths = only;
        const auto cursor =
            store.database("test")->collection(collection)->find(snapshot, json(filter), options);
        if (!cursor) return told(cursor.error());
        return text_of(**cursor);
      }};
}

Query found_one(const std::string& collection, const std::string& filter) {
  return {"find_one " + collection + " " + filter,
          [=](engine::Store& store, engine::Snapshot& snapshot) -> std::optional<std::string> {
            const auto document =
                store.database("test")->collection(collection)->find_one(snapshot, json(filter));
            if (!document) return told(document.error());
            if (!*document) return "nothing";
            return std::string(reinterpret_cast<const char*>((*document)->data()),
                               (*document)->size());
          }};
}

Query counted(const std::string& collection, const std::string& filter) {
  return {"count " + collection + " " + filter,
          [=](engine::Store& store, engine::Snapshot& snapshot) -> std::optional<std::string> {
            const auto count =
                store.database("test")->collection(collection)->count(snapshot, json(filter));
            if (!count) return told(count.error());
            return std::to_string(*count);
          }};
}

std::string is(const char* field, const std::string& value) {
  return std::string("{\"") + field + "\": " + value + "}";
}

std::string string(const std::string& text) {
  return "\"" + text + "\"";
}

std::vector<Query> queries() {
  std::vector<Query> all;
  for (int32_t id = 0; id < kDocuments; id += 3) {
    all.push_back(found_one("c", is("_id", std::to_string(2 * id))));
    all.push_back(found_one("c", is("_id", std::to_string(2 * id + 1))));
    all.push_back(found_one("c", is("u", std::to_string(3 * id))));
    all.push_back(found_one("c", is("u", std::to_string(3 * id - 1))));
    all.push_back(found_one("c", is("name", string(name_of(id)))));
    all.push_back(found("c", is("name", string(name_of(id)))));
    all.push_back(found("c", is("name", string(name_of(id) + "?"))));
  }
  for (const size_t size : {40, 9000}) {
    for (const char letter : {'a', 'k', 'z'}) {
      const std::string search = is("$text", is("$search", string(std::string(size, letter))));
      all.push_back(found("c", search));
      all.push_back(found("c", search, R"({"score": {"$meta": "textScore"}, "_id": 1})"));
      all.push_back(counted("c", search));
      all.push_back(found("c", is("text", string(std::string(size, letter)))));
    }
  }
  for (int a = -1; a <= 7; ++a) {
    all.push_back(found("c", is("a", std::to_string(a))));
    all.push_back(counted("c", is("a", std::to_string(a))));
    all.push_back(found(
        "c",
        is("a", "{\"$gte\": " + std::to_string(a) + ", \"$lt\": " + std::to_string(a + 2) + "}"),
        R"({"a": -1})"));
  }
  for (const char* const low : {"0", "1100", "1250", "1400", "2"}) {
    const std::string above = is("name", std::string("{\"$gte\": \"") + low + "\"}");
    const std::string below = is("name", std::string("{\"$lt\": \"") + low + "\"}");
    all.push_back(found("c", above, R"({"name": 1})"));
    all.push_back(found("c", below, R"({"name": -1})"));
    all.push_back(found("c", above, R"({"name": -1})", "", {"name"}));
    all.push_back(found("c", below, R"({"name": 1})", "", {"name"}));
    all.push_back(counted("c", above));
    all.push_back(counted("c", below));
  }
  all.push_back(found("c", "{}"));
  all.push_back(found("c", "{}", R"({"name": 1})"));
  all.push_back(found("c", "{}", R"({"u": -1})"));
  all.push_back(found("c", "{}", R"({"_id": 1})"));
  all.push_back(found("c", "{}", "", R"({"$natural": -1})"));
  all.push_back(counted("c", "{}"));
  for (int i = 0; i < kSmallCollections; i += 3) {
    const std::string small = "small" + std::to_string(i);
    all.push_back(found(small, "{}"));
    all.push_back(found(small, "{}", "", R"({"$natural": -1})"));
    all.push_back(found(small, R"({"_id": {"$gte": 0}})", R"({"_id": 1})", "", {"_id"}));
    all.push_back(found_one(small, R"({"_id": 1})"));
    all.push_back(found_one(small, R"({"_id": 2})"));
    all.push_back(counted(small, "{}"));
  }
  all.push_back(found("none", "{}"));
  return all;
}

class QueryFlips : public testing::Test {
 protected:
  static constexpr uint16_t kBranch = 1;
  static constexpr uint16_t kLeaf = 2;
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kHeaderBytes = 16;
  static constexpr size_t kPlaceBytes = 2;
  static constexpr size_t kLowerOffset = 12;
  static constexpr size_t kNodeHeaderBytes = 8;
  static constexpr size_t kPrefixBytes = 4;  // of the keys of a range

  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gridmount-flips.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ASSERT_NO_FATAL_FAILURE(make_store());
    OpenOptions options;
    options.read_only = true;
    const auto store = local::open(whole(), options);
    ASSERT_TRUE(store);
    const auto snapshot = (*store)->snapshot();
    for (const Query& query : queries_) {
      const std::optional<std::string> answer = query.ask(**store, **snapshot);
      ASSERT_TRUE(answer) << query.what;
      answers_.push_back(*answer);
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  void make_store() {
    OpenOptions options;
    options.create = true;
    const auto store = local::open(whole(), options);
    ASSERT_TRUE(store);
    const auto transaction = (*store)->begin();
    ASSERT_TRUE(transaction);
    const auto database = (*store)->database("test");
    const auto small = [&](int i) {
      const auto collection = database->collection("small" + std::to_string(i));
      for (int id = 0; id < 3; ++id) {
        ASSERT_TRUE(collection->insert(**transaction, json(is("_id", std::to_string(id)))));
      }
    };
    for (int i = 0; i < kSmallCollections / 2; ++i) small(i);
    const auto collection = database->collection("c");
    ASSERT_TRUE(collection->create_index(**transaction, {"by_a", json(R"({"a": 1})"), false}));
    ASSERT_TRUE(
        collection->create_index(**transaction, {"by_name", json(R"({"name": 1})"), false}));
    ASSERT_TRUE(collection->create_index(**transaction, {"by_u", json(R"({"u": 1})"), true}));
    ASSERT_TRUE(collection->create_index(**transaction, {"by_text", json(R"({"text": "text"})")}));
    ASSERT_TRUE(collection->create_index(**transaction, {"all", json(R"({"text.$**": 1})")}));
    for (int32_t id = 0; id < kDocuments; ++id) {
      ASSERT_TRUE(collection->insert(**transaction, document_of(id)));
    }
    for (int i = kSmallCollections / 2; i < kSmallCollections; ++i) small(i);
    ASSERT_TRUE((*transaction)->commit());
  }

  fs::path whole() const { return folder_ / "whole"; }
  fs::path damaged() const { return folder_ / "damaged"; }

  // Runs in a child, like insert_all().
  int ask_all() const {
    OpenOptions options;
    options.read_only = true;
    const auto store = local::open(damaged(), options);
    if (!store) return kReported;
    int outcome = kHarmless;
    const auto snapshot = (*store)->snapshot();
    if (!snapshot) return kReported;
    for (size_t i = 0; i < queries_.size(); ++i) {
      auto fresh = (*store)->snapshot();
      if (!fresh) return kReported;
      const std::optional<std::string> answer = queries_[i].ask(**store, **fresh);
      if (answer && *answer != answers_[i]) {
        std::cerr << "silent: " << queries_[i].what << std::endl;
        return kSilentDifference;
      }
      if (!answer) outcome = kReported;
    }
    return outcome;
  }

  // Inserts documents whose _id or `u` exists already, and one with new values. Commits nothing.
  int insert_all() const {
    const auto store = local::open(damaged(), {});
    if (!store) return kReported;
    int outcome = kHarmless;
    const auto collection = (*store)->database("test")->collection("c");
    const auto insert = [&](int32_t id, int32_t u) -> Status {
      const auto transaction = (*store)->begin();
      if (!transaction) return fail(transaction.error());
      bson::Builder builder;
      builder.append("_id", id).append("u", u);
      GM_TRY(collection->insert(**transaction, std::move(builder).finish()));
      return {};
    };
    for (int32_t id = 0; id < kDocuments; ++id) {
      const Status by_id = insert(2 * id, -5);
      const Status by_u = insert(-5, 3 * id);
      if (by_id || by_u) {
        std::cerr << "silent: a duplicate of " << id << std::endl;
        return kSilentDifference;
      }
      for (const Status& status : {by_id, by_u}) {
        if (status.error().code() != ErrorCode::kDuplicateKey) outcome = kReported;
      }
    }
    const Status added = insert(-5, -5);
    if (added) return outcome;
    return added.error().code() == ErrorCode::kDuplicateKey ? kSilentDifference : kReported;
  }

  int run_in_child(const std::function<int()>& work, uint64_t at) const {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kChildSeconds);
      const bool alone = number_from("GRIDMOUNT_BIT_FLIP_AT", UINT64_MAX) == at;
      if (!alone && freopen("/dev/null", "w", stderr) == nullptr) _exit(9);
      _exit(work());
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::string whole_data() const {
    std::ifstream file(whole() / "data.mdb", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  struct PageBounds {
    uint64_t begin;  // offset in the file
    uint16_t lower;  // the lower end of its free space
    uint16_t upper;
  };

  // Returns the pages of trees that have these flags.
  static std::vector<PageBounds> pages(const std::string& data, uint16_t flags) {
    std::vector<PageBounds> pages;
    for (uint64_t page = 2; (page + 1) * kPageBytes <= data.size(); ++page) {
      const char* const header = data.data() + page * kPageBytes;
      uint64_t number;
      uint16_t fields[3];
      std::memcpy(&number, header, sizeof number);
      std::memcpy(fields, header + 10, sizeof fields);
      if (number != page || fields[0] != flags) continue;
      pages.push_back({page * kPageBytes, fields[1], fields[2]});
    }
    return pages;
  }

  // Returns the positions of all bytes that have a meaning in the pages with these flags.
  std::vector<uint64_t> bytes_of_pages(uint16_t flags) const {
    std::vector<uint64_t> bytes;
    for (const PageBounds& page : pages(whole_data(), flags)) {
      for (uint64_t i = 0; i < kPageBytes; ++i) {
        if (i < page.lower || i >= page.upper) bytes.push_back(page.begin + i);
      }
    }
    return bytes;
  }

  void flip(uint64_t bit) const {
    std::fstream file(damaged() / "data.mdb", std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(bit / 8));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(bit / 8));
    file.put(static_cast<char>(byte ^ (1 << bit % 8)));
  }

  void put(uint64_t at, std::string_view bytes) const {
    std::fstream file(damaged() / "data.mdb", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  // One entry in a page's list gets the offset of another entry of the page. This is far more than
  // a flipped bit, but a flipped bit may have the same effect.
  struct Repeated {
    uint64_t at;     // offset in the file of the entry in the page's list
    uint64_t other;  // offset in the file of the other entry in the list
  };

  static std::vector<Repeated> all_repeated(const std::string& data, uint16_t flags) {
    std::vector<Repeated> all;
    for (const PageBounds& page : pages(data, flags)) {
      const uint64_t end = page.begin + page.lower;
      for (uint64_t at = page.begin + kHeaderBytes; at < end; at += kPlaceBytes) {
        for (uint64_t other = page.begin + kHeaderBytes; other < end; other += kPlaceBytes) {
          if (other != at) all.push_back({at, other});
        }
      }
    }
    return all;
  }

  void repeat_and_ask(uint16_t flags) {
    const std::string data = whole_data();
    const auto place = [&](uint64_t at) { return std::string_view(data).substr(at, kPlaceBytes); };
    std::vector<Repeated> all = all_repeated(data, flags);
    const uint64_t seed = number_from("GRIDMOUNT_BIT_FLIP_SEED", std::random_device()());
    const uint64_t most = number_from("GRIDMOUNT_BIT_FLIPS", kSanitized ? 60 : 600);
    std::cout << "GRIDMOUNT_BIT_FLIP_SEED=" << seed << ", " << all.size() << " pairs" << std::endl;
    std::mt19937_64 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    if (most != 0 && all.size() > most) all.resize(most);
    fs::copy(whole(), damaged(), fs::copy_options::recursive);
    std::map<int, int> outcomes;
    for (size_t i = 0; i < all.size(); ++i) {
      const auto [at, other] = all[i];
      put(at, place(other));
      const int asked = run_in_child([this] { return ask_all(); }, 8 * at);
      ++outcomes[asked];
      EXPECT_TRUE(asked == kHarmless || asked == kReported)
          << asked << " of queries with the entry at " << other << " in place of that at " << at;
      if (i % 4 == 0) {
        const int inserted = run_in_child([this] { return insert_all(); }, 8 * at);
        ++outcomes[inserted];
        EXPECT_TRUE(inserted == kHarmless || inserted == kReported)
            << inserted << " of inserts with the entry at " << other << " in place of that at "
            << at;
        fs::remove_all(damaged());
        fs::copy(whole(), damaged(), fs::copy_options::recursive);
      } else {
        put(at, place(at));
      }
    }
    // Otherwise this test verifies nothing.
    EXPECT_GT(outcomes[kReported], 0);
  }

  // Makes each change alone. Sanitized builds make only some of them. At least a quarter must be
  // reported.
  void change_and_ask(std::vector<std::pair<uint64_t, std::string>> changes) {
    constexpr size_t kSanitizedMax = 60;
    if (kSanitized && changes.size() > kSanitizedMax) {
      const uint64_t seed = number_from("GRIDMOUNT_BIT_FLIP_SEED", std::random_device()());
      std::cout << "GRIDMOUNT_BIT_FLIP_SEED=" << seed << std::endl;
      std::mt19937_64 random(seed);
      std::shuffle(changes.begin(), changes.end(), random);
      changes.resize(kSanitizedMax);
    }
    const auto reported_min = static_cast<int>(changes.size() / 4);
    const std::string data = whole_data();
    fs::copy(whole(), damaged(), fs::copy_options::recursive);
    std::map<int, int> outcomes;
    for (const auto& [at, bytes] : changes) {
      put(at, bytes);
      const int asked = run_in_child([this] { return ask_all(); }, 8 * at);
      ++outcomes[asked];
      EXPECT_TRUE(asked == kHarmless || asked == kReported)
          << asked << " of queries with another byte at " << at;
      put(at, std::string_view(data).substr(at, bytes.size()));
    }
    // Otherwise this test verifies nothing.
    EXPECT_GE(outcomes[kReported], reported_min);
  }

  void flip_and_ask(uint16_t flags) {
    const std::vector<uint64_t> bytes = bytes_of_pages(flags);
    ASSERT_FALSE(bytes.empty());
    const uint64_t seed = number_from("GRIDMOUNT_BIT_FLIP_SEED", std::random_device()());
    std::cout << "GRIDMOUNT_BIT_FLIP_SEED=" << seed << ", " << bytes.size() << " bytes"
              << std::endl;
    std::mt19937_64 random(seed);
    const uint64_t alone = number_from("GRIDMOUNT_BIT_FLIP_AT", UINT64_MAX);
    uint64_t flips = number_from("GRIDMOUNT_BIT_FLIPS", kSanitized ? 60 : 600);
    const bool every = flips == 0;
    if (every) flips = bytes.size() * 8;
    if (alone != UINT64_MAX) flips = 1;
    fs::copy(whole(), damaged(), fs::copy_options::recursive);
    std::map<int, int> outcomes;
    for (uint64_t i = 0; i < flips; ++i) {
      uint64_t at =
          every ? 8 * bytes[i / 8] + i % 8 : 8 * bytes[random() % bytes.size()] + random() % 8;
      if (alone != UINT64_MAX) at = alone;
      flip(at);
      const int asked = run_in_child([this] { return ask_all(); }, at);
      ++outcomes[asked];
      EXPECT_TRUE(asked == kHarmless || asked == kReported)
          << asked << " of queries for GRIDMOUNT_BIT_FLIP_AT=" << at;
      if (i % 4 == 0) {
        const int inserted = run_in_child([this] { return insert_all(); }, at);
        ++outcomes[inserted];
        EXPECT_TRUE(inserted == kHarmless || inserted == kReported)
            << inserted << " of inserts for GRIDMOUNT_BIT_FLIP_AT=" << at;
        fs::remove_all(damaged());
        fs::copy(whole(), damaged(), fs::copy_options::recursive);
      } else {
        flip(at);
      }
    }
    for (const auto& [outcome, times] : outcomes) {
      std::cout << outcome << ": " << times << std::endl;
    }
    // Otherwise this test verifies nothing.
    if (alone == UINT64_MAX) {
      EXPECT_GT(outcomes[kReported], 0);
    }
  }

  fs::path folder_;
  const std::vector<Query> queries_ = queries();
  std::vector<std::string> answers_;
};

TEST_F(QueryFlips, InLeaves_ChangeNoAnswer) {
  flip_and_ask(kLeaf);
}

TEST_F(QueryFlips, InBranches_ChangeNoAnswer) {
  flip_and_ask(kBranch);
}

// The last entry of a leaf is missing from the leaf's list. A backward query would read this entry
// first.
TEST_F(QueryFlips, LeavesWithoutTheirLastEntry_ChangeNoAnswer) {
  std::vector<std::pair<uint64_t, std::string>> changes;
  for (const PageBounds& page : pages(whole_data(), kLeaf)) {
    if (page.lower < kHeaderBytes + 2 * kPlaceBytes) continue;
    const auto lower = static_cast<uint16_t>(page.lower - kPlaceBytes);
    changes.emplace_back(page.begin + kLowerOffset,
                         std::string(reinterpret_cast<const char*>(&lower), sizeof lower));
  }
  change_and_ask(std::move(changes));
}

// One flipped bit moves the key of an entry to another range of the same page.
TEST_F(QueryFlips, EntriesOfOtherRanges_ChangeNoAnswer) {
  const std::string data = whole_data();
  std::vector<std::pair<uint64_t, std::string>> changes;
  for (const PageBounds& page : pages(data, kLeaf)) {
    std::vector<uint64_t> keys;  // the offset of each key
    std::set<std::string> prefixes;
    for (uint64_t at = page.begin + kHeaderBytes; at < page.begin + page.lower; at += kPlaceBytes) {
      uint16_t offset;
      std::memcpy(&offset, data.data() + at, sizeof offset);
      keys.push_back(page.begin + offset + kNodeHeaderBytes);
      prefixes.insert(data.substr(keys.back(), kPrefixBytes));
    }
    for (const uint64_t key : keys) {
      for (size_t bit = 0; bit < 8 * kPrefixBytes; ++bit) {
        std::string prefix = data.substr(key, kPrefixBytes);
        prefix[bit / 8] = static_cast<char>(prefix[bit / 8] ^ (1 << bit % 8));
        if (prefixes.contains(prefix)) changes.emplace_back(key, prefix);
      }
    }
  }
  change_and_ask(std::move(changes));
}

TEST_F(QueryFlips, EntriesOfBranchesTwice_ChangeNoAnswer) {
  repeat_and_ask(kBranch);
}

TEST_F(QueryFlips, EntriesOfLeavesTwice_ChangeNoAnswer) {
  repeat_and_ask(kLeaf);
}

}  // namespace
}  // namespace gridmount::local
