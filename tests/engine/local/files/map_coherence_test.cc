// Goal: a file system whose mappings do not show what is written is detected, and no store is made
// or opened there.
//
// Method: this program replaces pwrite and leaves out a write to the probe file, so its mapping
// shows the older contents. It also replaces fstat, to slow down the threads that disturb the
// kernel's cache, as busy processors do. The tests of what a store does with the result use made-up
// results, because the test machine's file system is coherent.
#include "engine/local/files/map_coherence.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "engine/base/opening_error.h"
#include "tests/engine/local/files/store_folder_fixture.h"

namespace {

std::atomic<int> writes_until_one_is_left_out{-1};
std::atomic<bool> disturbance_is_slow{false};

bool is_probe(int fd) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  return path.filename() == gridmount::local::kProbeFile;
}

template <typename Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static const auto real = next_function<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  if (writes_until_one_is_left_out >= 0 && is_probe(fd) && writes_until_one_is_left_out-- == 0) {
    return static_cast<ssize_t>(size);
  }
  return real(fd, bytes, size, offset);
}

extern "C" int fstat(int fd, struct stat* status) noexcept {
  static const auto real = next_function<int (*)(int, struct stat*)>("fstat");
  if (disturbance_is_slow && is_probe(fd)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return real(fd, status);
}

namespace gridmount::local {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class MapCoherenceTest : public StoreFolderTest {
 protected:
  ~MapCoherenceTest() override {
    writes_until_one_is_left_out = -1;
    disturbance_is_slow = false;
  }

  void expect_unfit(const Status& status, const std::string& why) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), kFileSystemUnfit);
    EXPECT_THAT(status.error().message(),
                AllOf(HasSubstr(folder_.string()), HasSubstr(why),
                      HasSubstr("is not suitable for a store"), HasSubstr("such as ext4")));
  }
  void expect_nothing_left() { EXPECT_FALSE(fs::exists(folder_ / kProbeFile)); }

  static TestOptions that_is_unfit() {
    TestOptions test;
    test.check_mappings = [](const fs::path&) -> Status {
      return fail(kFileSystemUnfit, "it is not suitable for a store");
    };
    return test;
  }
};

TEST_F(MapCoherenceTest, MappingThatFollows_IsFit) {
  EXPECT_TRUE(probe_mappings(folder_));
  expect_nothing_left();
}

// Any write may be the one that does not show: one of whole pages, or of a part of a page.
TEST_F(MapCoherenceTest, WriteThatDoesNotShow_IsUnfit) {
  for (const int before : {1, 2, 4, 5, 6, 300}) {
    writes_until_one_is_left_out = before;
    expect_unfit(probe_mappings(folder_), "does not always show");
    expect_nothing_left();
  }
}

// A fault shows only in rounds that are disturbed. On busy processors most rounds are not
// disturbed.
TEST_F(MapCoherenceTest, FewRoundsAreDisturbed_MoreRoundsAreMade) {
  disturbance_is_slow = true;
  writes_until_one_is_left_out = 30'000;  // more writes than kProbeRoundsMax rounds make
  expect_unfit(probe_mappings(folder_), "does not always show");
  expect_nothing_left();
}

TEST_F(MapCoherenceTest, Unfit_NamesTheFileSystem) {
  if (!fs::exists("/dev/shm")) GTEST_SKIP() << "there is no /dev/shm";
  writes_until_one_is_left_out = 1;
  const Status memory = probe_mappings("/dev/shm");
  ASSERT_FALSE(memory);
  EXPECT_THAT(memory.error().message(), HasSubstr("/dev/shm (tmpfs)"));
}

TEST_F(MapCoherenceTest, FolderThatTakesNoFiles_IsLeftToOthers) {
  EXPECT_TRUE(probe_mappings(folder_ / "none"));
}

TEST_F(MapCoherenceTest, UnfitFileSystem_StoreIsNotMade) {
  const auto made = Environment::open(store(), {.create = true}, that_is_unfit());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), kFileSystemUnfit);
  EXPECT_FALSE(fs::exists(store()));
}

TEST_F(MapCoherenceTest, UnfitFileSystem_StoreIsNotOpened_ButRead) {
  auto environment = create();
  ASSERT_TRUE(environment);
  ASSERT_TRUE(put(**environment, "k", "v"));
  environment->reset();
  const std::string owner = contents_of(store() / "owner");
  const auto opened = Environment::open(store(), {}, that_is_unfit());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), kFileSystemUnfit);
  // The store was not touched, and can be opened read-only.
  EXPECT_EQ(contents_of(store() / "owner"), owner);
  EXPECT_TRUE(Environment::open(store(), {.read_only = true}, that_is_unfit()));
}

TEST_F(MapCoherenceTest, ProbeLeftByAKill_IsNoHindrance) {
  fs::create_directory(store());
  put_contents(store() / kProbeFile, "left");
  put_contents(store() / "owner", "");
  // The folder has files besides a blank owner, and their origin is unknown.
  EXPECT_FALSE(create());
  fs::remove(store() / kProbeFile);
  ASSERT_TRUE(create());
  put_contents(store() / kProbeFile, "left");
  EXPECT_TRUE(open());
}

}  // namespace
}  // namespace gridmount::local
