// Goal: the kernel enforces owners and modes, also for users other than the one who mounted.
// Method: a child process that takes on another user's identity. Needs root.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <functional>

#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

constexpr uid_t kUser = 12345;
constexpr gid_t kGroup = 12346;

class PermissionTest : public MountedStore {
 protected:
  void SetUp() override {
    if (getuid() != 0) GTEST_SKIP() << "needs root to become another user";
    MountedStore::SetUp();
    if (IsSkipped()) return;
    mount({"--create", "-o", "allow_other"});
  }

  struct stat stat_of(const std::string& path) {
    struct stat result {};
    EXPECT_CALL_OK(lstat(path.c_str(), &result));
    return result;
  }
};

TEST_F(PermissionTest, Defaults_ComeFromTheMountOptions) {
  ASSERT_EQ(unmount(), 0);
  mount({"-o", "allow_other,uid=7,gid=8,umask=027"});
  EXPECT_EQ(stat_of(mount_point()).st_uid, 7U);
  EXPECT_EQ(stat_of(at()).st_uid, 7U);
  EXPECT_EQ(stat_of(at()).st_gid, 8U);
  EXPECT_EQ(stat_of(at()).st_mode, S_IFDIR | 0750U);
}

TEST_F(PermissionTest, NewFiles_BelongToTheirMaker) {
  ASSERT_CALL_OK(chmod(at().c_str(), 0777));
  as_user(kUser, kGroup, [&] {
    umask(022);
    write_file(at("mine"), "x");
    EXPECT_CALL_OK(mkdir(at("folder").c_str(), 0777));
    EXPECT_CALL_OK(symlink("mine", at("link").c_str()));
  });
  for (const char* name : {"mine", "folder", "link"}) {
    EXPECT_EQ(stat_of(at(name)).st_uid, kUser) << name;
    EXPECT_EQ(stat_of(at(name)).st_gid, kGroup) << name;
  }
  EXPECT_EQ(stat_of(at("mine")).st_mode, S_IFREG | 0644U);
  EXPECT_EQ(stat_of(at("folder")).st_mode, S_IFDIR | 0755U);
}

TEST_F(PermissionTest, RemovedFolderThatIsOpen_StillKeepsOthersOut) {
  ASSERT_CALL_OK(chmod(at().c_str(), 0755));
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0770));
  const int folder = open(at("folder").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(folder, 0);
  ASSERT_CALL_OK(rmdir(at("folder").c_str()));
  as_user(kUser, kGroup, [&] { EXPECT_ERRNO(openat(folder, "below", O_RDONLY), EACCES); });
  EXPECT_ERRNO(openat(folder, "below", O_RDONLY), ENOENT);
  close(folder);
}

TEST_F(PermissionTest, Others_AreKeptOut) {
  ASSERT_CALL_OK(chmod(at().c_str(), 0755));
  write_file(at("secret"), "x");
  ASSERT_CALL_OK(chmod(at("secret").c_str(), 0600));
  as_user(kUser, kGroup, [&] {
    EXPECT_ERRNO(open(at("secret").c_str(), O_RDONLY), EACCES);
    EXPECT_ERRNO(open(at("new").c_str(), O_CREAT | O_WRONLY, 0644), EACCES);
    EXPECT_ERRNO(unlink(at("secret").c_str()), EACCES);
    EXPECT_ERRNO(chmod(at("secret").c_str(), 0666), EPERM);
    EXPECT_ERRNO(chown(at("secret").c_str(), kUser, kGroup), EPERM);
  });
  ASSERT_CALL_OK(chmod(at("secret").c_str(), 0644));
  as_user(kUser, kGroup, [&] { EXPECT_EQ(read_file(at("secret")), "x"); });
}

TEST_F(PermissionTest, StickyFolder_ProtectsOthersFiles) {
  ASSERT_CALL_OK(chmod(at().c_str(), 01777));
  write_file(at("roots"), "x");
  as_user(kUser, kGroup, [&] {
    EXPECT_ERRNO(unlink(at("roots").c_str()), EPERM);
    write_file(at("own"), "x");
    EXPECT_CALL_OK(unlink(at("own").c_str()));
  });
}

TEST_F(PermissionTest, Chown_IsKept) {
  write_file(at("file"), "x");
  ASSERT_CALL_OK(chown(at("file").c_str(), kUser, kGroup));
  ASSERT_CALL_OK(symlink("x", at("link").c_str()));
  ASSERT_CALL_OK(lchown(at("link").c_str(), kUser, static_cast<gid_t>(-1)));
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(stat_of(at("file")).st_uid, kUser);
  EXPECT_EQ(stat_of(at("file")).st_gid, kGroup);
  EXPECT_EQ(stat_of(at("link")).st_uid, kUser);
}

TEST_F(PermissionTest, SetIdBits_AreClearedByWriteAndChown) {
  ASSERT_CALL_OK(chmod(at().c_str(), 0777));
  write_file(at("program"), "x");
  ASSERT_CALL_OK(chown(at("program").c_str(), kUser, kGroup));
  ASSERT_CALL_OK(chmod(at("program").c_str(), 06777));
  as_user(kUser, kGroup, [&] {
    const int fd = open(at("program").c_str(), O_WRONLY);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(write(fd, "y", 1), 1);
    close(fd);
  });
  EXPECT_EQ(stat_of(at("program")).st_mode, S_IFREG | 0777U);
  ASSERT_CALL_OK(chmod(at("program").c_str(), 06777));
  ASSERT_CALL_OK(chown(at("program").c_str(), 1, 1));
  EXPECT_EQ(stat_of(at("program")).st_mode, S_IFREG | 0777U);
}

TEST_F(PermissionTest, SetIdBits_AreClearedByChownOfNothing) {
  constexpr auto kSame = static_cast<uid_t>(-1);
  const std::string program = at("program");
  ASSERT_CALL_OK(chmod(at().c_str(), 0777));
  write_file(program, "x");
  ASSERT_CALL_OK(chown(program.c_str(), kUser, kGroup));
  ASSERT_CALL_OK(chmod(program.c_str(), 06755));
  as_user(kUser + 1, kGroup, [&] { EXPECT_ERRNO(chown(program.c_str(), kSame, kSame), EPERM); });
  EXPECT_EQ(stat_of(program).st_mode, S_IFREG | 06755U);
  as_user(kUser, kGroup, [&] { EXPECT_CALL_OK(chown(program.c_str(), kSame, kSame)); });
  EXPECT_EQ(stat_of(program).st_mode, S_IFREG | 0755U);
  // Root's call clears the bits, too. If the group may not execute the file, the set-group-ID bit
  // has another meaning and stays.
  ASSERT_CALL_OK(chmod(program.c_str(), 06745));
  ASSERT_CALL_OK(chown(program.c_str(), kSame, kSame));
  EXPECT_EQ(stat_of(program).st_mode, S_IFREG | 02745U);
  // If neither bit is set, any user may make the call.
  ASSERT_CALL_OK(chmod(program.c_str(), 0755));
  as_user(kUser + 1, kGroup, [&] { EXPECT_CALL_OK(chown(program.c_str(), kSame, kSame)); });
  // On a directory the bits mean something else. On a pipe they are as on a file.
  ASSERT_CALL_OK(mkdir(at("folder").c_str(), 0755));
  ASSERT_CALL_OK(chmod(at("folder").c_str(), 06755));
  ASSERT_CALL_OK(chown(at("folder").c_str(), kSame, kSame));
  EXPECT_EQ(stat_of(at("folder")).st_mode, S_IFDIR | 06755U);
  ASSERT_CALL_OK(mkfifo(at("pipe").c_str(), 0755));
  ASSERT_CALL_OK(chmod(at("pipe").c_str(), 06755));
  ASSERT_CALL_OK(chown(at("pipe").c_str(), kSame, kSame));
  EXPECT_EQ(stat_of(at("pipe")).st_mode, S_IFIFO | 0755U);
}

TEST_F(PermissionTest, SetGroupIdFolder_PassesItsGroupOn) {
  ASSERT_CALL_OK(mkdir(at("club").c_str(), 0777));
  ASSERT_CALL_OK(chown(at("club").c_str(), 0, 555));
  ASSERT_CALL_OK(chmod(at().c_str(), 0777));
  ASSERT_CALL_OK(chmod(at("club").c_str(), 02777));
  as_user(kUser, kGroup, [&] {
    write_file(at("club/file"), "x");
    EXPECT_CALL_OK(mkdir(at("club/folder").c_str(), 0755));
  });
  EXPECT_EQ(stat_of(at("club/file")).st_gid, 555U);
  EXPECT_EQ(stat_of(at("club/folder")).st_gid, 555U);
  EXPECT_NE(stat_of(at("club/folder")).st_mode & S_ISGID, 0U);
}

TEST_F(PermissionTest, WithoutAllowOther_OthersSeeNothing) {
  ASSERT_EQ(unmount(), 0);
  mount({});
  as_user(kUser, kGroup, [&] { EXPECT_ERRNO(access(at().c_str(), F_OK), EACCES); });
}

TEST_F(PermissionTest, SetIdBits_GoWithAnothersChangeOfContent) {
  write_file(at("program"), std::string(100'000, 'x'));
  ASSERT_CALL_OK(chmod(at("program").c_str(), 06777));
  const auto truncates = [&] { EXPECT_CALL_OK(truncate(at("program").c_str(), 5000)); };
  const auto opens = [&] { close(open(at("program").c_str(), O_WRONLY | O_TRUNC)); };
  const auto writes = [&] {
    const int file = open(at("program").c_str(), O_WRONLY);
    EXPECT_EQ(pwrite(file, "y", 1, 0), 1);
    close(file);
  };
  const auto allocates = [&] {
    const int file = open(at("program").c_str(), O_WRONLY);
    EXPECT_CALL_OK(fallocate(file, 0, 0, 10'000));
    close(file);
  };
  const std::function<void()> changes[] = {truncates, opens, writes, allocates};
  for (const auto& change : changes) {
    // A change by root keeps the bits.
    change();
    EXPECT_EQ(stat_of(at("program")).st_mode & 07777, 06777U);
    as_user(kUser, kGroup, change);
    EXPECT_EQ(stat_of(at("program")).st_mode & 07777, 0777U);
    ASSERT_CALL_OK(chmod(at("program").c_str(), 06777));
  }
}

TEST_F(PermissionTest, Capabilities_GoWithTheFirstWrite) {
  write_file(at("program"), "x");
  const int file = open(at("program").c_str(), O_WRONLY);
  ASSERT_EQ(pwrite(file, "y", 1, 0), 1);
  // Version 2, effective, cap_chown (linux/capability.h).
  const uint8_t capability[20] = {1, 0, 0, 2, 1};
  ASSERT_CALL_OK(
      setxattr(at("program").c_str(), "security.capability", capability, sizeof capability, 0));
  EXPECT_EQ(getxattr(at("program").c_str(), "security.capability", nullptr, 0), 20);
  ASSERT_EQ(pwrite(file, "z", 1, 0), 1);
  EXPECT_ERRNO(getxattr(at("program").c_str(), "security.capability", nullptr, 0), ENODATA);
  close(file);
}

}  // namespace
}  // namespace gridmount::fuse
