// Goal: copies of stores and compaction produce the right contents, writers can work meanwhile, and
// a kill at any moment leaves a usable store.
//
// Method: this program replaces rename, unlink, fsync, fdatasync, pwrite and write. They count the
// calls of a child process and end it at one of them.
#include "engine/local/integrity/store_copy.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <thread>

#include "engine/bson/builder.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"
#include "tests/sanitized.h"

namespace {

constexpr int kKilledStatus = 42;

std::atomic<int> calls_until_kill{0};   // counts down from n; 0: no kill
std::atomic<int> writes_until_full{0};  // the same for write(), which then reports a full disk

void count_call() {
  if (calls_until_kill > 0 && --calls_until_kill == 0) _exit(kKilledStatus);
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  count_call();
  return real(from, to);
}

extern "C" int unlink(const char* path) {
  static const auto real = next<int (*)(const char*)>("unlink");
  count_call();
  return real(path);
}

extern "C" int fsync(int) {
  count_call();
  return 0;
}

extern "C" int fdatasync(int) {
  count_call();
  return 0;
}

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  count_call();
  return real(fd, bytes, size, offset);
}

extern "C" ssize_t write(int fd, const void* bytes, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  count_call();
  if (writes_until_full > 0 && --writes_until_full == 0) {
    errno = ENOSPC;
    return -1;
  }
  return real(fd, bytes, size);
}

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kDocuments = 200;

class StoreCopy : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gridmount-copy.XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    auto store = open(source(), true);
    insert(*store, kDocuments);
  }
  void TearDown() override {
    calls_until_kill = 0;
    writes_until_full = 0;
    fs::remove_all(folder_);
  }

  fs::path source() const { return folder_ / "source"; }
  fs::path copy() const { return folder_ / "copy"; }

  static std::unique_ptr<engine::Store> open(const fs::path& path, bool create = false) {
    OpenOptions options;
    options.create = create;
    auto store = local::open(path, options);
    if (!store) throw std::runtime_error(store.error().message());
    return std::move(store).value();
  }

  // Inserts each document in its own transaction, so that pages become free. The documents are too
  // small for pages of their own, which LMDB would copy by other system calls.
  static void insert(engine::Store& store, int count) {
    auto collection = store.database("test")->collection("c");
    for (int i = 0; i < count; ++i) {
      auto transaction = store.begin();
      ASSERT_TRUE(transaction);
      bson::Builder builder;
      builder.append("bytes", std::string(1000, 'x'));
      ASSERT_TRUE(collection->insert(**transaction, std::move(builder).finish()));
      ASSERT_TRUE((*transaction)->commit());
    }
  }

  static int64_t count(engine::Store& store) {
    auto snapshot = store.snapshot();
    return *store.database("test")->collection("c")->count(**snapshot, bson::View());
  }

  // Checks that the store is sound and accepts more documents. Returns how many documents it had.
  static int64_t check(const fs::path& path) {
    int64_t found = 0;
    {
      auto store = open(path);
      const auto report = check_structure(*store);
      EXPECT_TRUE(report);
      EXPECT_THAT(report->problems, IsEmpty());
      found = count(*store);
      insert(*store, 3);
      EXPECT_EQ(count(*store), found + 3);
    }
    auto store = open(path);
    EXPECT_EQ(count(*store), found + 3);
    EXPECT_FALSE(fs::exists(path / "copy.new"));
    return found;
  }

 private:
  fs::path folder_;
};

TEST_F(StoreCopy, IsAStoreOfItsOwn) {
  {
    auto store = open(source());
    ASSERT_TRUE(copy_store(*store, copy()));
    insert(*store, 5);
  }
  EXPECT_EQ(check(copy()), kDocuments);
  EXPECT_EQ(check(source()), kDocuments + 5);
}

TEST_F(StoreCopy, BesideAnOwner_IsOfOneMoment) {
  auto owner = open(source());
  OpenOptions options;
  options.read_only = true;
  options.beside_owner = true;
  {
    auto beside = local::open(source(), options);
    ASSERT_TRUE(beside) << beside.error().message();
    std::atomic<bool> is_over = false;
    std::thread writer([&] {
      while (!is_over) insert(*owner, 1);
    });
    const Status copied = copy_store(**beside, copy());
    is_over = true;
    writer.join();
    ASSERT_TRUE(copied) << copied.error().message();
  }
  EXPECT_GE(check(copy()), kDocuments);
}

TEST_F(StoreCopy, WhereThereIsSomething_IsRefused) {
  auto store = open(source());
  open(copy(), true).reset();
  EXPECT_EQ(copy_store(*store, copy()).error().code(), ErrorCode::kNamespaceExists);
  fs::remove_all(copy());
  fs::create_directories(copy() / "other");
  EXPECT_EQ(copy_store(*store, copy()).error().code(), ErrorCode::kNotAStore);
  EXPECT_TRUE(fs::exists(copy() / "other"));
}

TEST_F(StoreCopy, FullDisk_LeavesNothing) {
  auto store = open(source());
  writes_until_full = 1;
  const Status copied = copy_store(*store, copy());
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), ErrorCode::kOutOfDiskSpace) << copied.error().message();
  EXPECT_FALSE(fs::exists(copy()));
  ASSERT_TRUE(copy_store(*store, copy()));
}

TEST_F(StoreCopy, Compaction_GivesSpaceBack) {
  {
    auto store = open(source());
    auto transaction = store->begin();
    bson::Document all;
    ASSERT_TRUE(store->database("test")->collection("c")->remove(**transaction, all, true));
    ASSERT_TRUE((*transaction)->commit());
    insert(*store, 10);
  }
  const uint64_t before = fs::file_size(source() / "data.mdb");
  const auto compaction = compact_store(source());
  ASSERT_TRUE(compaction) << compaction.error().message();
  EXPECT_EQ(compaction->bytes_before, before);
  EXPECT_EQ(compaction->bytes_after, fs::file_size(source() / "data.mdb"));
  EXPECT_LT(compaction->bytes_after, before / 4);
  EXPECT_EQ(check(source()), 10);
}

TEST_F(StoreCopy, Compaction_OfAStoreInUse_IsRefused) {
  auto store = open(source());
  EXPECT_EQ(compact_store(source()).error().code(), ErrorCode::kStoreLocked);
  insert(*store, 1);
  EXPECT_EQ(count(*store), kDocuments + 1);
}

TEST_F(StoreCopy, Compaction_FullDisk_LeavesTheStore) {
  writes_until_full = 1;
  const auto compaction = compact_store(source());
  ASSERT_FALSE(compaction);
  EXPECT_EQ(compaction.error().code(), ErrorCode::kOutOfDiskSpace);
  EXPECT_FALSE(fs::exists(source() / "copy.new"));
  EXPECT_EQ(check(source()), kDocuments);
}

TEST_F(StoreCopy, Compaction_KilledAnywhere_LeavesAStore) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  int64_t expected = kDocuments;
  int kills = 0;
  for (int call = 1; call < 500; ++call) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      calls_until_kill = call;
      _exit(compact_store(source()) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(check(source()), expected) << "killed at call " << call;
    expected += 3;
    if (WEXITSTATUS(status) == 0) break;
    ASSERT_EQ(WEXITSTATUS(status), kKilledStatus);
    ++kills;
  }
  // The marks, the checkpoint, the folder, the table of readers and the swap need at least ten
  // calls.
  EXPECT_GE(kills, 10);
  EXPECT_LT(kills, 499);
}

}  // namespace
}  // namespace gridmount::local
