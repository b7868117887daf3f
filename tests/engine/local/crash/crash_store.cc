#include "tests/engine/local/crash/crash_store.h"

#include "engine/local/integrity/structure_check.h"
#include "engine/local/local_store.h"
#include "tests/engine/local/crash/crash_subject.h"

namespace gridmount::local::testing {

OpenOptions crash_store_options() {
  OpenOptions options;
  options.map_bytes = uint64_t{1} << 30;
  options.checkpoint_interval = std::chrono::hours(1);
  options.expiry_interval = std::chrono::hours(1);
  options.redo_bytes = kCrashRedoBytes;
  return options;
}

Result<std::unique_ptr<engine::Store>> open_crash_store(const std::filesystem::path& folder,
                                                        bool create, const TestOptions& test,
                                                        OpenOptions options) {
  options.create = create;
  const bool asks_for_nothing =
      test.boot_id.empty() && test.pin && test.restore && test.replay && test.marks_after_replay &&
      test.checks_log_id && test.checks_order && test.syncs_records && test.waits_for_segments &&
      !test.small_before_batch && !test.batch_time_max && test.replay_pending &&
      test.keeps_log_until_replayed && !test.check_mappings;
  if (asks_for_nothing) return local::open(folder, options);
  GM_ASSIGN(std::unique_ptr<Environment> environment, Environment::open(folder, options, test));
  return std::unique_ptr<engine::Store>(
      std::make_unique<LocalStore>(std::move(environment), options));
}

Status take_checkpoint(engine::Store& store) {
  return dynamic_cast<LocalStore&>(store).environment().checkpoint();
}

Result<std::vector<std::string>> structure_problems(engine::Store& store) {
  GM_ASSIGN(StructureReport report, check_structure(store));
  return std::move(report.problems);
}

}  // namespace gridmount::local::testing
