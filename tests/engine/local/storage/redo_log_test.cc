// Goal: the log answers durable requests, lets them share a sync, and handles failing syncs, and an
// opening replays it.
//
// Method: this program replaces fdatasync and pwrite, which count, delay and fail the calls on one
// file of the store. A power loss is an opening with another boot id.
#include "engine/local/storage/redo_log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "engine/local/files/lock_file.h"
#include "tests/engine/local/storage/environment_fixture.h"
#include "tests/engine/local/storage/sync_gate.h"

namespace {

using gridmount::local::testing::file_name_of;
using gridmount::local::testing::SyncGate;

std::atomic<int> redo_syncs{0};
std::atomic<int> other_syncs{0};
std::atomic<int> sync_error{0};   // errno of syncs of `redo`
std::atomic<int> write_error{0};  // errno of writes to `redo`

SyncGate gate;  // for syncs of `redo`

bool is_redo(int fd) {
  return file_name_of(fd) == "redo";
}

}  // namespace

extern "C" int fdatasync(int fd) {
  if (!is_redo(fd)) {
    ++other_syncs;
    return 0;
  }
  ++redo_syncs;
  gate.pass();
  if (sync_error == 0) return 0;
  errno = sync_error;
  return -1;
}

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static const auto real =
      reinterpret_cast<ssize_t (*)(int, const void*, size_t, off_t)>(dlsym(RTLD_NEXT, "pwrite"));
  if (write_error != 0 && is_redo(fd)) {
    errno = write_error;
    return -1;
  }
  return real(fd, bytes, size, offset);
}

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

class RedoLogTest : public testing::EnvironmentFixture {
 protected:
  RedoLogTest() : EnvironmentFixture("redo_log_test", engine::TransactionKind::kMayBlock) {
    options_.redo_bytes = 64 << 10;
  }
  ~RedoLogTest() override {
    gate.set(false);
    sync_error = 0;
    write_error = 0;
  }

  fs::path crashed() const { return folder_ / "crashed"; }

  void open() { ASSERT_TRUE(try_open(store())); }
  // Copies the files as the kernel has them at this moment, and closes the store. open_crashed()
  // opens the copy as after a reboot. All unsynced data happens to be on the disk, but data.mdb's
  // meta pages are restored all the same.
  void crash() {
    fs::remove_all(crashed());
    fs::copy(store(), crashed());
    environment_.reset();
  }
  Status open_crashed() { return try_open(crashed(), {.boot_id = "another boot"}); }

  Status put_durable(const std::string& key, const std::string& value) {
    GM_TRY(put(key, value));
    return environment_->make_durable();
  }
  OwnerMark mark_of(const fs::path& folder) const {
    std::ifstream file(folder / "owner", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return parse_owner_mark(text).value_or(OwnerMark());
  }

  // Returns the numbers of syncs of `redo` and of other files that `call` causes.
  template <typename Call>
  std::pair<int, int> syncs_of(Call call) {
    const int redo = redo_syncs;
    const int other = other_syncs;
    call();
    return {redo_syncs - redo, other_syncs - other};
  }
};

using Syncs = std::pair<int, int>;
constexpr Syncs kOfTheLog = {1, 0};
constexpr Syncs kOfACheckpoint = {0, 2};
constexpr Syncs kNone = {0, 0};

// D9: a durable request returns after the sync of its record.
TEST_F(RedoLogTest, SmallCommit_TakesOneSync_AndSurvives) {
  open();
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "1")); }), kOfTheLog);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(environment_->make_durable()); }), kNone);
  // Commits that nobody waited for are included.
  ASSERT_TRUE(put("l", "2"));
  ASSERT_TRUE(put("k", "3"));
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("m", "4")); }), kOfTheLog);
  ASSERT_TRUE(put("m", "lost"));
  crash();
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "3");
  EXPECT_EQ(get("l"), "2");
  EXPECT_EQ(get("m"), "4");
  EXPECT_EQ(mark_of(crashed()).state, OwnerState::kOpen);
  EXPECT_EQ(mark_of(crashed()).boot_id, "another boot");
}

TEST_F(RedoLogTest, RemovedAndReservedValues_AreReplayed) {
  open();
  ASSERT_TRUE(put_durable("k", "1"));
  ASSERT_TRUE(environment_->checkpoint());
  {
    auto transaction = environment_->begin_write();
    ASSERT_TRUE(transaction);
    Trees trees(transaction->lmdb(), handles_, true);
    ASSERT_TRUE(trees.remove(environment_->tree(0), "k"));
    for (const char* key : {"a", "b"}) {
      const auto place = trees.reserve(environment_->tree(0), key, 5000);
      ASSERT_TRUE(place);
      std::fill_n(*place, 5000, static_cast<uint8_t>(*key));
    }
    transaction->log(trees.take_changes());
    trees.end();
    ASSERT_TRUE(transaction->commit());
  }
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(environment_->make_durable()); }), kOfTheLog);
  crash();
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "");
  EXPECT_EQ(get("a"), std::string(5000, 'a'));
  EXPECT_EQ(get("b"), std::string(5000, 'b'));
}

// D10: after a gap, no record is written until a checkpoint has the missing changes.
TEST_F(RedoLogTest, WhatIsNotForTheLog_TakesACheckpoint_AndTheLogGoesOnBehindIt) {
  open();
  ASSERT_TRUE(put_durable("k", "1"));
  const std::string large(RedoChanges::kBytesMax, 'x');
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("large", large)); }), kOfACheckpoint);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "2")); }), kOfTheLog);
  // Here a small transaction follows a large one that is not durable.
  ASSERT_TRUE(put("large", large + "2"));
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "3")); }), kOfACheckpoint);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "4")); }), kOfTheLog);
  crash();
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "4");
  EXPECT_EQ(get("large"), large + "2");
}

TEST_F(RedoLogTest, TransactionThatDoesNotSayWhatItChanges_TakesACheckpoint) {
  open();
  {
    auto transaction = environment_->begin_write();
    ASSERT_TRUE(transaction);
    Trees trees(transaction->lmdb(), handles_, true);
    ASSERT_TRUE(trees.put(environment_->tree(0), "k", "v"));
    trees.end();
    ASSERT_TRUE(transaction->commit());
  }
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(environment_->make_durable()); }), kOfACheckpoint);
}

TEST_F(RedoLogTest, FailedAndEmptyTransactions_LeaveNothingInTheLog) {
  open();
  {
    auto transaction = environment_->begin_write();
    ASSERT_TRUE(transaction);
    Trees trees(transaction->lmdb(), handles_, true);
    ASSERT_TRUE(trees.put(environment_->tree(0), "k", "given up"));
    transaction->log(trees.take_changes());
  }
  {
    auto transaction = environment_->begin_write();
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(transaction->commit());
  }
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(environment_->make_durable()); }), kNone);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("l", "1")); }), kOfTheLog);
  crash();
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "");
  EXPECT_EQ(get("l"), "1");
}

// D10: if too many changes wait to be written, there is a gap as well.
TEST_F(RedoLogTest, MoreThanWaits_IsLeftToACheckpoint) {
  options_.redo_bytes = 4 * RedoLog::kWaitingBytesMax;
  open();
  const std::string value(60'000, 'x');
  for (size_t bytes = 0; bytes < RedoLog::kWaitingBytesMax; bytes += value.size()) {
    ASSERT_TRUE(put("k", value));
  }
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "1")); }), kOfACheckpoint);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "2")); }), kOfTheLog);
}

TEST_F(RedoLogTest, FullLog_GoesOnInTheOtherSegment_AfterACheckpoint) {
  open();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(put_durable("k", std::to_string(i)));
  crash();
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "99");
}

// D9: records are written one at a time, and no request returns before the sync of its record.
TEST_F(RedoLogTest, Requests_WhileARecordIsSynced_ShareTheNext) {
  open();
  ASSERT_TRUE(put("k", "0"));
  gate.set(true);
  std::thread first([&] { EXPECT_TRUE(environment_->make_durable()); });
  gate.wait_for_sync();
  const int before = redo_syncs;
  std::vector<std::thread> others;
  std::atomic<int> returned = 0;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back([&, i] {
      EXPECT_TRUE(put_durable("k" + std::to_string(i), "v"));
      ++returned;
    });
  }
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(returned, 0);
  gate.set(false);
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(redo_syncs, before + 1);
  crash();
  ASSERT_TRUE(open_crashed());
  for (int i = 0; i < 8; ++i) EXPECT_EQ(get("k" + std::to_string(i)), "v");
}

// D8: a failed sync of the log is final, too.
TEST_F(RedoLogTest, FailedSync_RefusesWritesUntilReopened) {
  open();
  ASSERT_TRUE(put_durable("k", "durable"));
  sync_error = EIO;
  const Status failed = put_durable("k", "not");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kWritesRefused);
  EXPECT_THAT(failed.error().message(), HasSubstr("redo"));
  sync_error = 0;
  const auto none = [&] {
    EXPECT_EQ(put("k", "refused").error().code(), ErrorCode::kWritesRefused);
    EXPECT_EQ(environment_->make_durable().error().code(), ErrorCode::kWritesRefused);
    EXPECT_EQ(environment_->checkpoint().error().code(), ErrorCode::kWritesRefused);
  };
  EXPECT_EQ(syncs_of(none), kNone);
  EXPECT_EQ(mark_of(store()).state, OwnerState::kFailed);
  environment_.reset();
  EXPECT_EQ(mark_of(store()).state, OwnerState::kFailed);
  open();
  // The changes of the failed record may or may not be there. The durable ones must be.
  EXPECT_THAT(get("k"), ::testing::AnyOf("durable", "not"));
  EXPECT_TRUE(put_durable("k", "again"));
}

TEST_F(RedoLogTest, DataRemovedUnderItsOwner_IsNotDurable) {
  open();
  ASSERT_TRUE(put_durable("k", "1"));
  fs::remove(store() / "data.mdb");
  const Status durable = put_durable("k", "2");
  ASSERT_FALSE(durable);
  EXPECT_EQ(durable.error().code(), ErrorCode::kWritesRefused);
  EXPECT_THAT(durable.error().message(), HasSubstr("data.mdb was removed"));
}

// D8: after a failed write, checkpoints take the place of records.
TEST_F(RedoLogTest, FailedWrite_LosesNothing_CheckpointsTakeItsPlace) {
  open();
  ASSERT_TRUE(put_durable("k", "1"));
  write_error = ENOSPC;
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "2")); }), kOfACheckpoint);
  write_error = 0;
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "3")); }), kOfACheckpoint);
  environment_.reset();
  open();
  EXPECT_EQ(get("k"), "3");
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "4")); }), kOfTheLog);
}

TEST_F(RedoLogTest, NoRoomForTheLog_CheckpointsTakeItsPlace) {
  write_error = ENOSPC;
  open();
  write_error = 0;
  EXPECT_EQ(fs::file_size(store() / "redo"), 0U);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "1")); }), kOfACheckpoint);
  crash();
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "1");
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "2")); }), kOfTheLog);
}

// D6: `closed` says that data.mdb has everything that the log had.
TEST_F(RedoLogTest, ClosedStore_NeedsNoLog) {
  open();
  ASSERT_TRUE(put_durable("k", "1"));
  environment_.reset();
  fs::remove(store() / "redo");
  ASSERT_TRUE(try_open(store(), {.boot_id = "another boot"}));
  EXPECT_EQ(get("k"), "1");
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "2")); }), kOfTheLog);
}

// D6: the slot says that there is a log.
TEST_F(RedoLogTest, StoreThatNeedsItsLog_WithoutIt_IsStoreDamaged) {
  open();
  ASSERT_TRUE(put_durable("k", "1"));
  crash();
  fs::remove(crashed() / "redo");
  const Status opened = open_crashed();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kStoreDamaged);
  EXPECT_THAT(opened.error().message(), HasSubstr("redo"));
}

TEST_F(RedoLogTest, AbsurdlyLarge_IsReplayedAndBroughtBack) {
  options_.redo_bytes = kRedoBytes;
  open();
  ASSERT_TRUE(put_durable("k", "1"));
  crash();
  fs::resize_file(crashed() / "redo", uint64_t{3} << 40);
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "1");
  EXPECT_EQ(fs::file_size(crashed() / "redo"), kRedoBytes);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "2")); }), kOfTheLog);
}

// D6: recovery needs to write.
TEST_F(RedoLogTest, ReadOnly_WithSomethingToReplay_IsRefused) {
  open();
  ASSERT_TRUE(environment_->checkpoint());
  ASSERT_TRUE(put_durable("k", "1"));
  crash();
  options_.create = false;
  options_.read_only = true;
  const Status opened = open_crashed();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kStoreReadOnly);
  EXPECT_THAT(opened.error().message(), HasSubstr("open it for writing once"));
  options_.read_only = false;
  ASSERT_TRUE(open_crashed());
  environment_.reset();
  options_.read_only = true;
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "1");
}

// The records may still count after the old slot, but not after the new one.
TEST_F(RedoLogTest, OpenedAgain_WhatWasReplayedIsNotReplayedAgain) {
  open();
  ASSERT_TRUE(put_durable("k", "1"));
  ASSERT_TRUE(put_durable("l", "1"));
  crash();
  ASSERT_TRUE(open_crashed());
  // These transactions get the numbers of transactions that were replayed as one.
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(put("k", "2"));
  ASSERT_TRUE(environment_->checkpoint());
  ASSERT_TRUE(put("k", "lost"));
  fs::rename(crashed(), store().string() + "2");
  fs::copy(store().string() + "2", crashed());
  environment_.reset();
  ASSERT_TRUE(try_open(crashed(), {.boot_id = "a third boot"}));
  EXPECT_EQ(get("k"), "2");
}

class OldFormatTest : public RedoLogTest {
 protected:
  // Makes a store of format version 1.
  void make_old_store() {
    open();
    ASSERT_TRUE(put("k", "1"));
    environment_.reset();
    fs::remove(store() / "redo");
    fs::remove(store() / "pending");
    std::ofstream(store() / "format", std::ios::trunc) << "gridmount store\nformat 1\n";
    // A closed store needs no slot, so the slot is removed.
    fs::remove(store() / "checkpoint");
    options_.create = false;
  }
  std::string slot_magic() const {
    std::ifstream file(store() / "checkpoint", std::ios::binary);
    const std::string slots{std::istreambuf_iterator<char>(file), {}};
    return slots.substr(slots[0] == '\0' ? 4096 : 0, 8);
  }
};

TEST_F(OldFormatTest, Opened_StaysAsItIs_AndTakesCheckpoints) {
  make_old_store();
  open();
  EXPECT_EQ(environment_->format_version(), 1);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "2")); }), kOfACheckpoint);
  EXPECT_FALSE(fs::exists(store() / "redo"));
  EXPECT_EQ(slot_magic(), "GMCHECK1");
  crash();
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "2");
}

TEST_F(OldFormatTest, WithALog_IsRefused) {
  open();
  ASSERT_TRUE(put_durable("k", "1"));
  environment_.reset();
  fs::remove(store() / "pending");
  std::ofstream(store() / "format", std::ios::trunc) << "gridmount store\nformat 1\n";
  const Status opened = try_open(store());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kStoreDamaged);
  EXPECT_THAT(opened.error().message(), HasSubstr("'format 2'"));
  // An interrupted upgrade leaves this state.
  fs::resize_file(store() / "redo", 0);
  std::ofstream(store() / "pending");
  open();
  EXPECT_EQ(get("k"), "1");
  EXPECT_EQ(environment_->format_version(), 1);
}

TEST_F(OldFormatTest, Upgraded_HasALogFromTheNextOpeningOn) {
  make_old_store();
  options_.upgrade = true;
  open();
  EXPECT_EQ(environment_->format_version(), kFormatVersion);
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "2")); }), kOfACheckpoint);
  crash();
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "2");
  EXPECT_EQ(environment_->format_version(), kFormatVersion);
  options_.upgrade = false;
  open();
  EXPECT_EQ(syncs_of([&] { EXPECT_TRUE(put_durable("k", "3")); }), kOfTheLog);
  EXPECT_EQ(slot_magic(), "GMCHECK2");
  crash();
  ASSERT_TRUE(open_crashed());
  EXPECT_EQ(get("k"), "3");
}

}  // namespace
}  // namespace gridmount::local
