// A background thread that removes the documents of TTL indexes when they expire.
// Source: MongoDB manual, "TTL Indexes".
//
// Thread-safety: thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/store.h"

namespace gridmount::local {

class LocalStore;

class TtlMonitor {
 public:
  // `store` must outlive this object. The first pass begins one interval after the construction.
  TtlMonitor(LocalStore& store, std::chrono::milliseconds interval);
  // Waits until the thread has ended its current step: at most one transaction, which may first
  // wait for the write lock and removes at most 128 documents.
  ~TtlMonitor();

  // passes() returns how many passes have ended, with or without an error, and removed() how many
  // documents were removed. Both count from the construction on. After an error in a collection,
  // the pass logs a warning and continues with the next collection. The next pass tries the
  // collection again.
  int64_t passes() const { return passes_; }
  int64_t removed() const { return removed_; }

 private:
  void run() GM_EXCLUDES(mutex_);
  bool stopping() GM_EXCLUDES(mutex_);
  Status pass();
  Status pass(const engine::Namespace& ns);
  // Removes some of the documents that this index makes expire, in one transaction. Returns their
  // number.
  Result<int64_t> remove_some(const engine::Namespace& ns, const engine::IndexDefinition& index);

  LocalStore& store_;
  const std::chrono::milliseconds interval_;

  std::atomic<int64_t> passes_ = 0;
  std::atomic<int64_t> removed_ = 0;
  Mutex mutex_;
  Condition changed_;
  bool stopping_ GM_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace gridmount::local
