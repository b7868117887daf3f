#include "fuse/daemon/bucket_statistics.h"

#include <chrono>
#include <string_view>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "fuse/daemon/duration_number.h"

namespace gridmount::fuse {

namespace {

void append_collection(bson::Builder& out, std::string_view name, engine::Snapshot& snapshot,
                       engine::Collection& collection) {
  const Result<engine::CollectionStats> stats = collection.stats(snapshot);
  if (!stats) return;
  out.open_document(name).append("count", stats->documents);
  out.append("bytes", stats->document_bytes).close();
}

void append_bucket(bson::Builder& out, gridfs::PathNamespace& paths) {
  const gridfs::Bucket& bucket = paths.bucket();
  out.append("bucket", bucket.options().name);
  const Result<std::unique_ptr<engine::Snapshot>> snapshot = bucket.store().snapshot();
  if (!snapshot) return;
  append_collection(out, "files", **snapshot, bucket.files());
  append_collection(out, "chunks", **snapshot, bucket.chunks());
  append_collection(out, "directories", **snapshot, bucket.directories());
  append_collection(out, "links", **snapshot, bucket.links());
}

void append_operation(bson::Builder& out, const OperationSummary& summary) {
  out.open_document(summary.operation);
  out.append("count", static_cast<int64_t>(summary.count));
  out.append("errors", static_cast<int64_t>(summary.ordinary_errors + summary.failures));
  out.append("failures", static_cast<int64_t>(summary.failures));
  out.open_document("latencySeconds");
  out.append("total", in_seconds(summary.total));
  out.append("p50", in_seconds(summary.percentile(0.5)));
  out.append("p90", in_seconds(summary.percentile(0.9)));
  out.append("p99", in_seconds(summary.percentile(0.99)));
  out.append("max", in_seconds(summary.longest));
  out.close().close();
}

void append_store(bson::Builder& out, const engine::StoreStats& store) {
  out.open_document("store");
  out.append("fileBytes", static_cast<int64_t>(store.file_bytes));
  out.append("usedBytes", static_cast<int64_t>(store.used_bytes));
  out.append("capacityBytes", static_cast<int64_t>(store.capacity_bytes));
  out.append("availableBytes", static_cast<int64_t>(store.available_bytes));
  out.append("secondsSinceCheckpoint", in_seconds(store.since_checkpoint));
  out.close();
}

}  // namespace

std::string bucket_statistics(const MountState& state, gridfs::PathNamespace& paths) {
  bson::Builder out;
  append_bucket(out, paths);
  out.append("openFiles", state.files.open_files);
  out.append("uncommittedBytes", static_cast<int64_t>(state.files.dirty_bytes));
  out.append("operationsInProgress", static_cast<int64_t>(state.in_progress.size()));
  out.open_document("operations");
  for (const OperationSummary& summary : state.operations) append_operation(out, summary);
  out.close();
  if (state.store) append_store(out, *state.store);
  return bson::to_json(std::move(out).finish(), bson::JsonForm::kRelaxed) + "\n";
}

}  // namespace gridmount::fuse
