// Goal: directory listings are complete, without repetition, and can be interrupted and resumed.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/fuse/mounted_store.h"
#include "tests/sanitized.h"

namespace gridmount::fuse {
namespace {

// A listing of so many entries takes several calls of the kernel and of readdir(3).
constexpr int kMany = kSanitized ? 1500 : 3000;

class DirectoryTest : public MountTest {
 protected:
  void make_files(const std::string& folder, int count) {
    ASSERT_CALL_OK(mkdir(at(folder).c_str(), 0755));
    for (int i = 0; i < count; ++i) {
      const std::string path = at(folder + "/file" + std::to_string(i));
      const int fd = open(path.c_str(), O_CREAT | O_WRONLY, 0644);
      ASSERT_GE(fd, 0);
      close(fd);
    }
  }
};

TEST_F(DirectoryTest, ManyEntries_EachOnceAlsoAfterRemount) {
  make_files("many", kMany);
  std::vector<std::string> names = list(at("many"));
  EXPECT_EQ(names.size(), size_t{kMany});
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), size_t{kMany});
  ASSERT_EQ(unmount(), 0);
  mount({});
  EXPECT_EQ(list(at("many")), names);
}

TEST_F(DirectoryTest, Entries_HaveTypeAndNumberOfStat) {
  make_files("folder", 3);
  ASSERT_CALL_OK(mkdir(at("folder/sub").c_str(), 0755));
  ASSERT_CALL_OK(symlink("x", at("folder/link").c_str()));
  ASSERT_EQ(unmount(), 0);
  mount({});
  DIR* directory = opendir(at("folder").c_str());
  ASSERT_NE(directory, nullptr);
  int seen = 0;
  while (const dirent* entry = readdir(directory)) {
    struct stat attributes {};
    ASSERT_CALL_OK(fstatat(dirfd(directory), entry->d_name, &attributes, AT_SYMLINK_NOFOLLOW));
    EXPECT_EQ(entry->d_ino, attributes.st_ino) << entry->d_name;
    EXPECT_EQ(DTTOIF(entry->d_type), attributes.st_mode & S_IFMT) << entry->d_name;
    ++seen;
  }
  EXPECT_EQ(seen, 7) << "with . and ..";
  closedir(directory);
}

TEST_F(DirectoryTest, TellAndSeek_ComeBackToTheSameEntry) {
  make_files("many", 500);
  DIR* directory = opendir(at("many").c_str());
  ASSERT_NE(directory, nullptr);
  std::map<long, std::string> behind;  // position to the name that follows it
  std::vector<std::string> order;
  while (true) {
    const long position = telldir(directory);
    const dirent* entry = readdir(directory);
    if (entry == nullptr) break;
    behind[position] = entry->d_name;
    order.push_back(entry->d_name);
  }
  EXPECT_EQ(order.size(), 502U);
  for (const auto& [position, name] : behind) {
    seekdir(directory, position);
    const dirent* entry = readdir(directory);
    ASSERT_NE(entry, nullptr) << name;
    ASSERT_EQ(entry->d_name, name);
  }
  rewinddir(directory);
  for (const std::string& name : order) {
    const dirent* entry = readdir(directory);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->d_name, name);
  }
  closedir(directory);
}

TEST_F(DirectoryTest, RemovingWhileListing_MissesNothingElse) {
  make_files("many", kMany);
  DIR* directory = opendir(at("many").c_str());
  ASSERT_NE(directory, nullptr);
  std::set<std::string> seen;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    EXPECT_TRUE(seen.insert(name).second) << name << " came twice";
    ASSERT_CALL_OK(unlinkat(dirfd(directory), name.c_str(), 0));
  }
  closedir(directory);
  EXPECT_EQ(seen.size(), size_t{kMany});
  ASSERT_CALL_OK(rmdir(at("many").c_str()));
}

TEST_F(DirectoryTest, RenamedWhileListing_GoesOn) {
  make_files("before", kMany);
  ASSERT_EQ(unmount(), 0);
  mount({});
  DIR* directory = opendir(at("before").c_str());
  ASSERT_NE(directory, nullptr);
  std::set<std::string> seen;
  ASSERT_NE(readdir(directory), nullptr);
  ASSERT_CALL_OK(rename(at("before").c_str(), at("after").c_str()));
  while (const dirent* entry = readdir(directory)) seen.insert(entry->d_name);
  closedir(directory);
  for (int i = 0; i < kMany; ++i) EXPECT_TRUE(seen.contains("file" + std::to_string(i))) << i;
}

// A listing fills the kernel's caches, also with nodes that have changed since the listing began.
TEST_F(DirectoryTest, ChangedWhileListing_IsNotShownAsItWas) {
  make_files("folder", 1500);
  const std::vector<std::string> names = list(at("folder"));
  ASSERT_EQ(unmount(), 0);
  mount({});
  DIR* directory = opendir(at("folder").c_str());
  ASSERT_NE(directory, nullptr);
  ASSERT_NE(readdir(directory), nullptr);
  // readdir(3) and the kernel have not buffered the names from here on.
  constexpr size_t kFirst = 1100;
  for (size_t i = kFirst; i < names.size(); ++i) {
    const std::string path = at("folder/" + names[i]);
    if (i % 3 == 0) {
      ASSERT_CALL_OK(unlink(path.c_str()));
    } else {
      write_file(path, "grown");
    }
  }
  std::set<std::string> seen;
  while (const dirent* entry = readdir(directory)) seen.insert(entry->d_name);
  closedir(directory);
  for (size_t i = kFirst; i < names.size(); ++i) {
    const std::string path = at("folder/" + names[i]);
    struct stat attributes {};
    const int result = stat(path.c_str(), &attributes);
    if (i % 3 == 0) {
      EXPECT_EQ(result, -1) << names[i];
      EXPECT_FALSE(seen.contains(names[i])) << names[i];
    } else {
      ASSERT_CALL_OK(result);
      EXPECT_EQ(attributes.st_size, 5) << names[i];
    }
  }
}

TEST_F(DirectoryTest, NewEntries_AreInTheNextListing) {
  make_files("folder", 10);
  EXPECT_EQ(list(at("folder")).size(), 10U);
  EXPECT_EQ(list(at("folder")).size(), 10U);
  write_file(at("folder/new"), "x");
  EXPECT_EQ(list(at("folder")).size(), 11U);
  ASSERT_CALL_OK(rename(at("folder/new").c_str(), at("elsewhere").c_str()));
  EXPECT_EQ(list(at("folder")).size(), 10U);
  ASSERT_CALL_OK(unlink(at("folder/file3").c_str()));
  EXPECT_EQ(list(at("folder")).size(), 9U);
}

// The kernel caches attributes. It must not keep those that were read before a change.
TEST_F(DirectoryTest, AttributesAskedForWhileItChanges_AreNotKept) {
  constexpr int kRounds = 600;
  const std::string folder = at("changed");
  ASSERT_CALL_OK(mkdir(folder.c_str(), 0755));
  std::atomic<bool> asking = false;
  std::atomic<bool> ended = false;
  std::atomic<int> active = 0;
  const auto ask = [&] {
    struct statx asked {};
    while (!ended) {
      ++active;
      if (asking) {
        EXPECT_CALL_OK(statx(AT_FDCWD, folder.c_str(), AT_STATX_FORCE_SYNC, STATX_NLINK, &asked));
      }
      --active;
      std::this_thread::yield();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(ask);
  nlink_t expected = 2;
  int wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    asking = true;
    EXPECT_CALL_OK(mkdir((folder + "/" + std::to_string(round)).c_str(), 0755));
    ++expected;
    if (round % 3 == 2) {
      EXPECT_CALL_OK(rmdir((folder + "/" + std::to_string(round - 1)).c_str()));
      --expected;
    }
    asking = false;
    while (active != 0) std::this_thread::yield();
    struct stat kept {};
    EXPECT_CALL_OK(stat(folder.c_str(), &kept));
    wrong += kept.st_nlink == expected ? 0 : 1;
  }
  ended = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace gridmount::fuse
