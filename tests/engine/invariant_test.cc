// Goal: an invariant that does not hold ends the process with a message that names the invariant.
// If the invariant holds, only its condition is evaluated.
// Method: death tests of the assertion itself, and of rules of the store that their caller breaks.
// This program replaces fdatasync, so that syncs can fail.
#include "engine/base/invariant.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "engine/local/files/checkpoint_file.h"
#include "engine/local/files/redo_file.h"
#include "engine/local/storage/redo_log.h"

namespace {

bool syncs_fail = false;

}  // namespace

extern "C" int fdatasync(int) {
  if (!syncs_fail) return 0;
  errno = EIO;
  return -1;
}

namespace gridmount {
namespace {

// A death test compares stderr with the expected message, so the log goes to stderr.
class Invariant : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  }
};

TEST_F(Invariant, Broken_EndsTheProcessAndIsNamed) {
  const int slots = 3;
  EXPECT_DEATH(GM_INVARIANT("D3", slots == 2, "slot " + std::to_string(slots)),
               "invariant D3 does not hold for slot 3: slots == 2 .*invariant_test.cc:[0-9]+");
}

TEST_F(Invariant, ThatHolds_EvaluatesNoText) {
  int evaluated = 0;
  const auto text = [&] { return std::to_string(++evaluated); };
  GM_INVARIANT("D3", evaluated == 0, text());
  GM_COSTLY_INVARIANT("D3", evaluated == 0, text());
  EXPECT_EQ(evaluated, 0);
}

TEST_F(Invariant, Costly_IsAssertedWithoutNdebugAlone) {
  int evaluated = 0;
  const auto condition = [&] { return ++evaluated > 0; };
  GM_COSTLY_INVARIANT("K1", condition(), "a key string");
#ifdef NDEBUG
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_EQ(evaluated, 1);
  EXPECT_DEATH(GM_COSTLY_INVARIANT("K1", evaluated == 0, "a key string"), "invariant K1");
#endif
}

// No place in the log was reserved for this record.
TEST_F(Invariant, RecordWithoutAPlaceInTheLog_IsNotWritten) {
  local::RedoFile file;
  std::list<local::RedoTransaction> transactions;
  transactions.push_back({7, {}});
  EXPECT_DEATH((void)file.append({}, transactions, /*syncs=*/true), "invariant D11");
}

// The path of a file in a new folder. The destructor lets syncs succeed again and removes the
// folder.
class FailingFile {
 public:
  FailingFile() {
    std::string folder = std::filesystem::temp_directory_path() / "invariant_test.XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~FailingFile() {
    syncs_fail = false;
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path path() const { return folder_ / "file"; }

 private:
  std::filesystem::path folder_;
};

TEST_F(Invariant, LogWhoseSyncHasFailed_IsNotWrittenAgain) {
  const FailingFile failing;
  Result<system::File> opened = system::File::open(failing.path(), O_RDWR | O_CREAT);
  ASSERT_TRUE(opened);
  local::RedoFile file(std::move(*opened), {});
  ASSERT_TRUE(file.prepare(1 << 20));
  syncs_fail = true;
  std::list<local::RedoTransaction> transactions;
  transactions.push_back({7, {}});
  const auto failure = file.append({}, transactions, /*syncs=*/true);
  ASSERT_TRUE(failure && failure->sync);
  EXPECT_DEATH((void)file.append({}, transactions, /*syncs=*/true), "invariant D8");
}

TEST_F(Invariant, CheckpointWhoseSyncHasFailed_IsNotWrittenAgain) {
  const FailingFile failing;
  Result<local::CheckpointFile> file = local::CheckpointFile::create(failing.path());
  ASSERT_TRUE(file);
  syncs_fail = true;
  const auto failure = file->write({});
  ASSERT_TRUE(failure && failure->sync);
  EXPECT_DEATH((void)file->write({}), "invariant D8");
}

TEST_F(Invariant, CommitThatTheLogDoesNotKnow_IsNoticed) {
  local::RedoLog log(local::RedoFile(), {});
  log.committed(7, {});
  log.committed(7, {});  // a batch's second transaction
  log.committed(8, {});
  EXPECT_DEATH(log.committed(10, {}), "invariant W8 does not hold for transaction 10");
}

}  // namespace
}  // namespace gridmount
