// Removes what dropped collections and indexes have left behind, in the background: short
// transactions between those of others. What is still to do stands in the catalog, so a sweep that
// was interrupted goes on when the store is opened again.
#pragma once

#include <memory>
#include <thread>

#include "engine/error.h"
#include "engine/local/catalog.h"
#include "engine/local/environment.h"
#include "engine/local/trees.h"
#include "engine/thread_safety.h"

namespace gridmount::local {

class Sweeper {
 public:
  // All outlive it. Begins with what is left from before.
  Sweeper(Environment& environment, const TreeHandles& handles, CatalogCache& cache);
  // Waits for the current short transaction only.
  ~Sweeper();

  // After the commit of a transaction that has released ranges. Thread-safe.
  void wake() GM_EXCLUDES(mutex_);

 private:
  void run() GM_EXCLUDES(mutex_);
  // True if nothing is left.
  Result<bool> sweep_some();
  Result<std::vector<Range>> released_ranges();

  Environment& environment_;
  const TreeHandles& handles_;
  CatalogCache& cache_;

  Mutex mutex_;
  Condition changed_;
  bool stopping_ GM_GUARDED_BY(mutex_) = false;
  bool work_ GM_GUARDED_BY(mutex_) = true;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace gridmount::local
