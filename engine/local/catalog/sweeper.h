// Removes what dropped collections and indexes have left behind, in the background: short
// transactions between those of others. What is still to do stands in the catalog, so a sweep that
// was interrupted goes on when the store is opened again.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/local/catalog/catalog.h"
#include "engine/local/storage/environment.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

class Sweeper {
 public:
  // All outlive it. Begins with what is left from before.
  Sweeper(Environment& environment, const TreeHandles& handles, CatalogCache& cache);
  // Waits for the current short transaction only.
  ~Sweeper();

  // After the commit of a transaction that has released ranges. Thread-safe.
  void wake() GM_EXCLUDES(mutex_);

  // A range that is not swept while this is there, to be made before the commit that has it among
  // the released ones. Whether it is to be swept afterwards the catalog says.
  class Spared {
   public:
    Spared(Sweeper& sweeper, const Range& range);
    ~Spared();
    Spared(const Spared&) = delete;
    Spared& operator=(const Spared&) = delete;

   private:
    Sweeper& sweeper_;
    const uint32_t prefix_;
  };

 private:
  void run() GM_EXCLUDES(mutex_);
  // True if nothing is left.
  Result<bool> sweep_some();
  Result<std::vector<Range>> released_ranges();
  bool spares(const Range& range) GM_EXCLUDES(mutex_);

  Environment& environment_;
  const TreeHandles& handles_;
  CatalogCache& cache_;

  Mutex mutex_;
  Condition changed_;
  bool stopping_ GM_GUARDED_BY(mutex_) = false;
  bool work_ GM_GUARDED_BY(mutex_) = true;
  std::set<uint32_t> spared_ GM_GUARDED_BY(mutex_);  // prefixes
  std::thread thread_;                               // last: it uses all of the above
};

}  // namespace gridmount::local
