// Switches for the crash tests. Programs cannot reach them: local::open() passes none.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/base/error.h"

namespace gridmount::local {

struct TestOptions {
  // Stands for the running kernel's boot id if not empty: another one at the next open makes a
  // power loss of what is between.
  std::string boot_id = {};
  // False shows what happens without invariant D2: the snapshot of the newest checkpoint is not
  // kept from being overwritten.
  bool pin = true;
  // False shows what happens without D5: the meta pages found in data.mdb are used after a power
  // loss.
  bool restore = true;
  // False: the log is not replayed.
  bool replay = true;
  // False shows what happens without D13: the mark says "open" before it is replayed.
  bool marks_after_replay = true;
  // False shows what happens without D12: records of any log are replayed, if their numbers fit.
  bool checks_log_id = true;
  // False shows what happens without D10: records of any log, whatever their numbers.
  bool checks_order = true;
  // False shows what happens without D9: records are acknowledged before they are synced.
  bool syncs_records = true;
  // False shows what happens without D11: a segment is begun again when the other one is full.
  bool waits_for_segments = true;
  // Instead of WriteQueue::kSmallBeforeBatch.
  std::optional<int> small_before_batch = {};
  // False: what is pending is not replayed.
  bool replay_pending = true;
  // False shows what happens without D15: the first slot after a kill is of the new log already.
  bool keeps_log_until_replayed = true;
  // Instead of check_mappings(), of the store's folder.
  std::function<Status(const std::filesystem::path& folder)> check_mappings = {};
};

}  // namespace gridmount::local
