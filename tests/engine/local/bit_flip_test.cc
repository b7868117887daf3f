// Bits of data.mdb that are not what they were, anywhere: each is harmless, or reported by whoever
// reads what it hit. Never a hang, never other contents without a word; and hardly ever the end of
// the process, where LMDB trusts its own pages.
//
// Method: the bytes of a small store's file are changed one at a time, each in a copy that a child
// process opens, reads in every way and checks. GRIDMOUNT_BIT_FLIPS sets how many (1500 at random,
// 100 in sanitized builds); 0 takes every byte of the file. GRIDMOUNT_BIT_FLIP_SEED replays.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/local/local_store.h"
#include "tests/sanitized.h"

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;

constexpr int kDocuments = 60;
constexpr unsigned kChildSeconds = 20;

// What a child found.
constexpr int kHarmless = 10;
constexpr int kReported = 11;
constexpr int kSilentDifference = 12;

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

bson::Document document_of(int32_t id) {
  bson::Builder builder;
  // Some in a leaf, some in pages of their own.
  builder.append("_id", id).append("a", id % 7);
  builder.append("text", std::string(id % 5 == 0 ? 9000 : 100, static_cast<char>('a' + id % 26)));
  return std::move(builder).finish();
}

bson::Document field_is(const char* name, int32_t value) {
  bson::Builder builder;
  builder.append(name, value);
  return std::move(builder).finish();
}

class BitFlips : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gridmount-flips.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    OpenOptions options;
    options.create = true;
    auto store = local::open(whole(), options);
    ASSERT_TRUE(store);
    auto transaction = (*store)->begin();
    ASSERT_TRUE(transaction);
    auto collection = (*store)->database("test")->collection("c");
    ASSERT_TRUE(collection->create_index(**transaction, {"by_a", field_is("a", 1), false}));
    for (int32_t id = 0; id < kDocuments; ++id) {
      ASSERT_TRUE(collection->insert(**transaction, document_of(id)));
    }
    ASSERT_TRUE((*transaction)->commit(engine::Durability::kDurable));
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path whole() const { return folder_ / "whole"; }
  fs::path damaged() const { return folder_ / "damaged"; }

  // In a child.
  int read_all() const {
    auto store = local::open(damaged(), {});
    if (!store) return kReported;
    bool reported = false;
    {
      const auto snapshot = (*store)->snapshot();
      if (!snapshot) return kReported;
      auto collection = (*store)->database("test")->collection("c");
      std::map<int32_t, int> seen;
      const auto note = [&](const bson::View document) {
        const auto id = document.find("_id");
        if (!id || id->type() != bson::Type::kInt32) return false;
        const bson::Document wanted = document_of(id->as_int32());
        if (document.size() != wanted.view().size() ||
            !std::equal(wanted.view().bytes().begin(), wanted.view().bytes().end(),
                        document.bytes().begin())) {
          return false;
        }
        ++seen[id->as_int32()];
        return true;
      };
      // In the order of insertion, by one index and by the other.
      const auto read = [&](const bson::Document& filter) {
        const auto cursor = collection->find(**snapshot, filter);
        if (!cursor) {
          reported = true;
          return true;
        }
        while (true) {
          const auto document = (*cursor)->next();
          if (!document) reported = true;
          if (!document || !*document) return true;
          if (!note(**document)) return false;
        }
      };
      if (!read(bson::Document())) return kSilentDifference;
      for (int32_t a = 0; a < 7; ++a) {
        if (!read(field_is("a", a))) return kSilentDifference;
      }
      for (int32_t id = 0; id < kDocuments; ++id) {
        const auto found = collection->find_one(**snapshot, field_is("_id", id));
        if (!found) reported = true;
        if (found && *found && !note(**found)) return kSilentDifference;
      }
      const auto report = check_structure(**store);
      if (!report || !report->problems.empty()) reported = true;
      if (reported) return kReported;
      // Nobody has said a word, so nothing may be missing.
      for (int32_t id = 0; id < kDocuments; ++id) {
        if (seen[id] != 3) return kSilentDifference;
      }
    }
    // And it takes more.
    auto transaction = (*store)->begin();
    if (!transaction) return kReported;
    auto collection = (*store)->database("test")->collection("c");
    if (!collection->insert(**transaction, document_of(kDocuments))) return kReported;
    return (*transaction)->commit() ? kHarmless : kReported;
  }

  void flip(uint64_t offset, int bit) {
    fs::remove_all(damaged());
    fs::copy(whole(), damaged(), fs::copy_options::recursive);
    std::fstream file(damaged() / "data.mdb", std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ (1 << bit)));
  }

  fs::path folder_;
};

TEST_F(BitFlips, EachIsHarmlessOrReported) {
  const uint64_t size = fs::file_size(whole() / "data.mdb");
  const uint64_t wanted = number_from("GRIDMOUNT_BIT_FLIPS", kSanitized ? 100 : 1500);
  const uint64_t seed = number_from("GRIDMOUNT_BIT_FLIP_SEED", std::random_device()());
  std::cout << "GRIDMOUNT_BIT_FLIP_SEED=" << seed << ", " << size << " bytes" << std::endl;
  std::mt19937_64 random(seed);
  std::map<int, int> outcomes;
  uint64_t crashes = 0;
  const uint64_t count = wanted == 0 ? size : wanted;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t offset = wanted == 0 ? i : random() % size;
    const int bit = static_cast<int>(random() % 8);
    flip(offset, bit);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(kChildSeconds);
      if (freopen("/dev/null", "w", stderr) == nullptr ||
          freopen("/dev/null", "w", stdout) == nullptr) {
        _exit(9);
      }
      _exit(read_all());
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    const int outcome = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    ++outcomes[outcome];
    EXPECT_NE(outcome, kSilentDifference) << "bit " << bit << " of byte " << offset;
    EXPECT_NE(outcome, -SIGALRM) << "bit " << bit << " of byte " << offset;
    if (outcome != kHarmless && outcome != kReported) ++crashes;
  }
  for (const auto& [outcome, times] : outcomes) std::cout << outcome << ": " << times << std::endl;
  // LMDB trusts the flags of its nodes and the numbers in its pages' headers: a few flips there end
  // the process, which changes nothing in the store.
  EXPECT_LE(crashes, 2 + count / 200);
  // Or this test looks at nothing.
  EXPECT_GT(outcomes[kReported], 0);
  EXPECT_GT(outcomes[kHarmless], 0);
}

}  // namespace
}  // namespace gridmount::local
