// Goal: the drop cleanup removes the entries of dropped collections in the background, even if the
// store is closed in between, and even if several keyspaces share a tree.

#include "engine/local/catalog/drop_cleanup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "engine/bson/builder.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/local_store.h"
#include "engine/local/open_store.h"

namespace gridmount::local {
namespace {

class DropCleanupTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gridmount-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    open();
  }
  void TearDown() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  void open() {
    OpenOptions options;
    options.create = true;
    Result<std::unique_ptr<engine::Store>> opened = local::open(folder_ / "store", options);
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    store_ = std::move(opened).value();
  }

  void fill(const std::string& name, int documents, size_t bytes) {
    const auto transaction = store_->begin();
    ASSERT_TRUE(transaction.has_value());
    const auto collection = store_->database("test")->collection(name);
    for (int id = 0; id < documents; ++id) {
      bson::Builder builder;
      builder.append("_id", int32_t{id}).append("data", std::string(bytes, 'x'));
      ASSERT_TRUE(collection->insert(**transaction, std::move(builder).finish()));
    }
    ASSERT_TRUE((*transaction)->commit());
  }

  void drop(const std::string& name) {
    const auto transaction = store_->begin();
    ASSERT_TRUE(store_->database("test")->drop(**transaction, name));
    ASSERT_TRUE((*transaction)->commit());
  }

  size_t released() {
    const auto snapshot = static_cast<LocalStore&>(*store_).local_snapshot();
    return (*snapshot)->read_view()->catalog().released_keyspaces()->size();
  }

  void wait_until_swept() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (released() != 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(released(), 0u);
  }

  void expect_sound() {
    const auto report = check_structure(*store_);
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->problems.empty()) << report->problems.front();
  }

  std::filesystem::path folder_;
  std::unique_ptr<engine::Store> store_;
};

TEST_F(DropCleanupTest, DroppedCollection_GivesItsSpaceBack) {
  fill("small", 10, 100);
  const int64_t before = store_->stats()->used_bytes;
  fill("large", 200, 100000);
  EXPECT_GT(store_->stats()->used_bytes, before + 20000000);
  drop("large");
  wait_until_swept();
  expect_sound();
  // Free pages are counted again only from time to time.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (store_->stats()->used_bytes > before + 1000000 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_LT(store_->stats()->used_bytes, before + 1000000);
}

TEST_F(DropCleanupTest, KeyspacesInOneTree_AreSweptOneByOne) {
  // Each collection has two keyspaces, so there are enough keyspaces that every tree is shared.
  for (int i = 0; i < 150; ++i) fill("c" + std::to_string(i), 3, 10);
  for (int i = 0; i < 150; i += 2) drop("c" + std::to_string(i));
  wait_until_swept();
  expect_sound();
  const auto snapshot = store_->snapshot();
  for (int i = 1; i < 150; i += 2) {
    const auto collection = store_->database("test")->collection("c" + std::to_string(i));
    const auto cursor = collection->find(**snapshot, bson::View());
    int found = 0;
    while ((*cursor)->next()->has_value()) ++found;
    ASSERT_EQ(found, 3);
  }
}

TEST_F(DropCleanupTest, SharedTree_ManyEntries_AreSweptInSlices) {
  for (int i = 0; i < 130; ++i) fill("c" + std::to_string(i), 1, 10);
  fill("large", 20000, 10);  // in trees that others share
  drop("large");
  // Writers can work during the cleanup.
  fill("between", 10, 10);
  wait_until_swept();
  expect_sound();
}

TEST_F(DropCleanupTest, InterruptedSweep_GoesOnAfterOpening) {
  for (int i = 0; i < 130; ++i) fill("c" + std::to_string(i), 1, 10);
  fill("large", 30000, 10);
  drop("large");
  store_.reset();
  open();
  wait_until_swept();
  expect_sound();
}

TEST_F(DropCleanupTest, KeyspacesGoToTheLeastSharedTree) {
  for (int i = 0; i < 64; ++i) fill("c" + std::to_string(i), 1, 10);
  const auto snapshot = static_cast<LocalStore&>(*store_).local_snapshot();
  for (uint32_t tree = 0; tree < Environment::kTreeCount; ++tree) {
    EXPECT_EQ((*snapshot)->read_view()->catalog().keyspaces_in_tree(tree).value(), 1u);
  }
}

}  // namespace
}  // namespace gridmount::local
