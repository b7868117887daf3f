// Goal: a file gets its name only when it is complete, an incomplete file leaves nothing behind,
// and devices, links and permissions are kept. Method: real files in a folder of the test.
#include "command_line/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/system/system_error.h"

namespace gridmount {
namespace {

// The permissions that the last file had before fchmod() changed them.
mode_t mode_before_change = 0;

// Failures of the file system.
bool lacks_noreplace = false;
bool fails_to_rename = false;

}  // namespace
}  // namespace gridmount

// These functions take the place of the C library's in this program.
extern "C" int fchmod(int fd, mode_t mode) noexcept {
  struct stat attributes {};
  if (fstat(fd, &attributes) != 0) return -1;
  gridmount::mode_before_change = attributes.st_mode & 07777;
  return static_cast<int>(syscall(SYS_fchmod, fd, mode));
}

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to,
                         unsigned int flags) noexcept {
  if (gridmount::lacks_noreplace) {
    errno = EINVAL;
    return -1;
  }
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

extern "C" int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  if (gridmount::fails_to_rename) {
    errno = EIO;
    return -1;
  }
  return static_cast<int>(syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}

namespace gridmount {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "gridmount-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = std::filesystem::canonical(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The last failed step and its errno are kept in step_ and errno_.
  AtomicFileOptions options(bool overwrite = true, bool sync = false) {
    return {.overwrite = overwrite,
            .sync = sync,
            .error = [this](AtomicFileStep step, int error_number) {
              step_ = step;
              errno_ = error_number;
              return system::system_error(error_number, "a test");
            }};
  }

  static Status write(AtomicFile& file, std::string_view text) {
    return file.write({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }

  // Creates the file with this text and commits it.
  Status put(const std::string& name, std::string_view text, AtomicFileOptions given) const {
    GM_ASSIGN(AtomicFile file, AtomicFile::create(folder_ / name, std::move(given)));
    GM_TRY(write(file, text));
    return file.commit();
  }

  std::string text_of(const std::string& name) const {
    std::ifstream stream(folder_ / name);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  std::filesystem::path folder_;
  AtomicFileStep step_ = AtomicFileStep::kClose;
  int errno_ = 0;
};

TEST_F(AtomicFileTest, BeforeCommit_HasAHiddenName_AndAfterwardsItsOwn) {
  for (const bool sync : {false, true}) {
    auto file = AtomicFile::create(folder_ / "a", options(true, sync));
    ASSERT_TRUE(file);
    ASSERT_TRUE(write(*file, "text"));
    EXPECT_THAT(names(), ElementsAre(StartsWith(".a.")));
    ASSERT_TRUE(file->commit());
    EXPECT_THAT(names(), ElementsAre("a"));
    EXPECT_EQ(text_of("a"), "text");
    std::filesystem::remove(folder_ / "a");
  }
}

TEST_F(AtomicFileTest, WithoutCommit_LeavesNothing_AndAnExistingFileAsItWas) {
  ASSERT_TRUE(put("a", "old", options()));
  {
    auto file = AtomicFile::create(folder_ / "a", options());
    ASSERT_TRUE(file);
    const AtomicFile moved = std::move(*file);
    EXPECT_EQ(names().size(), 2u);
  }
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(text_of("a"), "old");
}

TEST_F(AtomicFileTest, WithoutOverwrite_AFileIsAnError_EvenIfItAppearsLate) {
  auto late = AtomicFile::create(folder_ / "a", options(false));
  ASSERT_TRUE(late);
  ASSERT_TRUE(put("a", "other", options(false)));
  EXPECT_FALSE(late->commit());
  EXPECT_EQ(step_, AtomicFileStep::kRename);
  EXPECT_EQ(errno_, EEXIST);
  EXPECT_FALSE(put("a", "x", options(false)));
  EXPECT_EQ(step_, AtomicFileStep::kOpen);
  EXPECT_EQ(errno_, EEXIST);
  EXPECT_EQ(text_of("a"), "other");
}

TEST_F(AtomicFileTest, WithoutNoreplace_AFailedRenameLeavesNothing) {
  lacks_noreplace = true;
  EXPECT_TRUE(put("a", "text", options(false)));
  EXPECT_FALSE(put("a", "other", options(false)));
  fails_to_rename = true;
  EXPECT_FALSE(put("b", "text", options(false)));
  EXPECT_EQ(errno_, EIO);
  fails_to_rename = false;
  lacks_noreplace = false;
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(text_of("a"), "text");
}

TEST_F(AtomicFileTest, ReplacedFile_PassesOnItsPermissions) {
  ASSERT_TRUE(put("a", "old", options()));
  ASSERT_EQ(chmod((folder_ / "a").c_str(), 0640), 0);
  ASSERT_TRUE(put("a", "new", options()));
  struct stat attributes {};
  ASSERT_EQ(stat((folder_ / "a").c_str(), &attributes), 0);
  EXPECT_EQ(attributes.st_mode & 07777, 0640u);
  EXPECT_EQ(text_of("a"), "new");
}

TEST_F(AtomicFileTest, ReplacedPrivateFile_IsPrivateFromTheBeginning) {
  ASSERT_TRUE(put("a", "old", options()));
  ASSERT_EQ(chmod((folder_ / "a").c_str(), 0600), 0);
  mode_before_change = 07777;
  ASSERT_TRUE(put("a", "new", options()));
  EXPECT_EQ(mode_before_change, 0600u);
}

TEST_F(AtomicFileTest, SymbolicLink_IsFollowedAndStays) {
  std::filesystem::create_directory(folder_ / "inner");
  std::filesystem::create_symlink("inner/b", folder_ / "a");
  ASSERT_TRUE(put("a", "text", options()));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "a"));
  EXPECT_EQ(text_of("inner/b"), "text");
  EXPECT_FALSE(put("a", "text", options(false)));
  EXPECT_EQ(errno_, EEXIST);
}

TEST_F(AtomicFileTest, InAnOpenFolder_LinksAreRefused) {
  std::filesystem::create_symlink("b", folder_ / "a");
  const int folder = open(folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(folder, 0);
  EXPECT_FALSE(AtomicFile::create_in(folder, "a", options()));
  EXPECT_EQ(errno_, ELOOP);
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(AtomicFileTest, Pipe_IsWrittenDirectlyAndStays) {
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  ASSERT_TRUE(put("pipe", "text", options(true, true)));
  char text[5] = "";
  EXPECT_EQ(read(reader, text, sizeof text - 1), 4);
  EXPECT_STREQ(text, "text");
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST_F(AtomicFileTest, RegularOnly_APipeIsNotOpened) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  ASSERT_TRUE(put("a", "old", options()));
  // Opening a pipe without a reader would wait for ever.
  const int reader = open((folder_ / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  AtomicFileOptions given = options();
  given.regular_only = true;
  EXPECT_FALSE(put("pipe", "text", given));
  EXPECT_EQ(errno_, EEXIST);
  char text = 0;
  EXPECT_EQ(read(reader, &text, 1), 0);
  close(reader);
  EXPECT_FALSE(put(".", "text", given));
  EXPECT_EQ(errno_, EISDIR);
  EXPECT_TRUE(put("a", "new", given));
}

TEST_F(AtomicFileTest, NameOfMaximumLength_Works) {
  const std::string name(255, 'n');
  ASSERT_TRUE(put(name, "text", options()));
  EXPECT_THAT(names(), ElementsAre(name));
}

TEST_F(AtomicFileTest, FolderOrMissingFolder_IsRefused) {
  std::filesystem::create_directory(folder_ / "inner");
  for (const char* name : {"inner", "inner/"}) {
    EXPECT_FALSE(put(name, "x", options()));
    EXPECT_EQ(errno_, EISDIR);
    EXPECT_FALSE(put(name, "x", options(false)));
    EXPECT_EQ(errno_, EEXIST);
  }
  EXPECT_FALSE(put("absent/a", "x", options()));
  EXPECT_EQ(errno_, ENOENT);
  EXPECT_THAT(names(), ElementsAre("inner"));
}

TEST_F(AtomicFileTest, Interruption_EndsTheWrite) {
  AtomicFileOptions given = options();
  given.check_interrupt = [] { return Status(fail(ErrorCode::kInterrupted, "a signal")); };
  const Status status = put("a", "text", std::move(given));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kInterrupted);
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace
}  // namespace gridmount
