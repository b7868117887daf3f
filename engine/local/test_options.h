// Switches for the tests of crashes, of the storage and of the store's folder. Programs cannot set
// them, because local::open() uses the defaults. The D numbers are the invariants of FORMAT.md,
// chapter "Durability".
//
// Thread-safety: a value.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/base/error.h"

namespace gridmount::local {

struct TestOptions {
  // If not empty, replaces the running kernel's boot id. If a store was opened with one boot id and
  // not closed, an opening with another boot id assumes a power loss.
  std::string boot_id = {};
  // False shows what happens without invariant D2: the pages of the newest checkpoint's snapshot
  // may be overwritten.
  bool pin = true;
  // False shows what happens without D5: after a power loss, the store uses the meta pages that
  // data.mdb has.
  bool restore = true;
  // False: the log is not replayed.
  bool replay = true;
  // False shows what happens without D13: the mark becomes "open" before the log is replayed.
  bool marks_after_replay = true;
  // False shows what happens without D12: records of any log are replayed if their numbers fit.
  bool checks_log_id = true;
  // False shows what happens without D10: records of any log are replayed, whatever their numbers.
  bool checks_order = true;
  // False shows what happens without D9: records are acknowledged, but never synced.
  bool syncs_records = true;
  // False shows what happens without D11: when one segment is full, the log overwrites the other
  // one without waiting for a checkpoint, even if the records in the other one may still count.
  bool waits_for_segments = true;
  // If set, replaces WriteQueue::kSmallBeforeBatch, the number of successive small transactions
  // after which a batch may begin.
  std::optional<int> small_before_batch = {};
  // If set, replaces Batch::kTimeMax, the time after which a batch should end.
  std::optional<std::chrono::milliseconds> batch_time_max = {};
  // False: `pending` is not replayed.
  bool replay_pending = true;
  // False shows what happens without D15: the first slot after a kill already has the id of the new
  // log, although `pending` was not replayed yet.
  bool keeps_log_until_replayed = true;
  // If set, replaces check_mappings() (map_coherence.h).
  std::function<Status(const std::filesystem::path& folder)> check_mappings = {};
};

}  // namespace gridmount::local
