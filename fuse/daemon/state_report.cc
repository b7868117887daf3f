#include "fuse/daemon/state_report.h"

#include "engine/base/counted.h"
#include "engine/base/log.h"
#include "fuse/daemon/duration_number.h"

namespace gridmount::fuse {

void log_state(Session& session, Buckets& buckets) {
  const std::vector<OperationInProgress> operations = session.in_progress().list();
  const auto now = std::chrono::steady_clock::now();
  log::info("state: {} in progress", counted(operations.size(), "operation"));
  for (const OperationInProgress& operation : operations) {
    log::info("state: in progress for {:.3f} s: {}", in_seconds(now - operation.begin),
              operation.text());
  }
  for (const OperationSummary& summary : session.statistics().summaries()) {
    log::info(
        "state: {}: {} done, {}, {}; 50 % within {:.3f} ms, 90 % {:.3f}, "
        "99 % {:.3f}, longest {:.3f}",
        summary.operation, summary.count, counted(summary.ordinary_errors, "ordinary error"),
        counted(summary.failures, "failure"), in_milliseconds(summary.percentile(0.5)),
        in_milliseconds(summary.percentile(0.9)), in_milliseconds(summary.percentile(0.99)),
        in_milliseconds(summary.longest));
  }
  const FileUsage files = buckets.file_usage();
  log::info("state: {}, {} not yet committed", counted(files.open_files, "open file"),
            counted(files.dirty_bytes, "byte"));
  const Result<engine::StoreStats> store = buckets.store().stats();
  if (!store) return log::info("state: the store: {}", store.error().message());
  log::info("state: the store: {} bytes, {} in use, {} available; last checkpoint {:.3f} s ago",
            store->file_bytes, store->used_bytes, store->available_bytes,
            in_seconds(store->since_checkpoint));
}

}  // namespace gridmount::fuse
