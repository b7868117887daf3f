// Goal: any problem with the command, the store or the mount point is reported in one line, with
// its own exit status, and nothing stays mounted.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "command_line/exit_status.h"
#include "tests/fuse/mounted_store.h"

namespace gridmount::fuse {
namespace {

class BadInputTest : public MountedStore {
 protected:
  // Runs gridmount in the background, as users do.
  void expect_refusal(ExitStatus status, const std::string& word,
                      std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), GRIDMOUNT_PROGRAM);
    ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, static_cast<int>(status)) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_TRUE(run.err.starts_with("gridmount: ")) << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_NE(run.err.find(word), std::string::npos) << "'" << word << "' in: " << run.err;
  }
  void make_store() {
    mount();
    write_file(at("file"), std::string(1'000'000, 'x'));
    ASSERT_EQ(unmount(), 0);
  }
};

TEST_F(BadInputTest, WrongUse) {
  expect_refusal(ExitStatus::kFailure, "MOUNTPOINT", {store()});
  expect_refusal(ExitStatus::kFailure, "--nonsense", {"--nonsense", store(), mount_point()});
  expect_refusal(ExitStatus::kFailure, "nonsense", {"-o", "nonsense", store(), mount_point()});
}

TEST_F(BadInputTest, MountPointMissing) {
  expect_refusal(ExitStatus::kMountPointUnusable, "does not exist",
                 {"--create", store(), folder() / "none"});
  EXPECT_FALSE(std::filesystem::exists(store()));
}

TEST_F(BadInputTest, NamesWithNewlines_StayWithinTheLine) {
  expect_refusal(ExitStatus::kMountPointUnusable, "no\\nne",
                 {"--create", store(), folder() / "no\nne"});
  const std::filesystem::path at = folder() / "at";
  std::filesystem::create_directory(at);
  expect_refusal(ExitStatus::kStoreNotFound, "no\\nne", {folder() / "no\nne", at});
}

TEST_F(BadInputTest, MountPointIsAFile) {
  std::ofstream(folder() / "file") << "x";
  expect_refusal(ExitStatus::kMountPointUnusable, "not a directory",
                 {"--create", store(), folder() / "file"});
}

TEST_F(BadInputTest, MountPointBusy) {
  mount();
  expect_refusal(ExitStatus::kMountPointBusy, store(),
                 {"--create", folder() / "other", mount_point()});
  EXPECT_FALSE(std::filesystem::exists(folder() / "other"));
}

TEST_F(BadInputTest, MountPointDead) {
  mount();
  EXPECT_EQ(end_by(SIGKILL), 128 + SIGKILL);
  expect_refusal(ExitStatus::kMountPointBusy, "fusermount3 -u", {store(), mount_point()});
}

TEST_F(BadInputTest, StoreMissing) {
  expect_refusal(ExitStatus::kStoreNotFound, store(), {store(), mount_point()});
  expect_refusal(ExitStatus::kStoreNotFound, "; 'gridmount --create' makes one",
                 {store(), mount_point()});
  EXPECT_FALSE(std::filesystem::exists(store()));
}

TEST_F(BadInputTest, StoreIsAFolderOfSomethingElse) {
  std::filesystem::create_directory(store());
  std::ofstream(store() / "readme.txt") << "not a store";
  expect_refusal(ExitStatus::kNotAStore, store(), {store(), mount_point()});
  expect_refusal(ExitStatus::kNotAStore, store(), {"--create", store(), mount_point()});
}

TEST_F(BadInputTest, StoreIsAFile) {
  std::ofstream(store()) << "not a store";
  expect_refusal(ExitStatus::kNotAStore, store(), {store(), mount_point()});
}

TEST_F(BadInputTest, StoreLocked_NamesTheOwner) {
  mount();
  std::filesystem::create_directory(folder() / "mnt2");
  expect_refusal(ExitStatus::kStoreLocked, std::to_string(daemon()), {store(), folder() / "mnt2"});
}

TEST_F(BadInputTest, StoreDamaged) {
  make_store();
  {
    std::fstream data(store() / "data.mdb", std::ios::in | std::ios::out | std::ios::binary);
    ASSERT_TRUE(data);
    data << std::string(3 * 4096, '\x5A');
  }
  // The saved state of the last checkpoint is damaged as well.
  if (std::filesystem::exists(store() / "checkpoint")) {
    std::ofstream(store() / "checkpoint", std::ios::binary) << std::string(4096, '\x5A');
  }
  expect_refusal(ExitStatus::kStoreDamaged, store(), {store(), mount_point()});
}

TEST_F(BadInputTest, StoreWithoutPermission) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  make_store();
  ASSERT_CALL_OK(chmod(store().c_str(), 0700));
  ASSERT_CALL_OK(chown(mount_point().c_str(), 12345, 12345));
  as_user(12345, 12345, [&] {
    expect_refusal(ExitStatus::kPermissionDenied, store(), {store(), mount_point()});
  });
}

TEST_F(BadInputTest, StoreOnReadOnlyMedium) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to mount a medium read-only";
  make_store();
  ASSERT_CALL_OK(::mount(store().c_str(), store().c_str(), nullptr, MS_BIND, nullptr));
  const int remounted =
      ::mount(nullptr, store().c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr);
  EXPECT_EQ(remounted, 0);
  expect_refusal(ExitStatus::kStoreReadOnly, "-o ro", {store(), mount_point()});
  mount({"-o", "ro"});
  EXPECT_EQ(read_file(at("file")).size(), 1'000'000U);
  EXPECT_EQ(unmount(), 0);
  EXPECT_CALL_OK(umount2(store().c_str(), MNT_DETACH));
}

TEST_F(BadInputTest, BucketMissing) {
  make_store();
  expect_refusal(ExitStatus::kNoSuchBucket, "photos",
                 {"-o", "bucket=photos", store(), mount_point()});
}

TEST_F(BadInputTest, BucketName) {
  for (const char* name : {"a$b", "system.a", "."}) {
    expect_refusal(
        ExitStatus::kFailure, "-o bucket=",
        {"--create", "-o", std::string("bucket=") + name, folder() / "new", mount_point()});
    EXPECT_FALSE(std::filesystem::exists(folder() / "new")) << name;
  }
}

TEST_F(BadInputTest, DatabaseName) {
  make_store();
  for (const char* name : {"", "bad/name"}) {
    expect_refusal(ExitStatus::kFailure, "--db", {"--db", name, store(), mount_point()});
    expect_refusal(ExitStatus::kFailure, "--db",
                   {"--create", "--db", name, folder() / "new", mount_point()});
    EXPECT_FALSE(std::filesystem::exists(folder() / "new"));
  }
  expect_refusal(ExitStatus::kFailure, "--db", {"-o", "db=bad/name", store(), mount_point()});
}

TEST_F(BadInputTest, MountRefusedBySystem) {
  if (getuid() != 0) GTEST_SKIP() << "needs root to become another user";
  // A user may not mount on a directory of another user.
  as_user(12345, 12345, [&] {
    std::string own = "/tmp/gridmount-user-XXXXXX";
    ASSERT_NE(mkdtemp(own.data()), nullptr);
    ProgramRun run = run_program({GRIDMOUNT_PROGRAM, "--create", own + "/store", mount_point()});
    EXPECT_TRUE(run.status == static_cast<int>(ExitStatus::kMountRefused) ||
                run.status == static_cast<int>(ExitStatus::kPermissionDenied))
        << run.status << " " << run.err;
    std::filesystem::remove_all(own);
  });
}

}  // namespace
}  // namespace gridmount::fuse
