// Goal: the cache of directories' documents never shows a state that has been replaced.
// Method: direct calls in the orders that concurrent transactions can cause; and a namespace in
// which atimes are written in the background.
#include "gridfs/namespace/seen_directories.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <tuple>

#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/gridfs/namespace_counting_store.h"

namespace gridmount::gridfs {
namespace {

DirectoryDocument with_mode(uint32_t mode) {
  DirectoryDocument document;
  document.id = bson::Value(bson::ObjectId::generate());
  document.posix.mode = mode;
  return document;
}

class SeenDirectoriesTest : public testing::Test {
 protected:
  std::optional<uint32_t> mode_of(std::string_view path) {
    const auto found = seen_.find(path);
    return found ? found->posix.mode : std::nullopt;
  }

  const std::shared_ptr<ChangesByOthers> others_ = std::make_shared<ChangesByOthers>();
  SeenDirectories seen_{std::shared_ptr<const ChangesByOthers>(others_)};
};

TEST_F(SeenDirectoriesTest, NothingIsKeptBetweenChangeAndCommit) {
  seen_.note("d", with_mode(1), *seen_.changing("d"));
  EXPECT_EQ(mode_of("d"), 1);
  const uint64_t change = *seen_.changing("d");
  EXPECT_EQ(mode_of("d"), std::nullopt);
  seen_.note("d", with_mode(2), change);
  EXPECT_EQ(mode_of("d"), 2);
}

TEST_F(SeenDirectoriesTest, ALateNoteDoesNotReplaceALaterChange) {
  const uint64_t first = *seen_.changing("d");
  const uint64_t second = *seen_.changing("d");
  seen_.note("d", with_mode(2), second);
  seen_.note("d", with_mode(1), first);
  EXPECT_EQ(mode_of("d"), 2);
}

TEST_F(SeenDirectoriesTest, ALateNoteIsIgnoredAfterForgetting) {
  const uint64_t change = *seen_.changing("d");
  { const SeenDirectories::Forgetting forgetting(seen_); }
  seen_.note("d", with_mode(1), change);
  EXPECT_EQ(mode_of("d"), std::nullopt);
}

TEST_F(SeenDirectoriesTest, ChangesByOthersEmptyIt) {
  seen_.note("d", with_mode(1), *seen_.changing("d"));
  others_->making_name();
  EXPECT_EQ(mode_of("d"), 1);
  others_->changing_directory();
  EXPECT_EQ(mode_of("d"), std::nullopt);
  const uint64_t change = *seen_.changing("d");
  others_->changing_directory();
  seen_.note("d", with_mode(1), change);
  EXPECT_EQ(mode_of("d"), std::nullopt);
}

TEST_F(SeenDirectoriesTest, DocumentsWithExtendedAttributesAreNotKept) {
  DirectoryDocument document = with_mode(1);
  document.posix.xattrs.emplace();
  must(set_xattr(*document.posix.xattrs, "user.x", "y", XattrMode::kAny));
  seen_.note("d", document, *seen_.changing("d"));
  EXPECT_EQ(mode_of("d"), std::nullopt);
}

TEST_F(SeenDirectoriesTest, WithoutCountsOfOthersNothingIsKept) {
  SeenDirectories unused{std::shared_ptr<const ChangesByOthers>()};
  EXPECT_EQ(unused.changing("d"), std::nullopt);
}

class SeenDirectoriesOfNamespaceTest : public BucketFixture {
 protected:
  SeenDirectoriesOfNamespaceTest() {
    database_ = std::make_shared<CountingDatabase>(store().database("test"));
    NamespaceOptions options;
    options.access_times = AccessTimeMode::kAll;
    options.strict_access_times = true;
    options.changes_by_others = others_;
    namespace_ = must(PathNamespace::open(store(), database_, bucket().options(), options, {}));
    must(namespace_->mkdir("", "d", 0755, {}));
  }

  const std::shared_ptr<ChangesByOthers> others_ = std::make_shared<ChangesByOthers>();
  std::shared_ptr<CountingDatabase> database_;
  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(SeenDirectoriesOfNamespaceTest, ADirectoryJustChangedIsNotSearchedFor) {
  must(namespace_->create_file("d", "x", 0644, {}));
  database_->take();
  const Node directory = must(namespace_->get_directory("d"));
  EXPECT_EQ(database_->take().searches, 0);
  must(namespace_->create_file("d", "y", 0644, {}));
  EXPECT_EQ(database_->take().searches, 0);
  EXPECT_EQ(must(namespace_->get_directory("d")).id, directory.id);
  must(namespace_->close());
}

TEST_F(SeenDirectoriesOfNamespaceTest, AnAtimeWrittenInTheBackgroundIsShown) {
  must(namespace_->create_file("d", "x", 0644, {}));
  const timespec before = must(namespace_->get_directory("d")).attributes.atime;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(namespace_->record_read("d"));
  must(namespace_->close());  // writes the atimes
  const timespec after = must(namespace_->get_directory("d")).attributes.atime;
  EXPECT_NE(std::tie(before.tv_sec, before.tv_nsec), std::tie(after.tv_sec, after.tv_nsec));
}

// As a TTL index of a driver does it.
TEST_F(SeenDirectoriesOfNamespaceTest, ADocumentThatTheStoreRemoves_IsMadeAgainByTheNextChange) {
  must(namespace_->create_file("d", "x", 0644, {}));
  const Node before = must(namespace_->get_directory("d"));
  change([&](engine::Transaction& transaction) {
    bson::Builder by_id;
    by_id.append("_id", before.id);
    must(bucket().directories().remove(transaction, std::move(by_id).finish(), false));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the times of "d" change again
  must(namespace_->create_file("d", "y", 0644, {}));
  const Node after = must(namespace_->get_directory("d"));
  EXPECT_NE(after.id, before.id);
  must(namespace_->close());
}

TEST_F(SeenDirectoriesOfNamespaceTest, ARemovedDirectoryIsGone) {
  must(namespace_->create_file("d", "x", 0644, {}));
  must(namespace_->unlink("d", "x"));
  must(namespace_->rmdir("", "d"));
  EXPECT_EQ(code_of(namespace_->get_directory("d")), kNoSuchEntry);
  EXPECT_EQ(code_of(namespace_->create_file("d", "x", 0644, {})), kNoSuchEntry);
  must(namespace_->close());
}

}  // namespace
}  // namespace gridmount::gridfs
