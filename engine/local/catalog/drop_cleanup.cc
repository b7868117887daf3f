#include "engine/local/catalog/drop_cleanup.h"

#include <chrono>
#include <string>

#include "engine/base/thread_name.h"
#include "engine/local/files/fault_scope.h"

namespace gridmount::local {
namespace {

using std::chrono::steady_clock;

// The limits of one transaction. They keep the time short for which other writers wait.
constexpr int kEntriesMax = 1024;
constexpr std::chrono::milliseconds kTimeMax{5};
// A tree with one keyspace and at most this many pages is cleared at once. This costs eight bytes
// per page in the list of free pages, and PageCheck::before_clear() reads the whole tree.
constexpr size_t kPagesAtOnceMax = 65536;
// The delay after a failure, such as a full disk.
constexpr std::chrono::seconds kRetryAfter{5};

size_t pages_of(const Trees& trees, MDB_dbi tree) {
  MDB_stat stat{};
  const int code = guarded([&] { return mdb_stat(trees.txn(), tree, &stat); });
  if (code != MDB_SUCCESS) return SIZE_MAX;
  return stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages;
}

// Removes entries of the keyspace. Returns true if none are left.
Result<bool> remove_some(Trees& trees, const Keyspace& keyspace) {
  const std::string low = keyspace_prefix(keyspace);
  const std::string high = keyspace_end(keyspace);
  const MDB_dbi tree = trees.tree(keyspace);
  const steady_clock::time_point end = steady_clock::now() + kTimeMax;
  for (int i = 0; i < kEntriesMax; ++i) {
    GM_ASSIGN(const std::optional<TreeEntry> entry, trees.at_or_after(tree, low));
    if (!entry || entry->key >= high) return true;
    GM_TRY(trees.remove(tree, std::string(entry->key)));
    if (i % 16 == 15 && steady_clock::now() > end) break;
  }
  return false;
}

}  // namespace

DropCleanup::DropCleanup(Environment& environment, const TreeHandles& handles, CatalogCache& cache)
    : environment_(environment), handles_(handles), cache_(cache), thread_([this] { run(); }) {}

DropCleanup::~DropCleanup() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void DropCleanup::wake() {
  MutexLock lock(mutex_);
  work_ = true;
  changed_.notify_all();
}

DropCleanup::CleanupExemption::CleanupExemption(DropCleanup& drop_cleanup, const Keyspace& keyspace)
    : drop_cleanup_(drop_cleanup), prefix_(keyspace.prefix) {
  MutexLock lock(drop_cleanup_.mutex_);
  drop_cleanup_.exemptions_.insert(prefix_);
}

DropCleanup::CleanupExemption::~CleanupExemption() {
  {
    MutexLock lock(drop_cleanup_.mutex_);
    drop_cleanup_.exemptions_.erase(prefix_);
  }
  drop_cleanup_.wake();
}

bool DropCleanup::is_exempt(const Keyspace& keyspace) {
  MutexLock lock(mutex_);
  return exemptions_.contains(keyspace.prefix);
}

void DropCleanup::run() {
  name_this_thread("gm-drop-cleanup");
  while (true) {
    {
      MutexLock lock(mutex_);
      while (!work_ && !stopping_) changed_.wait(mutex_);
      if (stopping_) return;
      work_ = false;
    }
    const Result<bool> done = clean_some();
    MutexLock lock(mutex_);
    if (!done) {
      // Nobody waits for a cleanup, so do not report the failure. Other operations meet the same
      // failure.
      if (!stopping_) changed_.wait_for(mutex_, kRetryAfter);
      work_ = true;
    } else if (!*done) {
      work_ = true;
    }
  }
}

Result<std::vector<Keyspace>> DropCleanup::released_keyspaces() {
  GM_ASSIGN(const ReadTransaction transaction, environment_.begin_read());
  const auto trees = std::make_shared<Trees>(transaction.lmdb(), handles_, false);
  Result<std::vector<Keyspace>> keyspaces = Catalog(trees, cache_).released_keyspaces();
  trees->end();
  return keyspaces;
}

Result<bool> DropCleanup::clean_some() {
  GM_ASSIGN(std::vector<Keyspace> keyspaces, released_keyspaces());
  std::erase_if(keyspaces, [&](const Keyspace& keyspace) { return is_exempt(keyspace); });
  if (keyspaces.empty()) return true;
  const Keyspace keyspace = keyspaces.front();

  GM_ASSIGN(WriteTransaction transaction, environment_.begin_write());
  const auto trees = std::make_shared<Trees>(transaction.lmdb(), handles_, true);
  Catalog catalog(trees, cache_);
  const auto clean = [&]() -> Status {
    // Since the list was read, an index build may have finished, and its keyspace is then no longer
    // exempt.
    GM_ASSIGN(const bool is_released, catalog.is_released(keyspace));
    if (!is_released) return {};
    GM_ASSIGN(const uint32_t sharing, catalog.keyspaces_in_tree(keyspace.tree));
    bool empty = false;
    if (sharing == 1 && pages_of(*trees, trees->tree(keyspace)) <= kPagesAtOnceMax) {
      GM_TRY(trees->clear(trees->tree(keyspace)));
      empty = true;
    } else {
      GM_ASSIGN(empty, remove_some(*trees, keyspace));
    }
    return empty ? catalog.remove_keyspace(keyspace) : Status();
  };
  const Status cleaned = clean();
  if (trees->shrinks_net()) transaction.net_shrink();
  transaction.log(trees->take_changes());
  trees->end();
  if (!cleaned) return fail(cleaned.error());
  GM_TRY(transaction.commit());
  return false;
}

}  // namespace gridmount::local
