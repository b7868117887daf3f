#include "fuse/daemon/metrics_text.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <iterator>
#include <string_view>
#include <utility>

#include "fuse/daemon/duration_number.h"

namespace gridmount::fuse {
namespace {

using std::chrono::nanoseconds;

constexpr std::array<double, 4> kShares{0.5, 0.9, 0.99, 1};

// The upper bounds of the histogram buckets: 4 us, 16 us, ... 17 s. Each is the end of a class.
constexpr int kFirstBucketPower = 12;
constexpr int kLastBucketPower = 34;
constexpr int kBucketPowerStep = 2;

// Appends lines of the text format.
class MetricsWriter {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(out_, "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  // `labels` is the text between the braces.
  template <typename Value>
  void add(std::string_view name, std::string_view labels, Value value) {
    if (labels.empty()) {
      fmt::format_to(out_, "{} {}\n", name, value);
    } else {
      fmt::format_to(out_, "{}{{{}}} {}\n", name, labels, value);
    }
  }
  template <typename Value>
  void gauge(std::string_view name, std::string_view help, Value value) {
    begin(name, "gauge", help);
    add(name, "", value);
  }
  template <typename Value>
  void counter(std::string_view name, std::string_view help, Value value) {
    begin(name, "counter", help);
    add(name, "", value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::back_insert_iterator<std::string> out_{text_};
};

void add_histogram(MetricsWriter& out, const OperationSummary& summary) {
  size_t next = 0;
  uint64_t passed = 0;
  for (int power = kFirstBucketPower; power <= kLastBucketPower; power += kBucketPowerStep) {
    const nanoseconds end(int64_t{1} << power);
    while (DurationClasses::end(next) <= end) passed += summary.classes[next++];
    out.add("gridmount_operation_duration_seconds_bucket",
            fmt::format("operation=\"{}\",le=\"{}\"", summary.operation, in_seconds(end)), passed);
  }
  const std::string label = fmt::format("operation=\"{}\"", summary.operation);
  out.add("gridmount_operation_duration_seconds_bucket", label + ",le=\"+Inf\"", summary.count);
  out.add("gridmount_operation_duration_seconds_sum", label, in_seconds(summary.total));
  out.add("gridmount_operation_duration_seconds_count", label, summary.count);
}

void add_operations(MetricsWriter& out, const std::vector<OperationSummary>& summaries) {
  out.begin("gridmount_operation_duration_seconds", "histogram",
            "Operations of the kernel that have ended, and how long they took.");
  for (const OperationSummary& summary : summaries) add_histogram(out, summary);

  out.begin("gridmount_operation_quantile_seconds", "gauge",
            "Duration that this share of the operations since the start did not exceed.");
  for (const OperationSummary& summary : summaries) {
    for (const double share : kShares) {
      out.add("gridmount_operation_quantile_seconds",
              fmt::format("operation=\"{}\",quantile=\"{}\"", summary.operation, share),
              in_seconds(summary.percentile(share)));
    }
  }

  out.begin("gridmount_operation_errors_total", "counter",
            "Operations that failed: errors that programs may cause at any time, and all others.");
  for (const OperationSummary& summary : summaries) {
    const auto add = [&](const char* kind, uint64_t count) {
      out.add("gridmount_operation_errors_total",
              fmt::format("operation=\"{}\",kind=\"{}\"", summary.operation, kind), count);
    };
    add("ordinary", summary.ordinary_errors);
    add("failure", summary.failures);
  }
}

void add_in_progress(MetricsWriter& out, const std::vector<OperationInProgress>& operations) {
  out.gauge("gridmount_operations_in_progress", "Operations that the kernel waits for.",
            operations.size());
  const nanoseconds age = operations.empty()
                              ? nanoseconds(0)
                              : std::chrono::steady_clock::now() - operations.front().begin;
  out.gauge("gridmount_oldest_operation_seconds",
            "Age of the oldest operation in progress; 0 if there is none.", in_seconds(age));
}

void add_store(MetricsWriter& out, const engine::StoreStats& store) {
  out.gauge("gridmount_store_file_bytes", "Bytes that the store occupies on disk.",
            store.file_bytes);
  out.gauge("gridmount_store_used_bytes", "Bytes of the store that are in use.", store.used_bytes);
  out.gauge("gridmount_store_capacity_bytes", "Bytes that the store may occupy at most.",
            store.capacity_bytes);
  out.gauge("gridmount_store_available_bytes", "Bytes that can still be written.",
            store.available_bytes);
  out.gauge("gridmount_store_checkpoint_age_seconds",
            "Time since the last checkpoint. Everything before the checkpoint is durable.",
            in_seconds(store.since_checkpoint));
}

void add_disk_cache(MetricsWriter& out, const DiskCache::Usage& usage) {
  out.gauge("gridmount_disk_cache_bytes", "Bytes that the cache on disk occupies.", usage.bytes);
  out.counter("gridmount_disk_cache_hits_total", "Chunks that were read from the cache on disk.",
              usage.hits);
  out.counter("gridmount_disk_cache_misses_total",
              "Chunks that the cache on disk did not have when they were needed.", usage.misses);
}

}  // namespace

std::string metrics_text(const MountState& state) {
  MetricsWriter out;
  out.begin("gridmount_build_info", "gauge", "Always 1.");
  out.add("gridmount_build_info", "version=\"" GRIDMOUNT_VERSION "\"", 1);
  add_operations(out, state.operations);
  add_in_progress(out, state.in_progress);
  out.gauge("gridmount_open_files", "Files that programs have open.", state.files.open_files);
  out.gauge("gridmount_dirty_bytes", "Data of files that is not yet committed.",
            state.files.dirty_bytes);
  if (state.store) add_store(out, *state.store);
  if (state.disk_cache) add_disk_cache(out, *state.disk_cache);
  return out.take();
}

}  // namespace gridmount::fuse
