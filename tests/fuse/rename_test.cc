// Goal: rename(2) behaves as POSIX and Linux define it.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

using Names = std::vector<std::string>;

class RenameTest : public MountTest {
 protected:
  int move(const std::string& from, const std::string& to, unsigned flags = 0) {
    return renameat2(AT_FDCWD, at(from).c_str(), AT_FDCWD, at(to).c_str(), flags);
  }
};

TEST_F(RenameTest, File_MovesAndReplaces) {
  write_file(at("a"), "a");
  write_file(at("b"), "b");
  ASSERT_CALL_OK(mkdir(at("d").c_str(), 0755));
  ASSERT_CALL_OK(move("a", "d/moved"));
  EXPECT_EQ(read_file(at("d/moved")), "a");
  EXPECT_ERRNO(access(at("a").c_str(), F_OK), ENOENT);
  ASSERT_CALL_OK(move("d/moved", "b"));
  EXPECT_EQ(read_file(at("b")), "a");
  EXPECT_EQ(list(at()), (Names{"b", "d"}));
}

TEST_F(RenameTest, Folder_TakesAllBelowAlong) {
  ASSERT_CALL_OK(mkdir(at("old").c_str(), 0755));
  ASSERT_CALL_OK(mkdir(at("old/inner").c_str(), 0755));
  ASSERT_CALL_OK(mkdir(at("other").c_str(), 0755));
  write_file(at("old/inner/file"), "x");
  const int fd = open(at("old/inner/file").c_str(), O_RDWR);
  const int folder = open(at("old/inner").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(fd, 0);
  ASSERT_GE(folder, 0);
  ASSERT_CALL_OK(move("old", "other/new"));
  EXPECT_EQ(read_file(at("other/new/inner/file")), "x");
  EXPECT_ERRNO(access(at("old").c_str(), F_OK), ENOENT);
  // Handles opened before lead to the new places.
  EXPECT_EQ(pwrite(fd, "y", 1, 0), 1);
  close(fd);
  EXPECT_EQ(read_file(at("other/new/inner/file")), "y");
  const int made = openat(folder, "made", O_CREAT | O_WRONLY, 0644);
  ASSERT_GE(made, 0);
  close(made);
  EXPECT_EQ(list(at("other/new/inner")), (Names{"file", "made"}));
  close(folder);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(list(at("other/new/inner")), (Names{"file", "made"}));
  EXPECT_EQ(list(at()), Names{"other"});
}

TEST_F(RenameTest, Folder_ReplacesAnEmptyOneOnly) {
  ASSERT_CALL_OK(mkdir(at("a").c_str(), 0755));
  write_file(at("a/file"), "x");
  ASSERT_CALL_OK(mkdir(at("empty").c_str(), 0755));
  ASSERT_CALL_OK(mkdir(at("full").c_str(), 0755));
  write_file(at("full/file"), "y");
  EXPECT_ERRNO(move("a", "full"), ENOTEMPTY);
  ASSERT_CALL_OK(move("a", "empty"));
  EXPECT_EQ(read_file(at("empty/file")), "x");
  EXPECT_EQ(list(at()), (Names{"empty", "full"}));
  write_file(at("empty/second"), "z");
  EXPECT_EQ(list(at("empty")), (Names{"file", "second"}));
}

TEST_F(RenameTest, FileAndFolder_DoNotReplaceEachOther) {
  write_file(at("file"), "x");
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  EXPECT_ERRNO(move("file", "folder"), EISDIR);
  EXPECT_ERRNO(move("folder", "file"), ENOTDIR);
}

TEST_F(RenameTest, IntoItself_IsRefused) {
  ASSERT_CALL_OK(mkdir(at("a").c_str(), 0755));
  ASSERT_CALL_OK(mkdir(at("a/b").c_str(), 0755));
  EXPECT_ERRNO(move("a", "a/b/c"), EINVAL);
  EXPECT_ERRNO(move("a/b", "a"), ENOTEMPTY);
}

TEST_F(RenameTest, NoReplace_KeepsWhatIsThere) {
  write_file(at("a"), "a");
  write_file(at("b"), "b");
  EXPECT_ERRNO(move("a", "b", RENAME_NOREPLACE), EEXIST);
  EXPECT_EQ(read_file(at("b")), "b");
  ASSERT_CALL_OK(move("a", "c", RENAME_NOREPLACE));
  EXPECT_EQ(list(at()), (Names{"b", "c"}));
}

TEST_F(RenameTest, OtherFlags_AreRefused) {
  write_file(at("a"), "a");
  write_file(at("b"), "b");
  EXPECT_ERRNO(move("a", "b", RENAME_EXCHANGE | RENAME_NOREPLACE), EINVAL);
  EXPECT_ERRNO(move("a", "b", RENAME_EXCHANGE | RENAME_WHITEOUT), EINVAL);
  EXPECT_ERRNO(move("a", "b", RENAME_NOREPLACE | RENAME_WHITEOUT), EEXIST);
  EXPECT_ERRNO(move("none", "c", RENAME_WHITEOUT), ENOENT);
  EXPECT_EQ(read_file(at("a")), "a");
}

TEST_F(RenameTest, Whiteout_StaysAtTheOldPlace) {
  if (geteuid() != 0) GTEST_SKIP() << "making devices takes root";
  write_file(at("file"), "file");
  write_file(at("replaced"), "replaced");
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  write_file(at("folder/inner"), "inner");
  ASSERT_CALL_OK(move("file", "replaced", RENAME_WHITEOUT));
  ASSERT_CALL_OK(move("folder", "moved", RENAME_WHITEOUT));
  ASSERT_CALL_OK(move("moved/inner", "free", RENAME_WHITEOUT | RENAME_NOREPLACE));
  const auto check = [&] {
    for (const char* name : {"file", "folder", "moved/inner"}) {
      struct stat left {};
      ASSERT_CALL_OK(lstat(at(name).c_str(), &left));
      EXPECT_EQ(left.st_mode, static_cast<mode_t>(S_IFCHR)) << name;
      EXPECT_EQ(left.st_rdev, 0U) << name;
      EXPECT_EQ(left.st_nlink, 1U) << name;
    }
    EXPECT_EQ(read_file(at("replaced")), "file");
    EXPECT_EQ(read_file(at("free")), "inner");
    EXPECT_EQ(list(at("moved")), (Names{"inner"}));
    EXPECT_EQ(list(at()), (Names{"file", "folder", "free", "moved", "replaced"}));
  };
  check();
  EXPECT_EQ(unmount(), 0);
  mount({});
  check();
  // A file that hides a name is like any other file.
  ASSERT_CALL_OK(unlink(at("folder").c_str()));
  ASSERT_CALL_OK(move("moved", "folder", 0));
}

TEST_F(RenameTest, Exchange_SwapsWhateverIsThere) {
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  ASSERT_CALL_OK(mkdir(at("folder/inner").c_str(), 0755));
  write_file(at("folder/inner/file"), "in the folder");
  ASSERT_CALL_OK(link(at("folder/inner/file").c_str(), at("folder/link").c_str()));
  write_file(at("plain"), "plain");
  const int inside = open(at("folder/inner").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_CALL_OK(move("folder", "plain", RENAME_EXCHANGE));
  EXPECT_EQ(read_file(at("folder")), "plain");
  EXPECT_EQ(read_file(at("plain/inner/file")), "in the folder");
  EXPECT_EQ(read_file(at("plain/link")), "in the folder");
  EXPECT_CALL_OK(faccessat(inside, "file", F_OK, 0));
  EXPECT_ERRNO(move("plain", "plain/inner", RENAME_EXCHANGE), EINVAL);
  EXPECT_ERRNO(move("plain/inner", "plain", RENAME_EXCHANGE), EINVAL);
  EXPECT_ERRNO(move("plain", "absent", RENAME_EXCHANGE), ENOENT);
  close(inside);
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(list(at()), (Names{"folder", "plain"}));
  EXPECT_EQ(list(at("plain")), (Names{"inner", "link"}));
  EXPECT_EQ(read_file(at("plain/link")), "in the folder");
}

TEST_F(RenameTest, ToItself_ChangesNothing) {
  write_file(at("a"), "a");
  ASSERT_CALL_OK(move("a", "a"));
  EXPECT_EQ(read_file(at("a")), "a");
}

TEST_F(RenameTest, Missing_IsNoEntry) {
  write_file(at("a"), "a");
  EXPECT_ERRNO(move("none", "b"), ENOENT);
  EXPECT_ERRNO(move("a", "none/b"), ENOENT);
  EXPECT_ERRNO(move("a", "a/b"), ENOTDIR);
}

TEST_F(RenameTest, DirtyFile_KeepsWhatWasWritten) {
  const int fd = open(at("a").c_str(), O_CREAT | O_WRONLY, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, "before", 6), 6);
  ASSERT_CALL_OK(move("a", "b"));
  ASSERT_EQ(write(fd, "after", 5), 5);
  close(fd);
  EXPECT_EQ(read_file(at("b")), "beforeafter");
  EXPECT_EQ(list(at()), Names{"b"});
}

}  // namespace
}  // namespace gridmount::fuse
