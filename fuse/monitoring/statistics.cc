#include "fuse/monitoring/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>

#include "fuse/errno.h"
#include "fuse/monitoring/thread_number.h"

namespace gridmount::fuse {

namespace {

using std::chrono::nanoseconds;

constexpr int kFirstPower = 8;  // the first class ends at 2^8 ns
constexpr int kEndPower = 40;   // the last one begins just below 2^40 ns
constexpr int kStepPower = 3;   // 2^3 classes for each doubling
constexpr size_t kSteps = size_t{1} << kStepPower;

static_assert(DurationClasses::kCount == 1 + (kEndPower - kFirstPower) * kSteps);

constexpr auto kRelaxed = std::memory_order_relaxed;

size_t hash_of(const char* name) {
  // FNV-1a
  uint64_t hash = 0xCBF29CE484222325U;
  for (; *name != 0; ++name) hash = (hash ^ static_cast<uint8_t>(*name)) * 0x100000001B3U;
  return hash ^ (hash >> 32);
}

void raise(std::atomic<uint64_t>& most, uint64_t value) {
  uint64_t known = most.load(kRelaxed);
  while (known < value && !most.compare_exchange_weak(known, value, kRelaxed)) {
  }
}

}  // namespace

size_t DurationClasses::of(nanoseconds duration) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(duration.count(), 0));
  if (ns < uint64_t{1} << kFirstPower) return 0;
  if (ns >= uint64_t{1} << kEndPower) return kCount - 1;
  const int power = static_cast<int>(std::bit_width(ns)) - 1;
  const size_t step = (ns >> (power - kStepPower)) & (kSteps - 1);
  return 1 + static_cast<size_t>(power - kFirstPower) * kSteps + step;
}

nanoseconds DurationClasses::end(size_t number) {
  if (number == 0) return nanoseconds(int64_t{1} << kFirstPower);
  const size_t power = (number - 1) / kSteps + kFirstPower;
  const size_t step = (number - 1) % kSteps;
  return nanoseconds(static_cast<int64_t>((kSteps + step + 1) << (power - kStepPower)));
}

nanoseconds OperationSummary::percentile(double share) const {
  const auto rank = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count)));
  uint64_t passed = 0;
  for (size_t i = 0; i + 1 < classes.size(); ++i) {
    passed += classes[i];
    if (passed >= rank) return std::min(DurationClasses::end(i), longest);
  }
  return longest;
}

void Statistics::count(const char* operation, nanoseconds duration) {
  const auto ns = static_cast<uint64_t>(std::max<int64_t>(duration.count(), 0));
  Counters& counters = counters_of(operation);
  counters.classes[DurationClasses::of(duration)].fetch_add(1, kRelaxed);
  counters.total_ns.fetch_add(ns, kRelaxed);
  raise(counters.longest_ns, ns);
}

void Statistics::count_error(const char* operation, int error_number) {
  Counters& counters = counters_of(operation);
  (is_ordinary(error_number) ? counters.ordinary_errors : counters.failures).fetch_add(1, kRelaxed);
}

std::vector<OperationSummary> Statistics::summaries() const {
  std::vector<OperationSummary> summaries;
  for (const Slot& slot : slots_) {
    const char* name = slot.name.load(std::memory_order_acquire);
    if (name != nullptr) summaries.push_back(summary_of(name, *slot.shards));
  }
  OperationSummary others = summary_of(kOthers, others_);
  if (others.count > 0) summaries.push_back(std::move(others));
  std::sort(summaries.begin(), summaries.end(),
            [](const auto& one, const auto& other) { return one.operation < other.operation; });
  return summaries;
}

OperationSummary Statistics::summary_of(const char* operation, const Shards& shards) {
  OperationSummary summary;
  summary.operation = operation;
  for (const Counters& counters : shards) {
    for (size_t i = 0; i < summary.classes.size(); ++i) {
      const uint64_t count = counters.classes[i].load(kRelaxed);
      summary.classes[i] += count;
      summary.count += count;
    }
    summary.ordinary_errors += counters.ordinary_errors.load(kRelaxed);
    summary.failures += counters.failures.load(kRelaxed);
    summary.total += nanoseconds(counters.total_ns.load(kRelaxed));
    summary.longest = std::max(summary.longest, nanoseconds(counters.longest_ns.load(kRelaxed)));
  }
  return summary;
}

Statistics::Counters& Statistics::counters_of(const char* operation) {
  const size_t shard = thread_number() % kShards;
  const Slot* slot = find_slot(operation);
  if (slot == nullptr) return others_[shard];
  if (slot->name.load(std::memory_order_acquire) != nullptr) return (*slot->shards)[shard];
  Shards* taken = take_slot(operation);
  return taken != nullptr ? (*taken)[shard] : others_[shard];
}

Statistics::Slot* Statistics::find_slot(const char* operation) {
  const size_t first = hash_of(operation);
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[(first + i) % slots_.size()];
    const char* name = slot.name.load(std::memory_order_acquire);
    if (name == nullptr || name == operation || strcmp(name, operation) == 0) return &slot;
  }
  return nullptr;
}

Statistics::Shards* Statistics::take_slot(const char* operation) {
  const MutexLock lock(taking_);
  Slot* slot = find_slot(operation);
  if (slot == nullptr) return nullptr;
  if (slot->name.load(kRelaxed) == nullptr) {
    // If there is no memory, the next operation of that name tries again.
    slot->shards.reset(new (std::nothrow) Shards);
    if (!slot->shards) return nullptr;
    slot->name.store(operation, std::memory_order_release);
  }
  return slot->shards.get();
}

}  // namespace gridmount::fuse
