// Goal: the trees survive a power failure. Whatever unsynced data the disk holds, they open with
// exactly the contents of one commit. This commit is no older than the last checkpoint that had
// returned. The store can then be used.
//
// Method: crash_run.h on the trees, below the documents. To prove that the test can fail, it also
// runs with the pin, the saved meta pages, or a guarantee of the log switched off, and must then
// find broken images.
//
// GRIDMOUNT_CRASH_IMAGES sets the total number of images of all tests of this kind.
// GRIDMOUNT_CRASH_SEED sets the seed of the workloads. GRIDMOUNT_CRASH_KEEP keeps a broken image.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "engine/local/storage/environment.h"
#include "engine/local/storage/redo_log.h"
#include "engine/local/storage/trees.h"
#include "tests/engine/local/crash/crash_run.h"
#include "tests/engine/local/crash/write_recorder.h"

namespace gridmount::local::testing {
namespace {

constexpr int kTrees = 3;
constexpr int kKeys = 40;
constexpr int kLargeKeys = 4;
constexpr size_t kLargeBytes = 64 * 1024;

std::string random_bytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  uint64_t word = random();
  for (size_t i = 0; i < size; i += sizeof word) {
    word = word * 6364136223846793005u + 1442695040888963407u;
    bytes.replace(i, sizeof word, reinterpret_cast<const char*>(&word),
                  std::min(sizeof word, size - i));
  }
  bytes.resize(size);
  return bytes;
}

// The bytes that all recordings have returned to the file system. The test verifies that there are
// some.
uint64_t bytes_given_back = 0;

Status checked(int code) {
  if (code == MDB_SUCCESS) return {};
  return fail(ErrorCode::kInternalError, mdb_strerror(code));
}

// The sizes of the log and of a transaction's changes.
enum class Sizes {
  kSmall,  // a few records fill a segment
  kUsual   // those of programs; most transactions are nearly at the log's limit
};

class KeysAndValuesSubject : public CrashSubject {
 public:
  explicit KeysAndValuesSubject(Sizes sizes = Sizes::kSmall) : sizes_(sizes) {}

  Status open(const std::filesystem::path& folder, bool create, const TestOptions& test) override {
    OpenOptions options;
    options.create = create;
    options.map_bytes = uint64_t{1} << 30;
    options.checkpoint_interval = std::chrono::hours(1);
    if (sizes_ == Sizes::kSmall) options.redo_bytes = kCrashRedoBytes;
    GM_ASSIGN(environment_, Environment::open(folder, options, test));
    handles_ = {environment_->catalog(), {}};
    for (int i = 0; i < Environment::kTreeCount; ++i) {
      handles_.keyspaces.push_back(environment_->tree(i));
    }
    return {};
  }
  Status close() override {
    environment_.reset();
    return {};
  }
  Status make_durable() override { return environment_->make_durable(); }
  Status checkpoint() override { return environment_->checkpoint(); }
  Result<std::vector<std::string>> check() override { return std::vector<std::string>(); }

  Result<bool> step(std::mt19937_64& random, Facts& facts, bool may_be_durable) override;
  Result<Facts> read() override;

 private:
  static std::string name_of(int tree, const std::string& key) {
    return std::to_string(tree) + "/" + key;
  }

  Status change(Trees& trees, std::mt19937_64& random, Facts& facts, bool may_be_large);
  Status put(Trees& trees, std::mt19937_64& random, Facts& facts, const std::string& key, int tree,
             size_t size);
  Status change_much(Trees& trees, std::mt19937_64& random, Facts& facts);

  const Sizes sizes_;
  std::unique_ptr<Environment> environment_;
  TreeHandles handles_;
};

Status KeysAndValuesSubject::change(Trees& trees, std::mt19937_64& random, Facts& facts,
                                    bool may_be_large) {
  const int tree = static_cast<int>(random() % kTrees);
  const uint64_t kind = may_be_large ? random() % 10 : 1 + random() % 9;
  const bool large = kind == 0;
  const std::string key =
      (large ? "chunk" : "key") + std::to_string(random() % (large ? kLargeKeys : kKeys));
  const MDB_dbi handle = environment_->tree(tree);
  if (!large && kind <= 3 && facts.contains(name_of(tree, key))) {
    GM_TRY(trees.remove(handle, key));
    facts.erase(name_of(tree, key));
    return {};
  }
  const size_t size = large                       ? kLargeBytes + random() % 100
                      : kind <= 5 && may_be_large ? 2000 + random() % 20000
                                                  : 10 + random() % 400;
  return put(trees, random, facts, key, tree, size);
}

Status KeysAndValuesSubject::put(Trees& trees, std::mt19937_64& random, Facts& facts,
                                 const std::string& key, int tree, size_t size) {
  const MDB_dbi handle = environment_->tree(tree);
  const std::string bytes = random_bytes(random, size);
  if (random() % 2 == 0) {
    GM_ASSIGN(uint8_t* const value, trees.reserve(handle, key, bytes.size()));
    std::memcpy(value, bytes.data(), bytes.size());
  } else {
    GM_TRY(trees.put(handle, key, bytes));
  }
  facts[name_of(tree, key)] = bytes;
  return {};
}

// Makes many changes. About one in thirty of these transactions is too large for the log.
Status KeysAndValuesSubject::change_much(Trees& trees, std::mt19937_64& random, Facts& facts) {
  const size_t bytes_max = random() % 30 == 0 ? 80'000 : 10'000 + random() % 50'000;
  for (size_t bytes = 0; bytes < bytes_max;) {
    const size_t size = std::min<size_t>(1000 + random() % 8000, bytes_max - bytes);
    GM_TRY(put(trees, random, facts, "key" + std::to_string(random() % kKeys),
               static_cast<int>(random() % kTrees), size));
    bytes += size;
  }
  return {};
}

Result<bool> KeysAndValuesSubject::step(std::mt19937_64& random, Facts& facts,
                                        bool may_be_durable) {
  GM_ASSIGN(WriteTransaction transaction,
            environment_->begin_write(engine::TransactionKind::kShort));
  Trees trees(transaction.lmdb(), handles_, /*writable=*/true);
  // Most transactions are small enough for the log.
  const bool may_be_large = random() % 3 == 0;
  if (sizes_ == Sizes::kUsual && random() % 8 != 0) {
    GM_TRY(change_much(trees, random, facts));
  } else {
    for (size_t left = 1 + random() % 6; left > 0; --left) {
      GM_TRY(change(trees, random, facts, may_be_large));
    }
  }
  transaction.log(trees.take_changes());
  trees.end();
  GM_TRY(transaction.commit());
  if (random() % 4 == 0) {
    GM_ASSIGN(const uint64_t bytes, environment_->return_free_pages({}));
    bytes_given_back += bytes;
  }
  const bool durable = may_be_durable && random() % 3 == 0;
  if (durable) GM_TRY(environment_->make_durable());
  return durable;
}

Result<Facts> KeysAndValuesSubject::read() {
  GM_ASSIGN(const ReadTransaction transaction, environment_->begin_read());
  Facts facts;
  for (int tree = 0; tree < Environment::kTreeCount; ++tree) {
    MDB_cursor* cursor = nullptr;
    GM_TRY(checked(mdb_cursor_open(transaction.lmdb(), environment_->tree(tree), &cursor)));
    MDB_val key;
    MDB_val value;
    int code;
    std::string last;
    while ((code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
      std::string name(static_cast<const char*>(key.mv_data), key.mv_size);
      if (name <= last) return fail(ErrorCode::kStoreDamaged, "keys are not in order");
      facts[name_of(tree, name)].assign(static_cast<const char*>(value.mv_data), value.mv_size);
      last = std::move(name);
    }
    mdb_cursor_close(cursor);
    if (code != MDB_NOTFOUND) GM_TRY(checked(code));
  }
  return facts;
}

CrashRun run_of_trees(int images = 0) {
  CrashRun run;
  run.make_subject = [] { return std::make_unique<KeysAndValuesSubject>(); };
  run.images = images;
  run.recording.boot_id = "first boot";
  run.opening.boot_id = "second boot";
  run.opening.small_before_batch = 1;
  return run;
}

void expect_broken(CrashRun run) {
  run.images = kCanaryImages;
  run.broken_enough = kCanaryBrokenMin;
  const CrashRunResult result = run_crash_images(run, crash_seed());
  EXPECT_GE(result.broken, kCanaryBrokenMin);
  std::cout << result.first << std::endl;
}

// D1, D4: no switch turns these invariants off, but this test shows violations.
TEST(CrashImageTest, PowerLoss_AtAnyPoint_LeavesACommitNoOlderThanTheLastCheckpoint) {
  const CrashRunResult result =
      run_crash_images(run_of_trees(crash_image_count(0.4)), crash_seed());
  EXPECT_EQ(result.broken, 0) << result.first;
  EXPECT_GT(bytes_given_back, 0U);
}

// Counts how far the recordings have used the bounds of the log.
struct LogUse {
  uint64_t segments_begun_again = 0;
  uint64_t largest_record = 0;  // size of its transactions

  void note(const WriteRecorder& recorder) {
    constexpr uint64_t kHeaderBytes = 48;
    for (const Event& event : recorder.events()) {
      const std::string_view bytes(reinterpret_cast<const char*>(event.bytes.data()),
                                   event.bytes.size());
      if (event.kind != EventKind::kWrite || bytes.size() < kHeaderBytes ||
          !bytes.starts_with("GMREDO")) {
        continue;
      }
      uint64_t number = 0;
      uint32_t size = 0;
      std::memcpy(&number, bytes.data() + 24, sizeof number);
      std::memcpy(&size, bytes.data() + 44, sizeof size);
      if (event.number == 0 && number > 1) ++segments_begun_again;
      largest_record = std::max<uint64_t>(largest_record, size);
    }
  }
};

// These recordings are fewer than the others, because each writes 4 MiB of log and more of data.
// Half of them have no batches, because batches take many of the changes that otherwise wait for
// the log.
TEST(CrashImageTest, PowerLoss_WithALogOfTheUsualSize_LeavesACommitNoOlderThanTheNewestDurable) {
  CrashRun run = run_of_trees(crash_image_count(0.015));
  run.make_subject = [] { return std::make_unique<KeysAndValuesSubject>(Sizes::kUsual); };
  run.length = 5;
  run.has_long_runs = true;
  LogUse use;
  run.recorded = [&] { use.note(WriteRecorder::instance()); };
  CrashRun without_batches = run;
  without_batches.recording.small_before_batch = std::numeric_limits<int>::max();
  for (const CrashRun& half : {run, without_batches}) {
    const CrashRunResult result = run_crash_images(half, crash_seed());
    EXPECT_EQ(result.broken, 0) << result.first;
  }
  std::cout << "segments begun again: " << use.segments_begun_again
            << ", the largest record: " << use.largest_record << " bytes" << std::endl;
  // The number of images of one half. With this many, the recordings reach both bounds.
  constexpr int kImagesForAll = 100;
  if (run.images < kImagesForAll) return;
  EXPECT_GE(use.segments_begun_again, 1U);
  EXPECT_GE(use.largest_record, RedoLog::kWaitingBytesMax / 4);
}

// D2: without the pin, pages of the newest checkpoint are overwritten.
TEST(CrashImageTest, Canary_WithoutThePin_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.recording.pin = false;
  expect_broken(run);
}

// D5: data.mdb's own meta pages are used.
TEST(CrashImageTest, Canary_WithoutTheSavedMetaPages_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.opening.restore = false;
  expect_broken(run);
}

// D13: the log is not replayed.
TEST(CrashImageTest, Canary_WithoutTheLog_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.opening.replay = false;
  expect_broken(run);
}

// D10: the replayed records may have gaps.
TEST(CrashImageTest, Canary_WithRecordsInAnyOrder_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.opening.checks_order = false;
  expect_broken(run);
}

// D12: records of an earlier opening are replayed. Images of second lives show this fault.
TEST(CrashImageTest, Canary_WithRecordsOfAnyLog_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.opening.checks_log_id = false;
  run.second_lives_one_of = 1;
  expect_broken(run);
}

// D13: an interrupted replay is not repeated. Images of second lives show this fault.
TEST(CrashImageTest, Canary_MarkedOpenBeforeTheLogIsReplayed_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.opening.marks_after_replay = false;
  run.second_lives_one_of = 1;
  expect_broken(run);
}

// D9: acknowledged records may not be on the disk.
TEST(CrashImageTest, Canary_WithRecordsAcknowledgedBeforeTheirSync_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.recording.syncs_records = false;
  expect_broken(run);
}

// D11: records that count are overwritten.
TEST(CrashImageTest, Canary_WithSegmentsWrittenAgainTooSoon_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.recording.waits_for_segments = false;
  run.images = kCanaryImages;
  run.broken_enough = 1;
  const CrashRunResult result = run_crash_images(run, crash_seed());
  // Only images from a moment when both segments are full can be broken.
  EXPECT_GE(result.broken, 1);
  std::cout << result.first << std::endl;
}

// D14, D15: the records in `pending` are not read. Images of kills show this fault.
TEST(CrashImageTest, Canary_WithoutWhatIsPending_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.opening.replay_pending = false;
  expect_broken(run);
}

// D15: durable commits are lost if the opening after a kill is interrupted between its two
//      checkpoints.
TEST(CrashImageTest, Canary_WithTheLogEndedBeforeWhatIsPendingIsReplayed_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.opening.keeps_log_until_replayed = false;
  run.kills_one_of = 1;
  run.second_lives_one_of = 1;
  expect_broken(run);
}

// Only recordings that begin with the making of the store show this fault. One recording in four
// does.
TEST(CrashImageTest, Canary_WithoutSyncsOfFolders_ImagesAreBroken) {
  CrashRun run = run_of_trees();
  run.syncs_folders = false;
  expect_broken(run);
}

}  // namespace
}  // namespace gridmount::local::testing
