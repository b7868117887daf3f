// Goal: checkpoints are taken at the right times, shared by waiting callers, and robust against
// failing syncs, and the file `checkpoint` holds the right slots.
//
// Method: this program replaces fdatasync and pwrite, which count, delay and fail the calls of the
// store.
#include "engine/local/storage/checkpoint.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "engine/local/files/checkpoint_file.h"
#include "engine/local/files/lock_file.h"
#include "engine/local/storage/environment.h"
#include "tests/engine/local/storage/sync_gate.h"
#include "tests/sanitized.h"

namespace {

using gridmount::local::testing::file_name_of;
using gridmount::local::testing::SyncGate;

std::atomic<int> syncs{0};
std::atomic<int> sync_error{0};         // errno of every sync
std::atomic<int> syncs_until_error{0};  // the number of syncs that succeed before the first error
std::atomic<int> checkpoint_write_error{0};  // errno of writes to the file `checkpoint`

SyncGate gate;

bool is_checkpoint_file(int fd) {
  return file_name_of(fd) == "checkpoint";
}

}  // namespace

extern "C" int fdatasync(int) {
  ++syncs;
  gate.pass();
  if (sync_error != 0 && syncs_until_error-- <= 0) {
    errno = sync_error;
    return -1;
  }
  return 0;
}

extern "C" ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  static const auto real =
      reinterpret_cast<ssize_t (*)(int, const void*, size_t, off_t)>(dlsym(RTLD_NEXT, "pwrite"));
  if (checkpoint_write_error != 0 && is_checkpoint_file(fd)) {
    errno = checkpoint_write_error;
    return -1;
  }
  return real(fd, bytes, size, offset);
}

namespace gridmount::local {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    std::string name = (fs::temp_directory_path() / "checkpoint_test.XXXXXX");
    folder_ = ::mkdtemp(name.data());
  }
  ~CheckpointTest() override {
    all_well();
    environment_.reset();
    fs::remove_all(folder_);
  }

  static void all_well() {
    gate.set(false);
    sync_error = 0;
    syncs_until_error = 0;
    checkpoint_write_error = 0;
  }

  fs::path store() const { return folder_ / "s"; }

  Environment& open(std::chrono::milliseconds interval = 1h, const TestOptions& test = {},
                    OpenOptions options = {}) {
    environment_.reset();
    options.create = true;
    options.checkpoint_interval = interval;
    auto opened = Environment::open(store(), options, test);
    if (!opened) throw std::runtime_error(opened.error().message());
    environment_ = std::move(opened).value();
    return *environment_;
  }

  Status put(const std::string& key, const std::string& value) {
    GM_ASSIGN(WriteTransaction transaction, environment_->begin_write());
    MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
    MDB_val mdb_value{value.size(), const_cast<char*>(value.data())};
    mdb_put(transaction.lmdb(), environment_->tree(0), &mdb_key, &mdb_value, 0);
    return transaction.commit();
  }

  std::string get(const std::string& key) {
    auto transaction = environment_->begin_read();
    if (!transaction) return "ERROR " + transaction.error().message();
    MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
    MDB_val value;
    if (mdb_get(transaction->lmdb(), environment_->tree(0), &mdb_key, &value) != 0) return "";
    return {static_cast<const char*>(value.mv_data), value.mv_size};
  }

  OwnerMark mark() const {
    std::ifstream file(store() / "owner", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return parse_owner_mark(text).value_or(OwnerMark());
  }

  uint64_t saved_transaction() const {
    auto file = CheckpointFile::open(store() / "checkpoint", /*read_only=*/true);
    return file && file->newest() ? file->newest()->current.txn : 0;
  }

  fs::path folder_;
  std::unique_ptr<Environment> environment_;
};

TEST_F(CheckpointTest, Request_NothingNew_TouchesNoDisk) {
  Environment& environment = open();
  ASSERT_TRUE(put("k", "v"));
  const int before = syncs;
  ASSERT_TRUE(environment.checkpoint());
  EXPECT_EQ(syncs, before + 2);  // the data, then the slot
  ASSERT_TRUE(environment.checkpoint());
  ASSERT_TRUE(environment.checkpoint());
  EXPECT_EQ(syncs, before + 2);
}

TEST_F(CheckpointTest, Request_SavesTheNewestCommit_InTheOtherSlotEachTime) {
  Environment& environment = open();
  uint64_t last = saved_transaction();
  EXPECT_GT(last, 0u);
  for (int i = 0; i < 5; ++i) {
    std::ifstream before_file(store() / "checkpoint", std::ios::binary);
    const std::string before{std::istreambuf_iterator<char>(before_file), {}};
    ASSERT_TRUE(put("k", std::to_string(i)));
    EXPECT_EQ(saved_transaction(), last);
    ASSERT_TRUE(environment.checkpoint());
    EXPECT_EQ(saved_transaction(), last + 1);
    last = saved_transaction();
    std::ifstream after_file(store() / "checkpoint", std::ios::binary);
    const std::string after{std::istreambuf_iterator<char>(after_file), {}};
    ASSERT_EQ(after.size(), 2 * kSlotBytes);
    const bool first_changed = before.substr(0, kSlotBytes) != after.substr(0, kSlotBytes);
    const bool second_changed = before.substr(kSlotBytes) != after.substr(kSlotBytes);
    EXPECT_NE(first_changed, second_changed);
  }
}

TEST_F(CheckpointTest, Interval_WithWork_TakesThemItself_WithoutWork_None) {
  open(20ms);
  ASSERT_TRUE(put("k", "v"));
  const auto end = std::chrono::steady_clock::now() + 10s;
  auto reader = environment_->begin_read();
  ASSERT_TRUE(reader);
  while (saved_transaction() < mdb_txn_id(reader->lmdb())) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(5ms);
  }
  std::this_thread::sleep_for(50ms);  // until the last sync has ended
  const int before = syncs;
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(syncs, before);
}

TEST_F(CheckpointTest, Requests_WhileOneIsTaken_ShareTheNext) {
  Environment& environment = open();
  ASSERT_TRUE(put("k", "1"));
  const int before = syncs;
  gate.set(true);
  std::thread first([&] { EXPECT_TRUE(environment.checkpoint()); });
  gate.wait_for_sync();
  // The sync does not block writers.
  ASSERT_TRUE(put("k", "2"));
  std::atomic<int> returned = 0;
  std::vector<std::thread> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back([&] {
      EXPECT_TRUE(environment.checkpoint());
      ++returned;
    });
  }
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(returned, 0);
  gate.set(false);
  first.join();
  for (std::thread& other : others) other.join();
  EXPECT_EQ(syncs, before + 4);
  auto reader = environment.begin_read();
  EXPECT_EQ(saved_transaction(), mdb_txn_id(reader->lmdb()));
}

TEST_F(CheckpointTest, Request_BehindARunningTransaction_WaitsForItsTurn) {
  Environment& environment = open();
  ASSERT_TRUE(put("k", "1"));
  std::atomic<bool> returned = false;
  std::thread request;
  {
    auto transaction = environment.begin_write();
    ASSERT_TRUE(transaction);
    request = std::thread([&] {
      EXPECT_TRUE(environment.checkpoint());
      returned = true;
    });
    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(returned);
    ASSERT_TRUE(transaction->commit());
  }
  request.join();
  EXPECT_TRUE(returned);
}

// D1, D8: the data is synced first, and no failed sync is tried again.
TEST_F(CheckpointTest, FailedSync_RefusesWritesUntilReopened_AndGoesBackToTheCheckpoint) {
  // The failing sync is that of the data, or that of the slot.
  for (const int successes : {0, 1}) {
    Environment& environment = open();
    ASSERT_TRUE(put("k", "durable"));
    ASSERT_TRUE(environment.checkpoint());
    ASSERT_TRUE(put("k", "committed"));
    auto unfinished = environment.begin_write();
    ASSERT_TRUE(unfinished);
    ASSERT_TRUE(unfinished->commit());
    syncs_until_error = successes;
    sync_error = EIO;
    Status status = environment.checkpoint();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kWritesRefused);
    EXPECT_THAT(status.error().message(), HasSubstr(successes == 0 ? "data.mdb" : "checkpoint"));
    all_well();

    // A later sync would succeed, but none is tried.
    const int before = syncs;
    EXPECT_EQ(environment.checkpoint().error().code(), ErrorCode::kWritesRefused);
    EXPECT_EQ(put("k", "refused").error().code(), ErrorCode::kWritesRefused);
    EXPECT_EQ(syncs, before);
    EXPECT_EQ(get("k"), "committed");
    EXPECT_EQ(mark().state, OwnerState::kFailed);
    environment_.reset();
    EXPECT_EQ(mark().state, OwnerState::kFailed);

    // Pages whose sync failed may be lost. If the slot's sync failed, the slot was written.
    open();
    EXPECT_EQ(get("k"), successes == 0 ? "durable" : "committed");
    ASSERT_TRUE(put("k", "again"));
    ASSERT_TRUE(environment_->checkpoint());
  }
}

// D8: after the failed sync, nothing is written any more.
TEST_F(CheckpointTest, FailedSync_InTheBackground_IsReportedToTheNextWriter) {
  open(10ms);
  sync_error = EIO;
  ASSERT_TRUE(put("k", "v"));
  const auto end = std::chrono::steady_clock::now() + 10s;
  Status status;
  while ((status = put("k", "v")).has_value()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(status.error().code(), ErrorCode::kWritesRefused);
  EXPECT_EQ(environment_->checkpoint().error().code(), ErrorCode::kWritesRefused);
}

// D8: writers that already wait write nothing either.
TEST_F(CheckpointTest, FailedSync_WhileWritersQueue_FailsThemAll) {
  Environment& environment = open();
  ASSERT_TRUE(put("k", "1"));
  gate.set(true);
  std::thread request([&] { EXPECT_FALSE(environment.checkpoint()); });
  gate.wait_for_sync();
  auto transaction = environment.begin_write();
  ASSERT_TRUE(transaction);
  std::atomic<int> refused = 0;
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] {
      const Status status = put("k", "2");
      if (!status && status.error().code() == ErrorCode::kWritesRefused) ++refused;
    });
  }
  std::this_thread::sleep_for(30ms);
  sync_error = EIO;
  gate.set(false);
  request.join();
  EXPECT_EQ(transaction->commit().error().code(), ErrorCode::kWritesRefused);
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(refused, 4);
  EXPECT_EQ(get("k"), "1");
}

// Each function removes, moves or replaces data.mdb.
TEST_F(CheckpointTest, DataLostUnderItsOwner_RefusesWritesAndSaysSo) {
  const std::vector<std::function<void()>> losses = {
      [&] { fs::remove(store() / "data.mdb"); },
      [&] { fs::rename(store() / "data.mdb", folder_ / "elsewhere"); },
      [&] {
        fs::copy(store() / "data.mdb", folder_ / "other");
        fs::rename(folder_ / "other", store() / "data.mdb");
      },
      [&] { fs::remove_all(store()); },
  };
  for (const auto& lose : losses) {
    Environment& environment = open();
    ASSERT_TRUE(put("k", "v"));
    const uint64_t saved = saved_transaction();
    lose();
    const Status status = environment.checkpoint();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kWritesRefused);
    EXPECT_THAT(status.error().message(), HasSubstr("file data.mdb was removed or replaced"));
    EXPECT_EQ(put("k", "refused").error().code(), ErrorCode::kWritesRefused);
    EXPECT_EQ(environment.make_durable().error().code(), ErrorCode::kWritesRefused);
    EXPECT_EQ(get("k"), "v");
    // The newest checkpoint is the one from before the loss.
    EXPECT_EQ(saved_transaction(), fs::exists(store()) ? saved : 0);
    environment_.reset();
    fs::remove_all(store());
  }
}

TEST_F(CheckpointTest, OwnerFileLostUnderItsOwner_RefusesWritesAndLosesNothing) {
  Environment& environment = open();
  fs::remove(store() / "owner");
  ASSERT_TRUE(put("k", "v"));
  const Status status = environment.checkpoint();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kWritesRefused);
  EXPECT_THAT(status.error().message(), HasSubstr("file owner was removed or replaced"));
  EXPECT_EQ(put("k", "refused").error().code(), ErrorCode::kWritesRefused);
  open();
  EXPECT_EQ(get("k"), "v");
}

TEST_F(CheckpointTest, FileLostWithNothingNew_IsSaidByTheNextDurableRequest) {
  Environment& environment = open();
  ASSERT_TRUE(environment.make_durable());
  fs::remove(store() / "data.mdb");
  EXPECT_EQ(environment.make_durable().error().code(), ErrorCode::kWritesRefused);
}

TEST_F(CheckpointTest, FolderMovedUnderItsOwner_GoesOn) {
  Environment& environment = open();
  fs::rename(store(), folder_ / "moved");
  ASSERT_TRUE(put("k", "v"));
  EXPECT_TRUE(environment.checkpoint());
  environment_.reset();
  fs::rename(folder_ / "moved", store());
  EXPECT_EQ(mark().state, OwnerState::kClosed);
}

// D8: a write that did not happen loses nothing, so it may be tried again.
TEST_F(CheckpointTest, SlotNotWritten_IsReportedAndTriedAgain) {
  Environment& environment = open();
  ASSERT_TRUE(put("k", "v"));
  const uint64_t saved = saved_transaction();
  checkpoint_write_error = ENOSPC;
  EXPECT_EQ(environment.checkpoint().error().code(), ErrorCode::kOutOfDiskSpace);
  EXPECT_EQ(saved_transaction(), saved);
  ASSERT_TRUE(put("k", "w"));
  EXPECT_EQ(environment.checkpoint().error().code(), ErrorCode::kOutOfDiskSpace);
  all_well();
  EXPECT_TRUE(environment.checkpoint());
  EXPECT_GT(saved_transaction(), saved);
}

// D4: `closed` comes after a last checkpoint.
TEST_F(CheckpointTest, Close_MakesEverythingDurable_AndMarksIt) {
  open();
  EXPECT_EQ(mark().state, OwnerState::kOpen);
  EXPECT_EQ(mark().pid, ::getpid());
  ASSERT_TRUE(put("k", "v"));
  auto reader = environment_->begin_read();
  const uint64_t newest = mdb_txn_id(reader->lmdb());
  reader = ReadTransaction();
  EXPECT_LT(saved_transaction(), newest);
  environment_.reset();
  EXPECT_EQ(saved_transaction(), newest);
  EXPECT_EQ(mark().state, OwnerState::kClosed);
}

// D4: `closed` is written only if the last checkpoint succeeded.
TEST_F(CheckpointTest, Close_WhoseSyncFails_IsNotMarkedClosed) {
  open();
  ASSERT_TRUE(put("k", "v"));
  sync_error = EIO;
  environment_.reset();
  EXPECT_NE(mark().state, OwnerState::kClosed);
}

TEST_F(CheckpointTest, Open_WhoseFirstCheckpointFails_FailsAndHarmsNothing) {
  open();
  ASSERT_TRUE(put("k", "v"));
  environment_.reset();
  syncs_until_error = 1;  // the sync of the mark succeeds
  sync_error = EIO;
  EXPECT_THROW(open(), std::runtime_error);
  all_well();
  open();
  EXPECT_EQ(get("k"), "v");
}

// Readers keep their snapshots while a writer frees pages and checkpoints are taken.
TEST_F(CheckpointTest, ReadersWritersAndCheckpoints_AtOnce_EachSeesItsOwn) {
  Environment& environment = open(1ms);
  ASSERT_TRUE(put("a", "0"));
  ASSERT_TRUE(put("b", "0"));
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!done) {
        auto reader = environment.begin_read();
        ASSERT_TRUE(reader) << reader.error().message();
        const auto value = [&](const char* name) {
          MDB_val key{1, const_cast<char*>(name)};
          MDB_val found;
          EXPECT_EQ(mdb_get(reader->lmdb(), environment.tree(0), &key, &found), 0);
          return std::string(static_cast<const char*>(found.mv_data), found.mv_size);
        };
        const std::string first = value("a");
        std::this_thread::sleep_for(1ms);
        EXPECT_EQ(value("b"), first);
        EXPECT_EQ(value("a"), first);
      }
    });
  }
  threads.emplace_back([&] {
    while (!done) EXPECT_TRUE(environment.checkpoint());
  });
  for (int i = 0; i < 400; ++i) {
    auto writer = environment.begin_write();
    ASSERT_TRUE(writer);
    const std::string value(static_cast<size_t>(1 + i % 30) * 1000,
                            static_cast<char>('a' + i % 26));
    for (const char* name : {"a", "b"}) {
      MDB_val key{1, const_cast<char*>(name)};
      MDB_val bytes{value.size(), const_cast<char*>(value.data())};
      ASSERT_EQ(mdb_put(writer->lmdb(), environment.tree(0), &key, &bytes, 0), 0);
    }
    ASSERT_TRUE(writer->commit());
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
}

// D3: each checkpoint is written to the slot that does not hold the newest checkpoint.
TEST(CheckpointFileTest, Newest_DamagedSlot_IsTheOtherOne) {
  std::string name = (fs::temp_directory_path() / "checkpoint_file_test.XXXXXX");
  const fs::path folder = ::mkdtemp(name.data());
  const fs::path path = folder / "checkpoint";
  // The meta pages of a new store.
  ASSERT_TRUE(Environment::open(folder / "s", {.create = true}));
  auto data = system::File::open(folder / "s" / "data.mdb", 0);
  ASSERT_TRUE(data);
  auto metas = read_meta_pair(*data);
  ASSERT_TRUE(metas);
  MetaPair older = *metas;
  MetaPair newer = *metas;
  {
    auto file = CheckpointFile::create(path);
    ASSERT_TRUE(file);
    EXPECT_FALSE(file->newest());
    ASSERT_FALSE(file->write(older));
    // Changes the transaction number in both pages.
    for (auto& page : newer.bytes) page[144] = static_cast<uint8_t>(page[144] + 2);
    newer = *parse_meta_pair(newer.bytes);
    ASSERT_FALSE(file->write(newer));
  }
  EXPECT_EQ(CheckpointFile::open(path, true)->newest()->bytes, newer.bytes);
  std::ifstream stream(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(stream), {}};
  // The second write went to the first slot. Damage to any byte that counts makes it invalid.
  for (const size_t offset : {size_t{0}, size_t{8}, size_t{100}, size_t{300}, size_t{320}}) {
    std::string damaged = good;
    damaged[offset] = static_cast<char>(damaged[offset] + 1);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_EQ(CheckpointFile::open(path, true)->newest()->bytes, older.bytes) << offset;
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << good.substr(0, 100);
  EXPECT_FALSE(CheckpointFile::open(path, true)->newest());
  // A slot at the other slot's place is not valid.
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      << good.substr(kSlotBytes) + good.substr(0, kSlotBytes);
  EXPECT_FALSE(CheckpointFile::open(path, true)->newest());
  fs::remove_all(folder);
}

// D3: the other slot stays valid however much of a slot was written when the power failed.
TEST(CheckpointFileTest, Newest_SlotTornAnywhere_IsTheOtherOne) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  std::string name = (fs::temp_directory_path() / "checkpoint_file_test.XXXXXX");
  const fs::path folder = ::mkdtemp(name.data());
  const fs::path path = folder / "checkpoint";
  ASSERT_TRUE(Environment::open(folder / "s", {.create = true}));
  auto data = system::File::open(folder / "s" / "data.mdb", 0);
  ASSERT_TRUE(data);
  std::vector<MetaPair> pairs = {*read_meta_pair(*data)};
  const auto read_view = [&] {
    std::ifstream stream(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(stream), {}};
  };
  auto file = CheckpointFile::create(path);
  ASSERT_TRUE(file);
  std::string before = read_view();
  // Writes to an empty slot, then to the other, then over the first.
  for (int slot = 0; slot < 3; ++slot) {
    ASSERT_FALSE(file->write(pairs.back()));
    const std::string after = read_view();
    for (size_t cut = 0; cut <= kSlotBytes; cut += cut < 512 ? 1 : 512) {
      for (const bool first_part : {true, false}) {
        const auto part_of = [&](size_t i) {
          return (i % kSlotBytes < cut) == first_part ? after[i] : before[i];
        };
        std::string torn = before;
        for (size_t i = 0; i < torn.size(); ++i) torn[i] = part_of(i);
        std::ofstream(folder / "torn", std::ios::binary | std::ios::trunc) << torn;
        const auto opened = CheckpointFile::open(folder / "torn", true);
        ASSERT_TRUE(opened);
        if (torn == after) {
          EXPECT_EQ(opened->newest()->bytes, pairs.back().bytes) << slot << " " << cut;
        } else if (slot == 0) {
          EXPECT_FALSE(opened->newest()) << cut;
        } else {
          EXPECT_EQ(opened->newest()->bytes, pairs[pairs.size() - 2].bytes) << slot << " " << cut;
        }
      }
    }
    before = after;
    MetaPair next = pairs.back();
    // Changes the transaction number in both pages.
    for (auto& page : next.bytes) page[144] = static_cast<uint8_t>(page[144] + 2);
    pairs.push_back(*parse_meta_pair(next.bytes));
  }
  fs::remove_all(folder);
}

// Overwrites the same keys again and again. The store keeps the pages of the last checkpoint and
// all pages written since, so the file would grow without timely checkpoints.
TEST_F(CheckpointTest, ConstantOverwriting_DoesNotGrowTheFileForEver) {
  OpenOptions options;
  options.checkpoint_bytes = 1 << 20;
  Environment& environment = open(1h, {}, options);
  const int before = syncs;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(put("key" + std::to_string(i % 10), std::string(40'000, static_cast<char>(i))));
  }
  // 120 MB have been written, of which 400 KB are alive.
  EXPECT_LT(fs::file_size(store() / "data.mdb"), 24U << 20);
  EXPECT_GT(syncs, before + 5);
  ASSERT_TRUE(environment.checkpoint());
}

// Each small transaction frees a few pages. The file does not grow once it has enough free pages.
TEST_F(CheckpointTest, ConstantSmallOverwriting_KeepsLittleGarbage) {
  OpenOptions options;
  options.checkpoint_bytes = 1 << 20;
  open(1h, {}, options);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(put("key" + std::to_string(i), std::string(1000, 'x')));
  const uintmax_t before = fs::file_size(store() / "data.mdb");
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(put("key" + std::to_string(i % 200), std::string(1000, static_cast<char>(i))));
  }
  // The garbage is the pages freed between two checkpoints, and while the second is taken.
  EXPECT_LT(fs::file_size(store() / "data.mdb"), before + ((kGarbageMax + 4) << 20));
}

// If the disk does not keep up, writers wait for it.
TEST_F(CheckpointTest, GrowthBeyondItsLimit_WaitsForTheDisk) {
  OpenOptions options;
  options.checkpoint_bytes = 1 << 20;
  open(1h, {}, options);
  gate.set(true);
  std::atomic<int> written = 0;
  std::thread writer([&] {
    for (int i = 0; i < 1000; ++i) {
      if (put("key", std::string(40'000, 'x'))) ++written;
    }
  });
  gate.wait_for_sync();
  const uint64_t limit = (kGarbageMax + 4) << 20;
  int last = -1;
  while (written != last) {
    last = written;
    std::this_thread::sleep_for(200ms);
  }
  EXPECT_LT(written, 1000);
  EXPECT_LT(fs::file_size(store() / "data.mdb"), limit);
  // Readers do not wait.
  EXPECT_EQ(get("key").size(), 40'000U);
  gate.set(false);
  writer.join();
  EXPECT_EQ(written, 1000);
}

TEST_F(CheckpointTest, GrowthWhileSyncsFail_IsReported) {
  OpenOptions options;
  options.checkpoint_bytes = 1 << 20;
  open(1h, {}, options);
  sync_error = EIO;
  Status status;
  for (int i = 0; i < 3000 && status; ++i) status = put("key", std::string(40'000, 'x'));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code(), ErrorCode::kWritesRefused);
}

}  // namespace
}  // namespace gridmount::local
