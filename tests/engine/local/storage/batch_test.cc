// Goal: batches let short transactions share an LMDB commit. The tests cover who shares it, what
// readers see, failing transactions, and what an opening does with the file `pending`.
//
// Method: this program replaces pwrite and writev, so that calls on one file of the store can fail.
// Kills are child processes that end in the middle of their work.
#include "engine/local/storage/batch.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "engine/local/files/lmdb_error.h"
#include "engine/local/storage/lmdb_context.h"
#include "engine/local/storage/write_queue.h"
#include "tests/engine/local/storage/environment_fixture.h"
#include "tests/engine/local/storage/sync_gate.h"

namespace {

std::atomic<int> pending_error{0};  // errno of writes to `pending`
std::atomic<int> data_error{0};     // errno of writes to data.mdb

int error_of(int fd) {
  if (pending_error == 0 && data_error == 0) return 0;
  const std::string name = gridmount::local::testing::file_name_of(fd);
  if (name == "pending") return pending_error;
  return name == "data.mdb" ? data_error.load() : 0;
}

}  // namespace

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static const auto real =
      reinterpret_cast<ssize_t (*)(int, const void*, size_t, off_t)>(dlsym(RTLD_NEXT, "pwrite"));
  if (const int error = error_of(fd); error != 0) {
    errno = error;
    return -1;
  }
  return real(fd, bytes, size, offset);
}

extern "C" ssize_t writev(int fd, const iovec* parts, int count) {
  static const auto real =
      reinterpret_cast<ssize_t (*)(int, const iovec*, int)>(dlsym(RTLD_NEXT, "writev"));
  if (const int error = error_of(fd); error != 0) {
    errno = error;
    return -1;
  }
  return real(fd, parts, count);
}

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

class BatchTest : public testing::EnvironmentFixture {
 protected:
  BatchTest() : EnvironmentFixture("batch_test", engine::TransactionKind::kShort) {}
  ~BatchTest() override {
    pending_error = 0;
    data_error = 0;
  }

  void open(const TestOptions& test = {.small_before_batch = 0}) {
    const Status opened = try_open(store(), test);
    ASSERT_TRUE(opened) << opened.error().message();
  }

  // Writes in a transaction and aborts it.
  Status give_up(const std::string& key) {
    return write([&](Trees& trees) -> Status {
      GM_TRY(trees.put(environment_->tree(0), key, "never"));
      return fail(ErrorCode::kBadValue, "given up");
    });
  }
  uint64_t commits() const { return environment_->last_transaction(); }
};

TEST_F(BatchTest, SmallTransactionsInARow_ShareACommit_AndAreReadAtOnce) {
  open(TestOptions());
  const uint64_t before = commits();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(put("k" + std::to_string(i), "1"));
  // The batch may have reached its time limit in between.
  EXPECT_LE(commits(), before + WriteQueue::kSmallBeforeBatch + 20);
  EXPECT_GE(commits(), before + WriteQueue::kSmallBeforeBatch);
  EXPECT_EQ(get("k39"), "1");
  EXPECT_EQ(get("k8"), "1");
}

TEST_F(BatchTest, WhoReadsAfterEachWrite_HasNoBatches) {
  open(TestOptions());
  const uint64_t before = commits();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(put("k", std::to_string(i)));
    ASSERT_EQ(get("k"), std::to_string(i));
  }
  EXPECT_EQ(commits(), before + 40);
}

TEST_F(BatchTest, ShortReads_DoNotEndIt) {
  open();
  const uint64_t before = commits();
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(put("k", std::to_string(i)));
    ASSERT_EQ(get_shortly("k"), std::to_string(i));
  }
  // The batch may reach its time limit at any of the reads, but not at all of them.
  EXPECT_GT(reads_in_batches_, 0);
  EXPECT_LT(commits(), before + 150);
  EXPECT_EQ(get("k"), "199");
  EXPECT_EQ(get_shortly("k"), "199");
}

TEST_F(BatchTest, ShortReads_DoNotKeepItFromBeginning) {
  open(TestOptions());
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(put("k", std::to_string(i)));
    ASSERT_EQ(get_shortly("k"), std::to_string(i));
  }
  EXPECT_GT(reads_in_batches_, 0);
}

TEST_F(BatchTest, ShortRead_OwnTransactionIsOpen_IsRefused) {
  open();
  ASSERT_TRUE(put("a", "1"));
  ASSERT_TRUE(write([&](Trees&) -> Status {
    EXPECT_THAT(get_shortly("a"), HasSubstr("read in that one"));
    return {};
  }));
  EXPECT_EQ(get_shortly("a"), "1");
}

// A short read sees every commit that was acknowledged before it, whichever thread ends the batch.
TEST_F(BatchTest, ShortReads_BesideWritersAndReaders_SeeWhatIsCommitted) {
  open();
  ASSERT_TRUE(put("k", "0"));
  std::atomic<int> committed = 0;
  std::atomic<bool> done = false;
  std::atomic<int> stale = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&, reader] {
      for (int i = 0; !done; ++i) {
        const int least = committed;
        const std::string value = reader == 0 && i % 8 == 0 ? get("k") : get_shortly("k");
        if (value.empty() || value.starts_with("ERROR") || std::stoi(value) < least) ++stale;
      }
    });
  }
  for (int i = 1; i <= 500; ++i) {
    const bool is_short = i % 50 != 0;
    kind_ = is_short ? engine::TransactionKind::kShort : engine::TransactionKind::kMayBlock;
    EXPECT_TRUE(put("k", std::to_string(i)));
    if (i % 30 == 0) {
      EXPECT_FALSE(give_up("k"));
    }
    committed = i;
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(stale, 0);
  EXPECT_EQ(get("k"), "500");
}

// W12: while a batch can be neither committed nor replayed, only short reads can read.
TEST_F(BatchTest, ItsCommitFails_ShortReadsGoOn) {
  open();
  ASSERT_TRUE(put("a", "1"));
  data_error = EIO;
  EXPECT_THAT(get("a"), HasSubstr("not in data.mdb yet"));
  EXPECT_EQ(get_shortly("a"), "1");
  EXPECT_FALSE(put("a", "2"));
  EXPECT_EQ(get_shortly("a"), "1");
  data_error = 0;
  EXPECT_EQ(get_shortly("a"), "1");
  EXPECT_EQ(get("a"), "1");
  EXPECT_TRUE(put("a", "3"));
  EXPECT_EQ(get("a"), "3");
}

TEST_F(BatchTest, NobodyAddsToIt_IsCommittedByItself) {
  open();
  const uint64_t before = commits();
  ASSERT_TRUE(put("k", "1"));
  ASSERT_TRUE(put("k", "2"));
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (commits() == before && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_GT(commits(), before);
}

TEST_F(BatchTest, SeveralWriters_EachHasItsOwn) {
  open();
  std::vector<std::thread> writers;
  std::atomic<int> failed = 0;
  for (int writer = 0; writer < 8; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 200; ++i) {
        const std::string key = std::to_string(writer) + "/" + std::to_string(i % 20);
        if (i % 7 == 3) {
          if (give_up(key)) ++failed;
          continue;
        }
        if (!put(key, std::to_string(i))) ++failed;
        if (i % 50 == 0 && get(key) != std::to_string(i)) ++failed;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);
  for (int writer = 0; writer < 8; ++writer) {
    for (int i = 180; i < 200; ++i) {
      // A key whose last transaction was aborted has the value from before.
      const int last = i % 7 == 3 ? i - 20 : i;
      EXPECT_EQ(get(std::to_string(writer) + "/" + std::to_string(i % 20)), std::to_string(last));
    }
  }
}

TEST_F(BatchTest, OneThatIsGivenUp_TakesNoOtherWithIt) {
  open();
  ASSERT_TRUE(put("a", "1"));
  ASSERT_TRUE(put("b", "1"));
  ASSERT_FALSE(give_up("a"));
  ASSERT_TRUE(write([&](Trees& trees) { return trees.remove(environment_->tree(0), "b"); }));
  ASSERT_FALSE(give_up("c"));
  ASSERT_TRUE(put("d", "1"));
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("b"), "");
  EXPECT_EQ(get("c"), "");
  EXPECT_EQ(get("d"), "1");
  // The next transaction is the first of a batch.
  ASSERT_FALSE(give_up("a"));
  ASSERT_TRUE(put("e", "1"));
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("e"), "1");
}

TEST_F(BatchTest, LargeOne_IsCommittedWithTheOthers) {
  open();
  const std::string large(RedoChanges::kBytesMax + 1, 'x');
  ASSERT_TRUE(put("a", "1"));
  const uint64_t before = commits();
  ASSERT_TRUE(put("large", large));
  EXPECT_EQ(commits(), before + 1);
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("large"), large);
}

TEST_F(BatchTest, OwnTransactionIsOpen_ReadingIsRefused_IfItWouldMissSomething) {
  open();
  ASSERT_TRUE(put("a", "1"));
  ASSERT_TRUE(write([&](Trees&) -> Status {
    EXPECT_THAT(get("a"), HasSubstr("read in that one"));
    return {};
  }));
  EXPECT_EQ(get("a"), "1");
}

// D14: the kernel has everything that was acknowledged.
TEST_F(BatchTest, Killed_HasAllThatWasCommitted) {
  in_killed_process([&] {
    open();
    for (int i = 0; i < 300; ++i) (void)put("k" + std::to_string(i), std::to_string(i));
    (void)give_up("k7");
    (void)write([&](Trees& trees) { return trees.remove(environment_->tree(0), "k9"); });
    (void)put("last", "1");
  });
  open();
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(get("k" + std::to_string(i)), i == 9 ? "" : std::to_string(i));
  }
  EXPECT_EQ(get("last"), "1");
}

// A flipped bit may change the version in the file `format` to an older one.
TEST_F(BatchTest, KilledAndOfAnOlderFormat_IsRefused) {
  in_killed_process([&] {
    open();
    for (int i = 0; i < 8; ++i) (void)put("k", std::to_string(i));
  });
  for (const char* version : {"1", "2"}) {
    std::ofstream(store() / "format", std::ios::trunc)
        << "gridmount store\nformat " << version << "\n";
    for (const bool read_only : {true, false}) {
      options_.create = !read_only;
      options_.read_only = read_only;
      const Status opened = try_open(store());
      ASSERT_FALSE(opened);
      EXPECT_EQ(opened.error().code(), ErrorCode::kStoreDamaged);
      EXPECT_THAT(opened.error().message(), HasSubstr("'format 3'"));
    }
  }
  std::ofstream(store() / "format", std::ios::trunc) << "gridmount store\nformat 3\n";
  open();
  EXPECT_EQ(get("k"), "7");
}

TEST_F(BatchTest, KilledAgainAndAgain_NothingOfAnEarlierLifeComesBack) {
  for (int life = 0; life < 6; ++life) {
    in_killed_process([&] {
      open();
      // Fewer records each time, so that older records follow them in the file.
      for (int i = life; i < 8; ++i) (void)put("k" + std::to_string(i), std::to_string(life));
    });
  }
  open();
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(get("k" + std::to_string(i)), std::to_string(std::min(i, 5)));
}

// D14: after a power loss, `pending` is not replayed. Only the log has what was durable.
TEST_F(BatchTest, PowerLoss_WhatIsPendingIsNotBelieved) {
  options_.redo_bytes = 0;
  in_killed_process([&] {
    open();
    (void)put("a", "1");
    (void)environment_->checkpoint();
    (void)put("a", "2");
  });
  ASSERT_TRUE(try_open(store(), {.boot_id = "another boot"}));
  EXPECT_EQ(get("a"), "1");
  environment_.reset();
  // The old `pending` is not used after a kill of the next owner either.
  in_killed_process([&] {
    if (try_open(store(), {.boot_id = "another boot", .small_before_batch = 0})) {
      (void)put("b", "1");
    }
  });
  ASSERT_TRUE(try_open(store(), {.boot_id = "another boot"}));
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("b"), "1");
}

// D9: a durable request includes commits of the batch that LMDB has not committed.
TEST_F(BatchTest, DurableRequest_CoversTheBatch_AndLetsItGoOn) {
  open();
  const uint64_t before = commits();
  ASSERT_TRUE(put("a", "1"));
  ASSERT_TRUE(put("b", "1"));
  ASSERT_TRUE(environment_->make_durable());
  ASSERT_TRUE(put("a", "2"));
  ASSERT_TRUE(environment_->make_durable());
  ASSERT_TRUE(put("b", "2"));
  // The batch may have reached its time limit in between.
  EXPECT_LE(commits(), before + 2);
  const fs::path crashed = folder_ / "crashed";
  fs::copy(store(), crashed);
  ASSERT_TRUE(try_open(crashed, {.boot_id = "another boot"}));
  EXPECT_EQ(get("a"), "2");
  EXPECT_EQ(get("b"), "1");
}

TEST_F(BatchTest, DurableRequests_WithBatchesOfAllKinds_AreAnsweredByTheLog) {
  open();
  const std::string large(RedoChanges::kBytesMax * 3 / 4, 'x');
  for (int i = 0; i < 30; ++i) {
    const std::string key = std::to_string(i);
    ASSERT_TRUE(put(key, i % 7 == 5 ? large : "1"));
    EXPECT_TRUE(i % 5 != 2 || !give_up(key));
    EXPECT_TRUE(i % 3 == 0 || environment_->make_durable());
    EXPECT_TRUE(i % 6 != 4 || get(key) == (i % 7 == 5 ? large : "1"));
  }
  ASSERT_TRUE(environment_->make_durable());
  ASSERT_TRUE(put("29", "2"));
  const fs::path crashed = folder_ / "crashed";
  fs::copy(store(), crashed);
  ASSERT_TRUE(try_open(crashed, {.boot_id = "another boot"}));
  for (int i = 0; i < 30; ++i) EXPECT_EQ(get(std::to_string(i)), i % 7 == 5 ? large : "1") << i;
}

// D15: the next owner's first checkpoint has the state of LMDB. The log counts until LMDB has the
//      other changes.
TEST_F(BatchTest, KilledThenPowerLoss_WhatWasDurableIsThere) {
  in_killed_process([&] {
    open();
    (void)put("a", "1");
    (void)environment_->checkpoint();
    (void)put("a", "2");
    (void)environment_->make_durable();
    (void)put("b", "1");
  });
  const fs::path crashed = folder_ / "crashed";
  fs::copy(store(), crashed);
  // Replaying `pending` fails.
  data_error = EIO;
  EXPECT_FALSE(try_open(store()));
  data_error = 0;
  ASSERT_TRUE(try_open(store(), {.boot_id = "another boot"}));
  EXPECT_EQ(get("a"), "2");
  EXPECT_EQ(get("b"), "");
  // The copy does not have the first of the two checkpoints.
  ASSERT_TRUE(try_open(crashed, {.boot_id = "another boot"}));
  EXPECT_EQ(get("a"), "2");
}

TEST_F(BatchTest, ReadOnly_OfAStoreThatWasKilled_IsRefused) {
  in_killed_process([&] {
    open();
    (void)put("a", "1");
  });
  options_.create = false;
  options_.read_only = true;
  const Status opened = try_open(store());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kStoreReadOnly);
  EXPECT_THAT(opened.error().message(), HasSubstr("open it for writing once"));
  options_.read_only = false;
  open();
  environment_.reset();
  options_.read_only = true;
  ASSERT_TRUE(try_open(store()));
  EXPECT_EQ(get("a"), "1");
}

TEST_F(BatchTest, PendingCannotBeWritten_CommitsOneByOne) {
  open();
  ASSERT_TRUE(put("a", "1"));
  pending_error = EIO;
  const uint64_t before = commits();
  ASSERT_TRUE(put("a", "2"));
  EXPECT_EQ(commits(), before + 1);
  pending_error = 0;
  ASSERT_TRUE(put("a", "3"));
  EXPECT_EQ(commits(), before + 2);
  EXPECT_EQ(get("a"), "3");
}

TEST_F(BatchTest, NoRoomForPending_ThereAreNoBatches) {
  pending_error = ENOSPC;
  open();
  pending_error = 0;
  const uint64_t before = commits();
  ASSERT_TRUE(put("a", "1"));
  ASSERT_TRUE(put("a", "2"));
  EXPECT_EQ(commits(), before + 2);
}

// A transaction that does not fit in `pending` fails with LMDB's commit. The transactions before it
// do not fail.
TEST_F(BatchTest, LargeOneFails_TheOthersStay) {
  open();
  ASSERT_TRUE(put("a", "1"));
  data_error = EIO;
  EXPECT_FALSE(put("large", std::string(RedoChanges::kBytesMax + 1, 'x')));
  data_error = 0;
  const Status after = put("b", "1");
  ASSERT_TRUE(after) << after.error().message();
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("b"), "1");
  EXPECT_EQ(get("large"), "");
}

TEST_F(BatchTest, CommitFails_NothingIsReadOrWritten_UntilItSucceeds) {
  open();
  ASSERT_TRUE(put("a", "1"));
  ASSERT_TRUE(put("b", "1"));
  data_error = EDQUOT;
  EXPECT_THAT(get("a"), HasSubstr("not in data.mdb yet"));
  const Status written = put("c", "1");
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message(), HasSubstr("not in data.mdb yet"));
  EXPECT_TRUE(environment_->make_durable());  // the log has the changes
  EXPECT_FALSE(environment_->checkpoint());
  data_error = 0;
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("b"), "1");
  EXPECT_EQ(get("c"), "");
  ASSERT_TRUE(put("c", "1"));
  EXPECT_EQ(get("c"), "1");
}

TEST_F(BatchTest, CommitFails_ClosedAndOpenedAgain_HasAllThatWasCommitted) {
  open();
  ASSERT_TRUE(put("a", "1"));
  ASSERT_TRUE(put("b", "1"));
  data_error = EIO;
  environment_.reset();
  data_error = 0;
  open();
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get("b"), "1");
}

// The end of the map limits what can be committed, like the end of the disk.
TEST_F(BatchTest, UpToTheEndOfTheMap_NothingThatWasCommittedIsLost) {
  options_.map_bytes = uint64_t{20} << 20;
  open();
  const std::string value(700, 'x');
  int committed = 0;
  while (put("k" + std::to_string(committed), value)) ++committed;
  EXPECT_EQ(get("k" + std::to_string(committed - 1)), value);
  EXPECT_EQ(get("k" + std::to_string(committed)), "");
  open();
  EXPECT_EQ(get("k" + std::to_string(committed - 1)), value);
}

TEST_F(BatchTest, TransactionsThatChangeNothingOrFail_LetItEnd) {
  open();
  ASSERT_TRUE(put("a", "1"));
  const uint64_t before = commits();
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (commits() == before && std::chrono::steady_clock::now() < deadline) {
    ASSERT_FALSE(give_up("a"));
  }
  EXPECT_GT(commits(), before);
}

TEST_F(BatchTest, OldFormat_HasNoBatches_UpgradedFromTheNextOpeningOn) {
  open();
  environment_.reset();
  fs::remove(store() / "pending");
  std::ofstream(store() / "format", std::ios::trunc) << "gridmount store\nformat 2\n";
  options_.upgrade = true;
  open();
  uint64_t before = commits();
  ASSERT_TRUE(put("a", "1"));
  ASSERT_TRUE(put("a", "2"));
  EXPECT_EQ(commits(), before + 2);
  open();
  EXPECT_EQ(environment_->format_version(), kFormatVersion);
  before = commits();
  ASSERT_TRUE(put("a", "3"));
  EXPECT_EQ(commits(), before);
  EXPECT_EQ(get("a"), "3");
}

// W6: the writer that meets the fault reports it before any other thread gets the lock. The queue
//     has an LMDB environment of its own. When a batch is made again there, meet_fault simulates a
//     fault.
TEST_F(BatchTest, FaultWhileItIsMadeAgain_RefusesWritesBeforeTheLockPassesOn) {
  // `env` is never closed, because after a fault LMDB's locks are held, and closing it would free
  // them.
  static MDB_env* env = nullptr;
  static LmdbContext context;
  const fs::path folder = folder_ / "q";
  fs::create_directory(folder);
  ASSERT_EQ(mdb_env_create(&env), 0);
  ASSERT_EQ(mdb_env_set_mapsize(env, size_t{256} << 20), 0);
  ASSERT_EQ(mdb_env_open(env, folder.c_str(), MDB_NOSYNC, 0600), 0);
  mdb_env_set_userctx(env, &context);
  MDB_txn* opening = nullptr;
  MDB_dbi tree = 0;
  ASSERT_EQ(mdb_txn_begin(env, nullptr, 0, &opening), 0);
  ASSERT_EQ(mdb_dbi_open(opening, nullptr, 0, &tree), 0);
  ASSERT_EQ(mdb_txn_commit(opening), 0);
  Result<system::File> pending = system::File::open(folder / "pending", O_RDWR | O_CREAT);
  ASSERT_TRUE(pending);

  SpaceReserve reserve(folder);
  RedoLog log(RedoFile(), {});
  bool answers = true;
  const auto found_unreadable = [&]() -> std::optional<Error> {
    if (!answers || !context.interrupted) return std::nullopt;
    return Error(ErrorCode::kWritesRefused, "a fault");
  };
  const auto meet_fault = [](std::string_view, MDB_txn*) -> Status {
    context.wrote(kLmdbFault);
    return fail(ErrorCode::kWritesRefused, "a fault");
  };
  WriteQueue queue(
      env, reserve, SizeLimit(env, 0), log, PendingFile(std::move(*pending), {}),
      {[](int code) { return lmdb_error(code, "committing"); }, found_unreadable, meet_fault},
      {.small_before_batch = 0});
  queue.allow_batches();
  const auto put_in = [&](WriteTransaction& transaction) {
    MDB_val key = to_mdb("k");
    MDB_val value = to_mdb("v");
    ASSERT_EQ(mdb_put(transaction.lmdb(), tree, &key, &value, 0), 0);
    RedoChanges changes;
    changes.put(0, "k", "v");
    transaction.log(std::move(changes));
  };
  {
    Result<WriteTransaction> committed = queue.begin(engine::TransactionKind::kShort);
    ASSERT_TRUE(committed);
    put_in(*committed);
    ASSERT_TRUE(committed->commit());
    ASSERT_FALSE(queue.is_flushed());
    Result<WriteTransaction> given_up = queue.begin(engine::TransactionKind::kShort);
    ASSERT_TRUE(given_up);
    put_in(*given_up);
  }
  // From here on, only the queue itself knows of the fault.
  answers = false;
  ASSERT_TRUE(queue.refusal());
  EXPECT_THAT(queue.refusal()->message(), HasSubstr("a fault"));
  EXPECT_FALSE(queue.begin(engine::TransactionKind::kShort));
}

std::string record(uint64_t snapshot, uint32_t index, const std::string& changes,
                   const LogId& id = {1, 2, 3}) {
  std::vector<uint8_t> bytes;
  format_pending_record(id, snapshot, index, changes, bytes);
  return {bytes.begin(), bytes.end()};
}

class PendingFileTest : public BatchTest {
 protected:
  PendingContents read(const std::string& bytes, uint64_t snapshot) {
    std::ofstream(folder_ / "pending", std::ios::trunc | std::ios::binary) << bytes;
    auto file = system::File::open(folder_ / "pending", O_RDONLY);
    EXPECT_TRUE(file);
    auto read_view = read_pending(*file, snapshot);
    EXPECT_TRUE(read_view);
    return *read_view;
  }
};

// D14: a record counts if its snapshot, its index and its id are right.
TEST_F(PendingFileTest, RecordsOfTheSnapshot_InOrder_Count) {
  const std::string first = record(7, 0, "one");
  const std::string second = record(7, 1, "two");
  EXPECT_THAT(read("", 7).changes, ::testing::IsEmpty());
  EXPECT_THAT(read(first + second, 7).changes, ::testing::ElementsAre("one", "two"));
  EXPECT_THAT(read(first + second + std::string(500, '\0'), 7).changes, ::testing::SizeIs(2));
  EXPECT_THAT(read(first + second, 8).changes, ::testing::IsEmpty());
  // An earlier batch has left these records.
  const PendingContents read_view = read(first + record(6, 1, "old") + record(6, 2, "old"), 7);
  EXPECT_THAT(read_view.changes, ::testing::ElementsAre("one"));
  EXPECT_FALSE(read_view.is_damaged);
  // These bytes in a document look like a record. Their author cannot know the id.
  const PendingContents forged = read(first + record(7, 1, "forged", {4, 5, 6}), 7);
  EXPECT_THAT(forged.changes, ::testing::ElementsAre("one"));
  EXPECT_FALSE(forged.is_damaged);
}

TEST_F(PendingFileTest, ChangedBytes_EndIt_AndAreDamageIfMoreFollows) {
  const std::string first = record(7, 0, "one");
  const std::string second = record(7, 1, "two");
  const std::string both = first + second;
  for (size_t i = 0; i < both.size(); ++i) {
    std::string changed = both;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    const PendingContents read_view = read(changed, 7);
    EXPECT_EQ(read_view.changes.size(), i < first.size() ? 0 : 1) << i;
    EXPECT_EQ(read_view.is_damaged, i < first.size()) << i;
  }
  for (size_t size = 0; size < both.size(); ++size) {
    const PendingContents read_view = read(both.substr(0, size), 7);
    EXPECT_EQ(read_view.changes.size(), size < first.size() ? 0 : 1) << size;
    EXPECT_FALSE(read_view.is_damaged) << size;
  }
}

}  // namespace
}  // namespace gridmount::local
