#include "engine/profiling/profiler.h"

#include <algorithm>
#include <random>
#include <utility>

#include "engine/base/log.h"
#include "engine/base/thread_name.h"
#include "engine/bson/builder.h"

namespace gridmount::profiling {
namespace {

constexpr std::string_view kCollection = "system.profile";
constexpr int64_t kCollectionBytes = 1 << 20;  // the size that servers use
constexpr size_t kWaitingMax = 10'000;

bool sampled(double rate) {
  if (rate >= 1) return true;
  static thread_local std::mt19937 random{std::random_device()()};
  return std::uniform_real_distribution<double>(0, 1)(random) < rate;
}

bson::Document collection_options() {
  bson::Builder options;
  options.append("capped", true).append("size", kCollectionBytes);
  return std::move(options).finish();
}

Status write_to(engine::Store& store, engine::Transaction& transaction,
                const Operation& operation) {
  const std::shared_ptr<engine::Database> database = store.database(operation.ns.database);
  GM_ASSIGN(const bool exists, database->exists(transaction, kCollection));
  if (!exists) GM_TRY(database->create(transaction, kCollection, collection_options()));
  GM_TRY(database->collection(kCollection)->insert(transaction, entry_of(operation)));
  return {};
}

}  // namespace

Profiler::Profiler(engine::Store& store) : store_(store), thread_([this] { run(); }) {}

Profiler::~Profiler() {
  {
    MutexLock lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Settings Profiler::settings(std::string_view database) const {
  MutexLock lock(mutex_);
  const auto found = settings_.find(database);
  return found == settings_.end() ? Settings() : found->second;
}

Status Profiler::set(std::string_view database, const Settings& settings) {
  if (settings.level < 0 || settings.level > 2) {
    return fail(ErrorCode::kBadValue,
                "profiling levels are 0, 1 and 2, not " + std::to_string(settings.level));
  }
  if (!(settings.sample_rate >= 0 && settings.sample_rate <= 1)) {
    return fail(ErrorCode::kBadValue, "'sampleRate' must be between 0.0 and 1.0 inclusive");
  }
  if (settings.level != 0 && store_.read_only()) {
    return fail(ErrorCode::kStoreReadOnly,
                "the profiler needs to write, but the store is read-only");
  }
  MutexLock lock(mutex_);
  settings_[std::string(database)] = settings;
  active_ = std::any_of(settings_.begin(), settings_.end(),
                        [](const auto& one) { return one.second.level != 0; });
  filters_ = std::any_of(settings_.begin(), settings_.end(),
                         [](const auto& one) { return one.second.filter != nullptr; });
  return {};
}

bool Profiler::wants(const engine::Namespace& ns, std::chrono::microseconds duration) const {
  if (!active()) return false;
  const Settings own = settings(ns.database);
  if (own.level == 2) return true;
  if (own.level == 1 && own.filter) return true;
  return own.level == 1 && duration >= own.slow && sampled(own.sample_rate);
}

std::shared_ptr<const OperationFilter> Profiler::filter(std::string_view database) const {
  if (!filters_.load(std::memory_order_relaxed)) return nullptr;
  return settings(database).filter;
}

void Profiler::record(Operation operation) {
  if (filters_.load(std::memory_order_relaxed)) {
    const Settings own = settings(operation.ns.database);
    if (own.level == 1 && own.filter && !own.filter->matches(operation)) return;
  }
  MutexLock lock(mutex_);
  if (waiting_.size() >= kWaitingMax) {
    // The queue is bounded. The log says that records are missing.
    if (dropped_++ == 0) log::warn("the profiler cannot keep up and drops operations");
    return;
  }
  waiting_.push_back(std::move(operation));
  ++recorded_;
  changed_.notify_all();
}

void Profiler::flush() {
  MutexLock lock(mutex_);
  const uint64_t until = recorded_;
  while (written_ < until) changed_.wait(mutex_);
}

void Profiler::run() {
  name_this_thread("gm-profiler");
  while (true) {
    std::deque<Operation> operations;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !ends_) changed_.wait(mutex_);
      if (waiting_.empty()) return;
      operations.swap(waiting_);
    }
    write(operations);
    MutexLock lock(mutex_);
    written_ += operations.size();
    changed_.notify_all();
  }
}

// Leaves out the operations that cannot be written. But in a store where a failed write ends the
// transaction, none of the operations are then written.
void Profiler::write(std::deque<Operation>& operations) {
  const bool continues = store_.capabilities().continues_after_failed_writes;
  size_t left_out = 0;
  Status first_failure;
  const auto write_all = [&]() -> Status {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    for (const Operation& operation : operations) {
      Status written = write_to(store_, *transaction, operation);
      if (written) continue;
      if (!continues) return written;
      if (left_out++ == 0) first_failure = std::move(written);
    }
    return transaction->commit();
  };
  if (const Status written = write_all(); !written) {
    log::warn("the profiler could not write {} operations: {}", operations.size(),
              written.error().message());
  } else if (left_out > 0) {
    log::warn("the profiler could not write {} operations: {}", left_out,
              first_failure.error().message());
  }
}

}  // namespace gridmount::profiling
