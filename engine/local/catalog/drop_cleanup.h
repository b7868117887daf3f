// A background thread that frees the space of dropped collections and indexes: it removes their
// records and entries. It uses transactions of bounded size, so that other threads' transactions
// can run between them. After a failure, the thread tries again after 5 s or after wake(), and
// reports nothing. The catalog lists the released keyspaces, so an interrupted cleanup continues
// when the store is opened again.
//
// Thread-safety: thread-safe.
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

class DropCleanup {
 public:
  // All arguments must outlive this object. Starts the thread, which begins with the keyspaces that
  // earlier openings of the store have left.
  DropCleanup(Environment& environment, const TreeHandles& handles, CatalogCache& cache);
  // Waits only for the current transaction, and leaves the rest to the next opening.
  ~DropCleanup();

  // Must be called after the commit of a transaction that has released keyspaces.
  void wake() GM_EXCLUDES(mutex_);

  // Exempts a keyspace from the cleanup while this object exists. Must be made before the commit
  // that adds the keyspace to the released keyspaces. When this object is destroyed, the keyspace
  // is cleaned up if the catalog still lists it as released.
  class CleanupExemption {
   public:
    CleanupExemption(DropCleanup& drop_cleanup, const Keyspace& keyspace);
    ~CleanupExemption();
    CleanupExemption(const CleanupExemption&) = delete;
    CleanupExemption& operator=(const CleanupExemption&) = delete;

   private:
    DropCleanup& drop_cleanup_;
    const uint32_t prefix_;
  };

 private:
  void run() GM_EXCLUDES(mutex_);
  // Cleans up a part of one released keyspace, and returns false. Returns true if there is no
  // released keyspace, apart from exempt ones.
  Result<bool> clean_some();
  Result<std::vector<Keyspace>> released_keyspaces();
  bool is_exempt(const Keyspace& keyspace) GM_EXCLUDES(mutex_);

  Environment& environment_;
  const TreeHandles& handles_;
  CatalogCache& cache_;

  Mutex mutex_;
  Condition changed_;
  bool stopping_ GM_GUARDED_BY(mutex_) = false;
  bool work_ GM_GUARDED_BY(mutex_) = true;
  std::set<uint32_t> exemptions_ GM_GUARDED_BY(mutex_);  // prefixes
  std::thread thread_;                                   // last: it uses all of the above
};

}  // namespace gridmount::local
