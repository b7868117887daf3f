// Goal: a repair makes an index in commits of bounded size, however large the collection is.
// Wherever the repair is interrupted, the index exists completely or not at all, and the remains of
// an incomplete index are removed.
//
// Method: the size of a commit is the number of bytes that it writes to data.mdb, up to its meta
// page. Crash images (crash_trials.h) are taken while the index is made. Each image is opened and
// checked in full, and the index is made in it (again).
#include "engine/local/index_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/local/local_store.h"
#include "engine/local/open_store.h"
#include "tests/engine/local/crash/crash_folder.h"
#include "tests/engine/local/crash/crash_run.h"
#include "tests/engine/local/crash/crash_store.h"
#include "tests/engine/local/crash/crash_trials.h"
#include "tests/engine/local/crash/write_recorder.h"
#include "tests/sanitized.h"

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

const engine::Namespace kChunks{"media", "fs.chunks"};
constexpr uint64_t kMetaPagesEnd = 2 * 4096;
// The bound allows for a thousand entries on one leaf each, the branches above them, and the list
// of free pages.
constexpr uint64_t kCommitBytesMax = uint64_t{8} << 20;

bson::Document some_document(std::mt19937_64& random, int64_t id) {
  bson::Builder builder;
  builder.append("_id", id).append("key", std::to_string(random()) + std::string(80, 'k'));
  return std::move(builder).finish();
}

engine::IndexDefinition index_on_key(bool unique = false) {
  bson::Builder keys;
  keys.append("key", int32_t{1});
  return {"key_1", std::move(keys).finish(), unique};
}

class IndexStepsTest : public ::testing::Test {
 protected:
  void SetUp() override { folder_ = make_crash_folder(); }
  void TearDown() override {
    WriteRecorder::instance().stop();
    store_.reset();
    fs::remove_all(folder_);
  }

  void open(bool create, const std::string& boot_id = "first boot") {
    TestOptions test;
    test.boot_id = boot_id;
    auto store = open_crash_store(folder_ / kCrashStore, create, test);
    ASSERT_TRUE(store.has_value()) << store.error().message();
    store_ = std::move(store).value();
  }
  void insert(int64_t count) {
    std::mt19937_64 random(1);
    for (int64_t next = 0; next < count;) {
      auto transaction = store_->begin();
      ASSERT_TRUE(transaction.has_value());
      for (int i = 0; i < 5000 && next < count; ++i, ++next) {
        ASSERT_TRUE(collection(*store_)->insert(**transaction, some_document(random, next)));
      }
      ASSERT_TRUE((*transaction)->commit());
    }
  }
  static std::unique_ptr<engine::Collection> collection(engine::Store& store) {
    return store.database(kChunks.database)->collection(kChunks.collection);
  }
  static bool has_index(engine::Store& store) {
    const auto snapshot = store.snapshot();
    const auto indexes = collection(store)->indexes(**snapshot);
    return indexes && std::any_of(indexes->begin(), indexes->end(),
                                  [](const auto& index) { return index.name == "key_1"; });
  }
  // Returns the largest of the commits of `work`.
  template <typename Work>
  uint64_t largest_commit(const Work& work) {
    WriteRecorder& recorder = WriteRecorder::instance();
    recorder.start(folder_);
    work();
    recorder.stop();
    const size_t data = recorder.initial_entries().at(std::string(kCrashStore) + "/data.mdb");
    uint64_t largest = 0;
    uint64_t bytes = 0;
    for (const Event& event : recorder.events()) {
      if (event.kind != EventKind::kWrite || event.file != data) continue;
      bytes += event.bytes.size();
      if (event.number >= kMetaPagesEnd) continue;
      largest = std::max(largest, bytes);
      bytes = 0;
    }
    return largest;
  }
  // Returns the number of released keyspaces that the drop cleanup has left after at most five
  // seconds.
  size_t unswept() {
    size_t count = 0;
    for (int i = 0; i < 500; ++i) {
      auto& local = dynamic_cast<LocalStore&>(*store_);
      const auto snapshot = local.local_snapshot();
      count = (*snapshot)->read_view()->catalog().released_keyspaces()->size();
      if (count == 0) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return count;
  }

  fs::path folder_;
  std::unique_ptr<engine::Store> store_;
};

TEST_F(IndexStepsTest, LargeCollection_NoCommitIsLarge) {
  if (kSanitized) GTEST_SKIP() << "measures commits, which sanitizers do not change";
  open(true);
  insert(150'000);
  const uint64_t at_once = largest_commit([&] {
    const auto transaction = store_->begin();
    ASSERT_TRUE(collection(*store_)->create_index(**transaction, index_on_key()));
    ASSERT_TRUE((*transaction)->commit());
  });
  EXPECT_GT(at_once, 2 * kCommitBytesMax) << "nothing is shown with so few documents";
  {
    const auto transaction = store_->begin();
    ASSERT_TRUE(collection(*store_)->drop_index(**transaction, "key_1"));
    ASSERT_TRUE((*transaction)->commit());
  }
  const uint64_t in_steps = largest_commit([&] {
    const Status made = make_index_in_steps(*store_, kChunks, index_on_key());
    ASSERT_TRUE(made) << made.error().message();
  });
  EXPECT_LT(in_steps, kCommitBytesMax);
  std::cout << "at once " << at_once << " bytes, in steps at most " << in_steps << std::endl;
  EXPECT_TRUE(has_index(*store_));
  EXPECT_EQ(structure_problems(*store_).value(), std::vector<std::string>());
  EXPECT_EQ(unswept(), 0U);
}

TEST_F(IndexStepsTest, Duplicates_AreRefusedAndLeaveNothing) {
  open(true);
  insert(5000);
  std::mt19937_64 random(1);
  {
    const auto transaction = store_->begin();
    ASSERT_TRUE(collection(*store_)->insert(**transaction, some_document(random, 5000)));
    ASSERT_TRUE((*transaction)->commit());
  }
  const Status made = make_index_in_steps(*store_, kChunks, index_on_key(true));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), ErrorCode::kDuplicateKey);
  EXPECT_FALSE(has_index(*store_));
  EXPECT_EQ(unswept(), 0U);
  EXPECT_EQ(structure_problems(*store_).value(), std::vector<std::string>());
  EXPECT_TRUE(make_index_in_steps(*store_, kChunks, index_on_key(false)));
  EXPECT_TRUE(has_index(*store_));
}

TEST_F(IndexStepsTest, IndexThatIsThere_StaysAsItIs) {
  open(true);
  insert(10);
  ASSERT_TRUE(make_index_in_steps(*store_, kChunks, index_on_key()));
  EXPECT_TRUE(make_index_in_steps(*store_, kChunks, index_on_key()));
  const Status other = make_index_in_steps(*store_, kChunks, index_on_key(true));
  EXPECT_FALSE(other);
}

TEST_F(IndexStepsTest, CollectionThatIsNotThere_IsMade) {
  open(true);
  ASSERT_TRUE(make_index_in_steps(*store_, kChunks, index_on_key()));
  EXPECT_TRUE(has_index(*store_));
}

TEST_F(IndexStepsTest, ViewsAndTheNameOfTheIdIndex_AreRefusedAsByCreateIndex) {
  open(true);
  insert(10);
  engine::IndexDefinition definition = index_on_key();
  definition.name = "_id_";
  const Status reserved = make_index_in_steps(*store_, kChunks, definition);
  ASSERT_FALSE(reserved);
  EXPECT_EQ(reserved.error().code(), ErrorCode::kBadValue);
  {
    const auto transaction = store_->begin();
    const bson::Document view = bson::document_from_json(R"({"viewOn": "fs.chunks"})").value();
    ASSERT_TRUE(store_->database(kChunks.database)->create(**transaction, "view", view));
    ASSERT_TRUE((*transaction)->commit());
  }
  const engine::Namespace view{kChunks.database, "view"};
  const Status refused = make_index_in_steps(*store_, view, index_on_key());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kCommandNotSupportedOnView);
  EXPECT_EQ(unswept(), 0U);
}

// Returns what is wrong with an image, or an empty string. The image may or may not have the index.
std::string problem_of(const fs::path& folder) {
  auto store = open_crash_store(folder / kCrashStore, false, {});
  if (!store) return "opening: " + store.error().message();
  const auto check = [&](const std::string& when) -> std::string {
    const auto problems = structure_problems(**store);
    if (!problems) return when + ": " + problems.error().message();
    return problems->empty() ? "" : when + ": " + problems->front();
  };
  std::string problem = check("at first");
  if (!problem.empty()) return problem;
  if (const Status made = make_index_in_steps(**store, kChunks, index_on_key()); !made) {
    return "making it: " + made.error().message();
  }
  return check("afterwards");
}

TEST_F(IndexStepsTest, InterruptedAnywhere_TheStoreIsSoundAndTheIndexCanBeMade) {
  open(true);
  insert(8000);
  store_.reset();
  open(false);
  WriteRecorder& recorder = WriteRecorder::instance();
  recorder.start(folder_);
  ASSERT_TRUE(make_index_in_steps(*store_, kChunks, index_on_key()));
  ASSERT_TRUE(store_->make_durable());
  store_.reset();
  recorder.stop();
  CrashRunResult result;
  try_crash_images(
      folder_, {.count = crash_image_count(0.01), .seed = crash_seed()},
      [](const CrashTrial& trial) { return problem_of(trial.folder); }, result);
  EXPECT_EQ(result.broken, 0) << result.first;
}

}  // namespace
}  // namespace gridmount::local::testing
