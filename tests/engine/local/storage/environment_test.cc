// Goal: the environment handles transactions, the queue of writers with its shared commits, trees,
// and a full disk.
//
// Method: a real store in a temporary folder. LMDB's writes go through this program's own pwrite
// and writev, with which a test can simulate a full disk.
#include "engine/local/storage/environment.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <latch>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/checksum/crc32c.h"
#include "engine/local/files/lmdb_error.h"
#include "engine/local/storage/write_queue.h"
#include "engine/system/memory.h"

namespace {

// The behaviour of the disk at the next writes.
enum class Disk { kFine, kFull, kFullAfterHalf, kBroken, kReadOnly, kQuotaUsedUp, kFileTooLarge };
std::atomic<Disk> disk{Disk::kFine};
// The number of LMDB's meta page writes that fail. Such a write begins within the first two pages,
// but not at the beginning of a page. After a failed write, LMDB tries to write the old contents
// back.
std::atomic<int> meta_failures{0};

int errno_of(Disk with) {
  switch (with) {
    case Disk::kFull:
      return ENOSPC;
    case Disk::kReadOnly:
      return EROFS;
    case Disk::kQuotaUsedUp:
      return EDQUOT;
    case Disk::kFileTooLarge:
      return EFBIG;
    default:
      return EIO;
  }
}

template <typename Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static const auto real = next_function<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  constexpr off_t kPageBytes = 4096;
  if (meta_failures > 0 && offset < 2 * kPageBytes && offset % kPageBytes != 0) {
    --meta_failures;
    errno = EIO;
    return -1;
  }
  switch (disk.load()) {
    case Disk::kFine:
      return real(fd, bytes, size, offset);
    case Disk::kFullAfterHalf:
      return real(fd, bytes, size / 2, offset);
    default:
      errno = errno_of(disk);
      return -1;
  }
}

extern "C" ssize_t writev(int fd, const struct iovec* parts, int count) {
  static const auto real = next_function<ssize_t (*)(int, const struct iovec*, int)>("writev");
  if (fd <= STDERR_FILENO) return real(fd, parts, count);
  switch (disk.load()) {
    case Disk::kFine:
      return real(fd, parts, count);
    case Disk::kFullAfterHalf:
      return real(fd, parts, 1);
    default:
      errno = errno_of(disk);
      return -1;
  }
}

namespace gridmount::local {
namespace {

using ::testing::HasSubstr;

class EnvironmentTest : public ::testing::Test {
 protected:
  EnvironmentTest() {
    std::string name = (std::filesystem::temp_directory_path() / "environment_test.XXXXXX");
    folder_ = ::mkdtemp(name.data());
  }
  ~EnvironmentTest() override {
    disk = Disk::kFine;
    environment_.reset();
    std::filesystem::remove_all(folder_);
  }

  Environment& open(OpenOptions options = {}) {
    environment_.reset();
    options.create = !options.read_only;
    options.checkpoint_interval = std::chrono::hours(1);
    auto opened = Environment::open(store(), options);
    if (!opened) throw std::runtime_error(opened.error().message());
    environment_ = std::move(opened).value();
    return *environment_;
  }

  std::filesystem::path store() const { return folder_ / "s"; }

  static int put(WriteTransaction& transaction, MDB_dbi tree, const std::string& key,
                 const std::string& value) {
    MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
    MDB_val mdb_value{value.size(), const_cast<char*>(value.data())};
    return mdb_put(transaction.lmdb(), tree, &mdb_key, &mdb_value, 0);
  }

  static std::optional<std::string> get(MDB_txn* txn, MDB_dbi tree, const std::string& key) {
    MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
    MDB_val value;
    if (mdb_get(txn, tree, &mdb_key, &value) != MDB_SUCCESS) return std::nullopt;
    return std::string(static_cast<const char*>(value.mv_data), value.mv_size);
  }

  Status put_one(const std::string& key, const std::string& value, int tree = 0) {
    GM_ASSIGN(WriteTransaction transaction, environment_->begin_write());
    const int code = put(transaction, environment_->tree(tree), key, value);
    if (code != MDB_SUCCESS) return fail(lmdb_error(code, "test"));
    return transaction.commit();
  }

  std::optional<std::string> get_one(const std::string& key, int tree = 0) {
    auto transaction = environment_->begin_read();
    if (!transaction) return "ERROR " + transaction.error().message();
    return get(transaction->lmdb(), environment_->tree(tree), key);
  }

  // Needs more pages than a map of 64 MiB has. LMDB then marks the transaction as unusable.
  void break_inside(WriteTransaction& transaction) {
    MDB_val key{4, const_cast<char*>("huge")};
    MDB_val value{size_t{1} << 27, nullptr};
    EXPECT_EQ(mdb_put(transaction.lmdb(), environment_->tree(1), &key, &value, MDB_RESERVE),
              MDB_MAP_FULL);
  }

  std::filesystem::path folder_;
  std::unique_ptr<Environment> environment_;
};

TEST(ChecksumTest, Crc32c_KnownInput_GivesPublishedValue) {
  const std::string text = "123456789";
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  EXPECT_EQ(crc32c(bytes), 0xE3069283u);
  EXPECT_EQ(crc32c(bytes.subspan(4), crc32c(bytes.first(4))), 0xE3069283u);
  EXPECT_EQ(crc32c({}), 0u);

  // crc32c() sums a few bytes and many bytes in different ways.
  std::vector<uint8_t> many;
  uint32_t byte_by_byte = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    many.push_back(static_cast<uint8_t>(i * 31));
    byte_by_byte = crc32c(std::span(many).last(1), byte_by_byte);
    EXPECT_EQ(crc32c(many), byte_by_byte) << i;
  }
}

TEST(LmdbErrorTest, Table_CodesOfInterest_GiveTheirErrors) {
  EXPECT_EQ(lmdb_error(ENOSPC, "x").code(), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(lmdb_error(EDQUOT, "x").code(), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(lmdb_error(MDB_MAP_FULL, "x").code(), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(lmdb_error(EIO, "x").code(), ErrorCode::kIoError);
  EXPECT_EQ(lmdb_error(EROFS, "x").code(), ErrorCode::kStoreReadOnly);
  EXPECT_EQ(lmdb_error(EACCES, "x").code(), ErrorCode::kPermissionDenied);
  EXPECT_EQ(lmdb_error(MDB_TXN_FULL, "x").code(), ErrorCode::kTransactionTooLarge);
  EXPECT_EQ(lmdb_error(MDB_CORRUPTED, "x").code(), ErrorCode::kStoreDamaged);
  EXPECT_EQ(lmdb_error(MDB_PANIC, "x").code(), ErrorCode::kWritesRefused);
  EXPECT_EQ(lmdb_error(-12345, "x").code(), ErrorCode::kInternalError);
  EXPECT_THAT(lmdb_error(ENOSPC, "writing /a/b").message(), HasSubstr("writing /a/b: "));
}

TEST_F(EnvironmentTest, Commit_ThenRead_SeesIt_AlsoAfterReopening) {
  open();
  ASSERT_TRUE(put_one("k", "v", 127));
  EXPECT_EQ(get_one("k", 127), "v");
  EXPECT_EQ(get_one("k", 126), std::nullopt);
  open();
  EXPECT_EQ(get_one("k", 127), "v");
}

TEST_F(EnvironmentTest, WriteTransaction_DestroyedWithoutCommit_LeavesNothing) {
  Environment& environment = open();
  {
    auto transaction = environment.begin_write();
    ASSERT_TRUE(transaction);
    ASSERT_EQ(put(*transaction, environment.tree(0), "k", "v"), 0);
  }
  EXPECT_EQ(get_one("k"), std::nullopt);
}

TEST_F(EnvironmentTest, WriteTransaction_Doomed_CommitFailsWithFirstErrorAndLeavesNothing) {
  Environment& environment = open();
  auto transaction = environment.begin_write();
  ASSERT_TRUE(transaction);
  ASSERT_EQ(put(*transaction, environment.tree(0), "k", "v"), 0);
  transaction->poison(Error(ErrorCode::kIoError, "first"));
  transaction->poison(Error(ErrorCode::kOutOfDiskSpace, "second"));
  const Status status = transaction->commit();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kIoError);
  EXPECT_EQ(get_one("k"), std::nullopt);
  ASSERT_TRUE(put_one("k", "later"));
  EXPECT_EQ(get_one("k"), "later");
}

TEST_F(EnvironmentTest, WriteTransaction_CommittedTwice_IsAnErrorTheSecondTime) {
  Environment& environment = open();
  auto transaction = environment.begin_write();
  ASSERT_TRUE(transaction);
  ASSERT_TRUE(transaction->commit());
  EXPECT_EQ(transaction->commit().error().code(), ErrorCode::kIllegalOperation);
}

TEST_F(EnvironmentTest, BeginWrite_WhileThisThreadHoldsOne_IsRefusedInsteadOfWaitingForever) {
  Environment& environment = open();
  auto transaction = environment.begin_write();
  ASSERT_TRUE(transaction);
  EXPECT_EQ(environment.begin_write().error().code(), ErrorCode::kIllegalOperation);
  EXPECT_EQ(environment.checkpoint().error().code(), ErrorCode::kIllegalOperation);
  EXPECT_TRUE(transaction->commit());
  EXPECT_TRUE(environment.checkpoint());
}

TEST_F(EnvironmentTest, ReadTransaction_WhileOthersCommit_KeepsItsSnapshot) {
  Environment& environment = open();
  ASSERT_TRUE(put_one("k", "old"));
  auto before = environment.begin_read();
  ASSERT_TRUE(before);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(put_one("k", "new"));
  EXPECT_EQ(get(before->lmdb(), environment.tree(0), "k"), "old");
  ReadTransaction moved = std::move(*before);
  EXPECT_EQ(get(moved.lmdb(), environment.tree(0), "k"), "old");
  EXPECT_EQ(get_one("k"), "new");
}

TEST_F(EnvironmentTest, ReadTransactions_ManyAtATimeAndAgain_AllWork) {
  Environment& environment = open();
  ASSERT_TRUE(put_one("k", "v"));
  for (int round = 0; round < 3; ++round) {
    std::vector<ReadTransaction> held;
    for (int i = 0; i < 1000; ++i) {
      auto transaction = environment.begin_read();
      ASSERT_TRUE(transaction) << transaction.error().message();
      held.push_back(std::move(*transaction));
    }
    EXPECT_EQ(get(held.front().lmdb(), environment.tree(0), "k"), "v");
    EXPECT_EQ(get(held.back().lmdb(), environment.tree(0), "k"), "v");
  }
}

TEST_F(EnvironmentTest, ReadTransactions_BeyondTheTable_AreAnErrorAndTheStoreGoesOn) {
  Environment& environment = open();
  std::vector<ReadTransaction> held;
  std::optional<Error> error;
  for (int i = 0; i < 5000 && !error; ++i) {
    auto transaction = environment.begin_read();
    if (transaction) {
      held.push_back(std::move(*transaction));
    } else {
      error = transaction.error();
    }
  }
  ASSERT_TRUE(error);
  EXPECT_THAT(error->message(), HasSubstr("too many snapshots"));
  ASSERT_TRUE(put_one("k", "v"));
  EXPECT_TRUE(environment.checkpoint());
  held.clear();
  EXPECT_EQ(get_one("k"), "v");
}

// The writers wait in threads of their own until the leader commits.
TEST_F(EnvironmentTest, GroupCommit_WritersQueuedBehindOne_ShareItsCommit) {
  OpenOptions small_map;
  small_map.map_bytes = 64 << 20;
  Environment& environment = open(small_map);
  constexpr int kMembers = 10;
  constexpr int kFailing = 3;  // aborts
  constexpr int kDoomed = 5;
  constexpr int kBroken = 7;  // calls commit() after an error inside LMDB
  auto leader = environment.begin_write();
  ASSERT_TRUE(leader);
  ASSERT_EQ(put(*leader, environment.tree(0), "leader", "v"), 0);
  const uint64_t before = mdb_txn_id(leader->lmdb());
  std::latch started(kMembers);
  std::vector<std::thread> threads;
  std::vector<std::optional<Error>> errors(kMembers);
  for (int i = 0; i < kMembers; ++i) {
    threads.emplace_back([&, i] {
      started.count_down();
      auto transaction = environment.begin_write();
      ASSERT_TRUE(transaction);
      // Nested transactions see what the group has done so far.
      EXPECT_EQ(get(transaction->lmdb(), environment.tree(0), "leader"), "v");
      ASSERT_EQ(put(*transaction, environment.tree(0), "member" + std::to_string(i), "v"), 0);
      if (i == kFailing) return;
      if (i == kDoomed) transaction->poison(Error(ErrorCode::kTransactionTooLarge, "poisoned"));
      if (i == kBroken) {
        break_inside(*transaction);
      }
      if (Status status = transaction->commit(); !status) errors[i] = status.error();
    });
  }
  started.wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until all are in the queue
  ASSERT_TRUE(leader->commit());
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(get_one("leader"), "v");
  for (int i = 0; i < kMembers; ++i) {
    const bool lost = i == kFailing || i == kDoomed || i == kBroken;
    EXPECT_EQ(get_one("member" + std::to_string(i)).has_value(), !lost) << i;
    EXPECT_EQ(errors[i].has_value(), i == kDoomed || i == kBroken) << i;
  }
  EXPECT_EQ(errors[kDoomed]->code(), ErrorCode::kTransactionTooLarge);
  // Without sharing there would be one commit for each of the eight that succeeded.
  auto after = environment.begin_write();
  ASSERT_TRUE(after);
  EXPECT_LT(mdb_txn_id(after->lmdb()) - before, 8u);
}

TEST_F(EnvironmentTest, GroupCommit_LeaderThatFails_TakesNoOneWithIt) {
  OpenOptions small_map;
  small_map.map_bytes = 64 << 20;
  Environment& environment = open(small_map);
  enum class End { kDestroyed, kDoomed, kBroken };
  for (const End end : {End::kDestroyed, End::kDoomed, End::kBroken}) {
    auto leader = environment.begin_write();
    ASSERT_TRUE(leader);
    ASSERT_EQ(put(*leader, environment.tree(0), "leader", "v"), 0);
    std::atomic<int> committed = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back([&] { committed += put_one("k", "v").has_value() ? 1 : 0; });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (end == End::kDestroyed) {
      leader = WriteTransaction();
    } else if (end == End::kDoomed) {
      leader->poison(Error(ErrorCode::kIoError, "poisoned"));
      EXPECT_EQ(leader->commit().error().code(), ErrorCode::kIoError);
    } else {
      break_inside(*leader);
      EXPECT_FALSE(leader->commit());
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(committed, 5);
    EXPECT_EQ(get_one("leader"), std::nullopt);
    EXPECT_EQ(get_one("k"), "v");
  }
}

TEST_F(EnvironmentTest, GroupCommit_FailsOnAFullDisk_FailsForAllOfTheGroup) {
  Environment& environment = open();
  auto leader = environment.begin_write();
  ASSERT_TRUE(leader);
  ASSERT_EQ(put(*leader, environment.tree(0), "leader", "v"), 0);
  std::atomic<int> out_of_space = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([&, i] {
      const Status status = put_one("member" + std::to_string(i), "v");
      if (!status && status.error().code() == ErrorCode::kOutOfDiskSpace) ++out_of_space;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  disk = Disk::kFull;
  const Status status = leader->commit();
  for (std::thread& thread : threads) thread.join();
  disk = Disk::kFine;
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(out_of_space, 5);
  EXPECT_EQ(get_one("leader"), std::nullopt);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(get_one("member" + std::to_string(i)), std::nullopt);
  ASSERT_TRUE(put_one("k", "v"));
}

// Each thread increments a shared counter and its own counter in one transaction. Some of the
// transactions are aborted.
TEST_F(EnvironmentTest, Writers_ManyThreads_LoseAndInventNothing) {
  Environment& environment = open();
  constexpr int kThreads = 8;
  constexpr int kRounds = 300;
  std::vector<std::thread> threads;
  std::atomic<int> durable = 0;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        auto transaction = environment.begin_write();
        ASSERT_TRUE(transaction);
        const std::string own = "thread" + std::to_string(t);
        for (const std::string& key : {std::string("all"), own}) {
          const auto value = get(transaction->lmdb(), environment.tree(0), key);
          ASSERT_EQ(put(*transaction, environment.tree(0), key,
                        std::to_string(std::stoi(value.value_or("0")) + 1)),
                    0);
        }
        // Values of many pages, so that pages are freed and reused.
        ASSERT_EQ(put(*transaction, environment.tree(1 + t % 3), own,
                      std::string(static_cast<size_t>(1 + round % 7) * 9000, 'x')),
                  0);
        if (round % 3 == 1) continue;  // aborts
        ASSERT_TRUE(transaction->commit());
        if (round % 50 == 0 && environment.checkpoint()) ++durable;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  constexpr int kCommitted = kRounds - kRounds / 3;
  EXPECT_EQ(get_one("all"), std::to_string(kThreads * kCommitted));
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(get_one("thread" + std::to_string(t)), std::to_string(kCommitted));
  }
  EXPECT_GT(durable, 0);
  open();
  EXPECT_EQ(get_one("all"), std::to_string(kThreads * kCommitted));
}

// Leaders and members write many pages. This tests what nested transactions do to LMDB's lists of
// pages.
TEST_F(EnvironmentTest, Writers_LargeTransactionsInGroups_KeepTheTreesSound) {
  Environment& environment = open();
  constexpr int kThreads = 6;
  constexpr int kRounds = 12;
  constexpr int kKeys = 400;
  std::vector<std::thread> threads;
  std::vector<std::vector<std::string>> expected(kThreads, std::vector<std::string>(kKeys));
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        auto transaction = environment.begin_write();
        ASSERT_TRUE(transaction);
        const bool gives_up = (round + t) % 4 == 3;
        for (int k = round % 5; k < kKeys; k += 1 + round % 3) {
          const std::string value(static_cast<size_t>(50 + (k * 37 + round * 101) % 6000),
                                  static_cast<char>('a' + (round + t) % 26));
          ASSERT_EQ(put(*transaction, environment.tree(0),
                        std::to_string(k) + "/" + std::to_string(t), value),
                    0);
          if (!gives_up) expected[t][k] = value;
        }
        if (gives_up) continue;
        ASSERT_TRUE(transaction->commit());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  open();
  for (int t = 0; t < kThreads; ++t) {
    for (int k = 0; k < kKeys; ++k) {
      ASSERT_EQ(get_one(std::to_string(k) + "/" + std::to_string(t)).value_or(""), expected[t][k]);
    }
  }
}

TEST_F(EnvironmentTest, FullDisk_DuringCommit_LeavesTheStoreReadableAndWritableAfterwards) {
  open();
  ASSERT_TRUE(put_one("k", "old"));
  const auto data = store() / "data.mdb";
  const auto size = std::filesystem::file_size(data);
  disk = Disk::kFull;
  for (int i = 0; i < 3; ++i) {
    const Status status = put_one("k", std::string(1 << 20, 'x'));
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kOutOfDiskSpace) << status.error().message();
    EXPECT_EQ(get_one("k"), "old");
  }
  disk = Disk::kFine;
  EXPECT_EQ(std::filesystem::file_size(data), size);
  ASSERT_TRUE(put_one("k", "new"));
  EXPECT_EQ(get_one("k"), "new");
  open();
  EXPECT_EQ(get_one("k"), "new");
}

TEST_F(EnvironmentTest, FailingDisk_DuringCommit_IsAnIoErrorAndUndone) {
  open();
  ASSERT_TRUE(put_one("k", "old"));
  for (const Disk failing : {Disk::kBroken, Disk::kFullAfterHalf}) {
    const auto size = std::filesystem::file_size(store() / "data.mdb");
    disk = failing;
    const Status status = put_one("k", std::string(1 << 20, 'x'));
    disk = Disk::kFine;
    ASSERT_FALSE(status);
    // A short write means a full disk only if the disk is full. This disk is not full.
    EXPECT_EQ(status.error().code(), ErrorCode::kIoError) << status.error().message();
    EXPECT_EQ(std::filesystem::file_size(store() / "data.mdb"), size);
    EXPECT_EQ(get_one("k"), "old");
    ASSERT_TRUE(put_one("k", "old"));
  }
}

// While the store is open, the file system becomes read-only, or a quota or a limit is used up.
TEST_F(EnvironmentTest, DiskThatTakesNoMore_DuringCommit_IsSaidAndUndone) {
  open();
  ASSERT_TRUE(put_one("k", "old"));
  const std::map<Disk, ErrorCode> codes = {
      {Disk::kReadOnly, ErrorCode::kStoreReadOnly},
      {Disk::kQuotaUsedUp, ErrorCode::kOutOfDiskSpace},
      {Disk::kFileTooLarge, ErrorCode::kOutOfDiskSpace},
  };
  for (const auto& [with, code] : codes) {
    const auto size = std::filesystem::file_size(store() / "data.mdb");
    disk = with;
    const Status status = put_one("k", std::string(1 << 20, 'x'));
    EXPECT_EQ(get_one("k"), "old");
    disk = Disk::kFine;
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), code) << status.error().message();
    EXPECT_EQ(std::filesystem::file_size(store() / "data.mdb"), size);
    ASSERT_TRUE(put_one("k", "old"));
  }
  open();
  EXPECT_EQ(get_one("k"), "old");
}

TEST_F(EnvironmentTest, FileSizeLimit_IsAnErrorAndNotTheEndOfTheProcess) {
  ::signal(SIGXFSZ, SIG_DFL);
  open();
  ASSERT_TRUE(put_one("k", "old"));
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit limited = before;
  limited.rlim_cur = std::filesystem::file_size(store() / "data.mdb") + (100 << 10);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limited), 0);
  const Status status = put_one("k", std::string(1 << 20, 'x'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kOutOfDiskSpace) << status.error().message();
  EXPECT_EQ(get_one("k"), "old");
  ASSERT_TRUE(put_one("k", "new"));
  open();
  EXPECT_EQ(get_one("k"), "new");
}

// If LMDB cannot write a meta page, it refuses all further work.
TEST_F(EnvironmentTest, MetaPageNotWritten_WritesAreRefusedUntilReopened_NothingIsLost) {
  for (const int failures : {1, 2}) {
    // With the larger values, the roots are behind the old end of the file.
    for (const size_t bytes : {10, 1'000'000}) {
      Environment& environment = open();
      ASSERT_TRUE(put_one("k", "old"));
      ASSERT_TRUE(put_one("k", "old"));
      auto transaction = environment.begin_write();
      ASSERT_TRUE(transaction);
      for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(put(*transaction, environment.tree(i), "k", std::string(bytes, 'n')), 0);
      }
      meta_failures = failures;
      const Status status = transaction->commit();
      meta_failures = 0;
      ASSERT_FALSE(status);
      EXPECT_EQ(status.error().code(), ErrorCode::kIoError);
      EXPECT_EQ(environment.begin_write().error().code(), ErrorCode::kWritesRefused);
      open();
      EXPECT_EQ(get_one("k"), "old");
      ASSERT_TRUE(put_one("k", "new"));
    }
  }
}

TEST_F(EnvironmentTest, MapFull_IsOutOfDiskSpace_AndTheStoreGoesOn) {
  OpenOptions small;
  small.map_bytes = 16 << 20;
  Environment& environment = open(small);
  auto transaction = environment.begin_write();
  ASSERT_TRUE(transaction);
  const int code = put(*transaction, environment.tree(0), "k", std::string(32 << 20, 'x'));
  EXPECT_EQ(lmdb_error(code, "").code(), ErrorCode::kOutOfDiskSpace);
  EXPECT_FALSE(transaction->commit());
  ASSERT_TRUE(put_one("k", "v"));
}

TEST_F(EnvironmentTest, ReadOnly_ReadsAndWritesNothing) {
  open();
  ASSERT_TRUE(put_one("k", "v"));
  environment_.reset();
  std::map<std::filesystem::path, std::filesystem::file_time_type> before;
  for (const auto& entry : std::filesystem::directory_iterator(store())) {
    before[entry.path()] = entry.last_write_time();
  }
  OpenOptions options;
  options.read_only = true;
  Environment& environment = open(options);
  EXPECT_TRUE(environment.read_only());
  EXPECT_EQ(get_one("k"), "v");
  EXPECT_EQ(environment.begin_write().error().code(), ErrorCode::kStoreReadOnly);
  EXPECT_TRUE(environment.checkpoint());
  EXPECT_TRUE(environment.stats());
  environment_.reset();
  std::map<std::filesystem::path, std::filesystem::file_time_type> after;
  for (const auto& entry : std::filesystem::directory_iterator(store())) {
    after[entry.path()] = entry.last_write_time();
  }
  EXPECT_EQ(before, after);
}

TEST_F(EnvironmentTest, Stats_AfterWritingAndRemoving_CountUsedAndFree) {
  Environment& environment = open();
  auto empty = environment.stats();
  ASSERT_TRUE(empty);
  ASSERT_TRUE(put_one("k", std::string(8 << 20, 'x')));
  // The count of free pages is refreshed only after this time.
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  auto full = environment.stats();
  ASSERT_TRUE(full);
  EXPECT_GE(full->used_bytes, empty->used_bytes + (8 << 20));
  EXPECT_GE(full->file_bytes, full->used_bytes);
  EXPECT_GT(full->capacity_bytes, full->file_bytes);
  ASSERT_TRUE(put_one("k", "small"));
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  auto removed = environment.stats();
  ASSERT_TRUE(removed);
  EXPECT_LT(removed->used_bytes, full->used_bytes - (7 << 20));
  EXPECT_GE(removed->file_bytes, full->file_bytes);
}

TEST_F(EnvironmentTest, WillNeed_AnyBytesOfTheMap_IsHarmless) {
  Environment& environment = open();
  ASSERT_TRUE(put_one("k", std::string(300000, 'x')));
  auto transaction = environment.begin_read();
  ASSERT_TRUE(transaction);
  MDB_val key{1, const_cast<char*>("k")};
  MDB_val value;
  ASSERT_EQ(mdb_get(transaction->lmdb(), environment.tree(0), &key, &value), 0);
  system::will_need(value.mv_data, value.mv_size);
  system::will_need(static_cast<const char*>(value.mv_data) + 5, 1);
  system::will_need(value.mv_data, 0);
  EXPECT_EQ(static_cast<const char*>(value.mv_data)[299999], 'x');
}

}  // namespace
}  // namespace gridmount::local
