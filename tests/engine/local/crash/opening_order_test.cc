// Goal: an opening and a checkpoint write and sync the store's files in the right order. These
// invariants (FORMAT.md, "Durability") need a test of their own, because random crash images rarely
// reveal that one is broken.
//
// Method: the file calls are recorded, and the events are examined.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/local/files/data_swap.h"
#include "engine/local/files/lock_file.h"
#include "engine/local/files/meta_page.h"
#include "engine/local/files/pending_file.h"
#include "engine/local/files/store_folder.h"
#include "engine/local/test_options.h"
#include "engine/system/file.h"
#include "tests/engine/local/crash/write_recorder.h"
#include "tests/engine/local/storage/environment_fixture.h"

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

class OpeningOrderTest : public EnvironmentFixture {
 protected:
  OpeningOrderTest() : EnvironmentFixture("opening_order_test", engine::TransactionKind::kShort) {
    folder_ = fs::canonical(folder_);
  }
  ~OpeningOrderTest() override { recorder().stop(); }

  static WriteRecorder& recorder() { return WriteRecorder::instance(); }
  static const std::vector<Event>& events() { return recorder().events(); }

  void open(const TestOptions& test = {.small_before_batch = 0}) {
    const Status opened = try_open(store(), test);
    ASSERT_TRUE(opened) << opened.error().message();
  }
  void record_opening(const TestOptions& test = {}) {
    environment_.reset();
    recorder().start(folder_);
    open(test);
    recorder().stop();
  }

  // Returns the first event from `from` on that satisfies the condition, or the number of events.
  using Is = std::function<bool(const Event&)>;
  static size_t first(size_t from, const Is& is) {
    const auto begin = events().begin() + static_cast<std::ptrdiff_t>(from);
    return static_cast<size_t>(std::find_if(begin, events().end(), is) - events().begin());
  }
  static Is of(EventKind kind, const std::string& name) {
    const size_t file = recorder().initial_entries().at("s/" + name);
    return [kind, file](const Event& event) { return event.kind == kind && event.file == file; };
  }
  static size_t first_write(const std::string& name, size_t from = 0) {
    return first(from, of(EventKind::kWrite, name));
  }
  // Returns when a sync of the file that began after `behind` has ended.
  static size_t synced(const std::string& name, size_t behind) {
    const Is begins = of(EventKind::kSyncBegins, name);
    const Is ends = of(EventKind::kSyncEnds, name);
    return first(behind, [&](const Event& event) {
      return ends(event) && event.number >= behind && begins(events()[event.number]);
    });
  }
  static size_t marked_open() {
    const Is writes = of(EventKind::kWrite, "owner");
    return first(0, [&](const Event& event) {
      const std::optional<OwnerMark> mark =
          writes(event) ? parse_owner_mark({reinterpret_cast<const char*>(event.bytes.data()),
                                            event.bytes.size()})
                        : std::nullopt;
      return mark && mark->state == OwnerState::kOpen;
    });
  }
};

// D5: the restored meta pages are on the disk before the mark says that there is nothing to
//     restore.
TEST_F(OpeningOrderTest, AfterAPowerLoss_MetaPagesAreSynced_BeforeTheMarkSaysOpen) {
  in_killed_process([&] {
    open();
    (void)put("a", "1");
    (void)environment_->checkpoint();
    (void)put("a", "2");
    (void)get("a");  // a read ends the batch, so LMDB has the change
  });
  record_opening({.boot_id = "another boot"});
  const size_t put_back = first_write("data.mdb");
  ASSERT_LT(put_back, events().size());
  EXPECT_LT(events()[put_back].number, 2 * kMetaBytes + 4096);
  const size_t is_synced = synced("data.mdb", put_back);
  EXPECT_LT(is_synced, marked_open());
  EXPECT_LT(marked_open(), events().size());
  EXPECT_EQ(get("a"), "1");
}

// D13: the changes of the log are replayed, and a checkpoint of them is on the disk, before the
//      mark says `open`.
TEST_F(OpeningOrderTest, AfterAPowerLoss_TheLogIsInACheckpoint_BeforeTheMarkSaysOpen) {
  in_killed_process([&] {
    open();
    (void)put("a", "1");
    (void)environment_->checkpoint();
    (void)put("a", "2");
    (void)environment_->make_durable();
  });
  record_opening({.boot_id = "another boot"});
  const size_t marked = marked_open();
  ASSERT_LT(marked, events().size());
  // The last write of data before the mark is synced. Then a slot is written and synced.
  size_t replayed = first_write("data.mdb");
  for (size_t next = replayed; next < marked; next = first_write("data.mdb", next + 1)) {
    replayed = next;
  }
  ASSERT_LT(replayed, marked);
  const size_t data_synced = synced("data.mdb", replayed);
  const size_t slot = first_write("checkpoint", data_synced);
  EXPECT_LT(synced("checkpoint", slot), marked);
  EXPECT_EQ(get("a"), "2");
}

// D15: the snapshot from which the batch began is not that of the newest slot. So this snapshot
//      gets a slot of its own before anything is written to data.mdb.
TEST_F(OpeningOrderTest, AfterAKill_TheSnapshotBeforeWhatIsPendingIsInACheckpoint_BeforeTheReplay) {
  in_killed_process([&] {
    open();
    (void)put("a", "1");
    (void)environment_->checkpoint();
    (void)put("b", "1");
    (void)get("b");  // a read ends the batch, so LMDB has the change
    (void)put("b", "2");
  });
  record_opening();
  const size_t replayed = first_write("data.mdb");
  ASSERT_LT(replayed, events().size());
  const Is slots = of(EventKind::kWrite, "checkpoint");
  const auto slots_before = std::count_if(
      events().begin(), events().begin() + static_cast<std::ptrdiff_t>(replayed), slots);
  // The opening confirms the trusted slot (D3), and then writes the slot of this snapshot in the
  // other place.
  EXPECT_EQ(slots_before, 2);
  size_t slot = first_write("checkpoint");
  const uint64_t confirmed = events()[slot].number;
  slot = first_write("checkpoint", slot + 1);
  EXPECT_NE(events()[slot].number, confirmed);
  EXPECT_LT(synced("checkpoint", slot), replayed);
  // The second checkpoint follows the replay.
  EXPECT_LT(first_write("checkpoint", synced("data.mdb", replayed)), events().size());
  EXPECT_EQ(get("b"), "2");
}

// D14: `pending` of earlier owners is erased before the mark says that this kernel has all writes.
TEST_F(OpeningOrderTest, Pending_IsFilledWithZeros_BeforeTheMarkSaysOpen) {
  open();
  ASSERT_TRUE(put("a", "1"));
  ASSERT_TRUE(put("a", "2"));
  environment_.reset();
  record_opening();
  const size_t marked = marked_open();
  ASSERT_LT(marked, events().size());
  const Is writes = of(EventKind::kWrite, "pending");
  std::vector<bool> zeroed(PendingFile::kBytes);
  for (size_t i = 0; i < marked; ++i) {
    const Event& event = events()[i];
    if (!writes(event)) continue;
    ASSERT_LE(event.number + event.bytes.size(), zeroed.size());
    for (size_t at = 0; at < event.bytes.size(); ++at) {
      zeroed[event.number + at] = event.bytes[at] == 0;
    }
  }
  EXPECT_EQ(std::count(zeroed.begin(), zeroed.end(), true),
            static_cast<std::ptrdiff_t>(PendingFile::kBytes));
}

// A process that is killed within a compaction or a repair may leave the empty checkpoint and the
// mark in the kernel's memory only. The disk must have both before it has the new data.mdb.
TEST_F(OpeningOrderTest, InterruptedSwap_IsSynced_BeforeTheCopyTakesThePlaceOfTheData) {
  open();
  ASSERT_TRUE(put("a", "1"));
  environment_.reset();
  fs::copy(store(), folder_ / "copy", fs::copy_options::recursive);
  fs::rename(folder_ / "copy", store() / kCopyFolder);
  ASSERT_TRUE(begin_swap(store()));
  recorder().start(folder_);
  const auto is_finished = finish_swap(store());
  recorder().stop();
  ASSERT_TRUE(is_finished && *is_finished);
  const size_t renamed = first(0, [](const Event& event) {
    return event.kind == EventKind::kRename && event.target == "s/data.mdb";
  });
  ASSERT_LT(renamed, events().size());
  EXPECT_LT(synced("checkpoint", 0), renamed);
  EXPECT_LT(synced("owner", 0), renamed);
  open();
  EXPECT_EQ(get("a"), "1");
}

// D7: LMDB does not write pages at the end of the file if the transaction that allocated them has
//     freed them.
TEST_F(OpeningOrderTest, Checkpoint_OfAShorterFile_ExtendsIt_BeforeTheSlotIsWritten) {
  open({.small_before_batch = 1000});
  const auto bytes_needed = [&] {
    auto data = system::File::open(store() / "data.mdb", 0);
    return read_meta_pair(*data)->current.data_bytes();
  };
  // Makes free pages, which LMDB reuses first.
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(put("b", "0"));
    ASSERT_TRUE(environment_->checkpoint());
  }
  ASSERT_TRUE(write([&](Trees& trees) -> Status {
    GM_TRY(trees.put(environment_->tree(0), "b", "1"));
    GM_TRY(trees.put(environment_->tree(0), "a", std::string(400'000, 'x')));
    return trees.remove(environment_->tree(0), "a");
  }));
  ASSERT_LT(fs::file_size(store() / "data.mdb"), bytes_needed()) << "LMDB has written them";
  recorder().start(folder_);
  ASSERT_TRUE(environment_->checkpoint());
  recorder().stop();
  EXPECT_EQ(fs::file_size(store() / "data.mdb"), bytes_needed());
  const size_t extended = first(0, of(EventKind::kResize, "data.mdb"));
  ASSERT_LT(extended, events().size());
  EXPECT_LT(synced("data.mdb", extended), first_write("checkpoint"));
}

}  // namespace
}  // namespace gridmount::local::testing
