// Goal: the table of the names that the kernel knows of files follows look-ups, renames and
// forgets. The inode table finds by a document's _id everything that the kernel may have cached of
// the document.
#include "fuse/tree/file_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuse/tree/inode_table.h"

namespace gridmount::fuse {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(FileNamesTest, SetNames_AreFoundByTheFile) {
  FileNames names;
  names.set(1, "a", 7);
  names.set(1, "a", 7);
  names.set(2, "a", 7);
  names.set(1, "b", 8);
  EXPECT_THAT(names.of(7), UnorderedElementsAre(ShownName{1, "a"}, ShownName{2, "a"}));
  EXPECT_EQ(names.size(), 3U);
}

TEST(FileNamesTest, NameOfAnotherFile_ChangesHands) {
  FileNames names;
  names.set(1, "a", 7);
  names.set(1, "a", 8);
  EXPECT_THAT(names.of(7), IsEmpty());
  EXPECT_THAT(names.of(8), ElementsAre(ShownName{1, "a"}));
}

TEST(FileNamesTest, Moved_ReplacesWhatWasThere) {
  FileNames names;
  names.set(1, "a", 7);
  names.set(2, "b", 8);
  names.move({1, "a"}, {2, "b"});
  EXPECT_THAT(names.of(7), ElementsAre(ShownName{2, "b"}));
  EXPECT_THAT(names.of(8), IsEmpty());
  // A directory has taken the name.
  names.move({1, "unknown"}, {2, "b"});
  EXPECT_THAT(names.of(7), IsEmpty());
  EXPECT_EQ(names.size(), 0U);
}

TEST(FileNamesTest, MovedToItself_Stays) {
  FileNames names;
  names.set(1, "a", 7);
  names.move({1, "a"}, {1, "a"});
  names.exchange({1, "a"}, {1, "a"});
  EXPECT_THAT(names.of(7), ElementsAre(ShownName{1, "a"}));
}

TEST(FileNamesTest, Exchanged_SwapFilesAndDirectories) {
  FileNames names;
  names.set(1, "a", 7);
  names.set(2, "b", 8);
  names.exchange({1, "a"}, {2, "b"});
  EXPECT_THAT(names.of(7), ElementsAre(ShownName{2, "b"}));
  EXPECT_THAT(names.of(8), ElementsAre(ShownName{1, "a"}));
  names.exchange({1, "a"}, {3, "directory"});
  EXPECT_THAT(names.of(8), ElementsAre(ShownName{3, "directory"}));
}

TEST(FileNamesTest, ForgottenFile_LeavesNothing) {
  FileNames names;
  names.set(1, "a", 7);
  names.set(1, "b", 7);
  names.set(1, "c", 8);
  names.forget(7);
  names.forget(9);
  EXPECT_THAT(names.of(7), IsEmpty());
  EXPECT_EQ(names.size(), 1U);
}

class NamesInTheTable : public testing::Test {
 protected:
  // Returns a pointer that is only compared, never dereferenced.
  static std::shared_ptr<MountedBucket> bucket() {
    static char place;
    return {std::make_shared<int>(0), reinterpret_cast<MountedBucket*>(&place)};
  }
  static bson::Value id(int32_t number) { return bson::Value(number); }

  std::shared_ptr<MountedBucket> fs_ = bucket();
  InodeTable table_{fs_};
};

TEST_F(NamesInTheTable, File_IsKnownByItsNamesUntilItIsForgotten) {
  const uint64_t ino = table_.acquire_file(fs_, id(5), 50);
  table_.note_file_name(ino, kRootNode, "a");
  table_.note_file_renamed({kRootNode, "a"}, {kRootNode, "b"}, false);
  EXPECT_THAT(table_.names_of_file(fs_.get(), id(5)), ElementsAre(ShownName{kRootNode, "b"}));
  EXPECT_THAT(table_.names_of_file(fs_.get(), id(6)), IsEmpty());
  table_.forget(ino, 1);
  table_.note_file_name(ino, kRootNode, "late");
  EXPECT_EQ(table_.acquire_file(fs_, id(5), 50), ino);
  EXPECT_THAT(table_.names_of_file(fs_.get(), id(5)), IsEmpty());
}

TEST_F(NamesInTheTable, Directory_IsKnownByItsDocument) {
  const uint64_t a = table_.acquire_directory(kRootNode, "a", "a", 10, id(1));
  table_.acquire_directory(a, "b", "a/b", 11, id(2));
  EXPECT_THAT(table_.names_of_directory(fs_.get(), id(2)), ElementsAre(ShownName{a, "b"}));
  table_.move_directory(a, "b", kRootNode, "c", "c");
  EXPECT_THAT(table_.names_of_directory(fs_.get(), id(2)), ElementsAre(ShownName{kRootNode, "c"}));
  EXPECT_THAT(table_.names_of_directory(fs_.get(), id(3)), IsEmpty());
}

TEST_F(NamesInTheTable, DirectoryMovedByOthers_HasBothNamesUntilTheOldOneIsForgotten) {
  const uint64_t old = table_.acquire_directory(kRootNode, "old", "old", 10, id(1));
  table_.acquire_directory(kRootNode, "new", "new", 10, id(1));
  EXPECT_THAT(table_.names_of_directory(fs_.get(), id(1)),
              UnorderedElementsAre(ShownName{kRootNode, "old"}, ShownName{kRootNode, "new"}));
  table_.forget(old, 1);
  EXPECT_THAT(table_.names_of_directory(fs_.get(), id(1)),
              ElementsAre(ShownName{kRootNode, "new"}));
}

TEST_F(NamesInTheTable, ImpliedDirectories_EndAtTheFirstDocument) {
  const uint64_t a = table_.acquire_directory(kRootNode, "a", "a", 10, id(1));
  const uint64_t b = table_.acquire_directory(a, "b", "a/b", 11);
  const uint64_t c = table_.acquire_directory(b, "c", "a/b/c", 12);
  const auto above = table_.implied_directories_above(c);
  ASSERT_EQ(above.size(), 2U);
  EXPECT_EQ(above[0].ino, c);
  EXPECT_EQ(above[1].name, (ShownName{a, "b"}));
  EXPECT_EQ(table_.implied_directories(fs_.get()).size(), 2U);
  // The directory gets a document, and loses it.
  table_.acquire_directory(a, "b", "a/b", 11, id(2));
  EXPECT_EQ(table_.implied_directories_above(c).size(), 1U);
  EXPECT_THAT(table_.names_of_directory(fs_.get(), id(2)), ElementsAre(ShownName{a, "b"}));
  table_.acquire_directory(a, "b", "a/b", 11);
  EXPECT_THAT(table_.names_of_directory(fs_.get(), id(2)), IsEmpty());
  EXPECT_EQ(table_.implied_directories_above(c).size(), 2U);
}

TEST_F(NamesInTheTable, Buckets_AreTheirRoots) {
  ASSERT_EQ(table_.buckets().size(), 1U);
  EXPECT_EQ(table_.buckets()[0].first, kRootNode);
  InodeTable table(nullptr);
  EXPECT_THAT(table.buckets(), IsEmpty());
  const uint64_t ino = table.acquire_bucket("fs", fs_, 77);
  ASSERT_EQ(table.buckets().size(), 1U);
  EXPECT_EQ(table.buckets()[0].first, ino);
}

}  // namespace
}  // namespace gridmount::fuse
