#include "engine/local/ttl_monitor.h"

#include <optional>
#include <utility>
#include <vector>

#include "engine/base/log.h"
#include "engine/base/thread_name.h"
#include "engine/bson/builder.h"
#include "engine/local/catalog/catalog.h"
#include "engine/local/local_store.h"

namespace gridmount::local {
namespace {

// The limit of one transaction. It keeps the time short for which other writers wait.
constexpr int64_t kDeletesAtOnce = 128;

bson::Document expired(const engine::IndexDefinition& index) {
  const std::string_view field = (*index.keys.view().begin()).key;
  const bson::Date limit{bson::Date::now().milliseconds - *index.expire_after_seconds * 1000};
  bson::Builder filter;
  // Only dates expire. In an array, one expired date is enough. A partial index adds its own
  // condition.
  filter.open_array("$and").push_open_document();
  filter.open_document(field).append("$lte", limit).close();
  filter.close();
  if (index.partial_filter) filter.push(*index.partial_filter);
  filter.close();
  return std::move(filter).finish();
}

// The next pass tries again.
void warn(const Error& error) {
  log::warn("removing expired documents: {}", error.message());
}

}  // namespace

TtlMonitor::TtlMonitor(LocalStore& store, std::chrono::milliseconds interval)
    : store_(store), interval_(interval), thread_([this] { run(); }) {}

TtlMonitor::~TtlMonitor() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

bool TtlMonitor::stopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

void TtlMonitor::run() {
  name_this_thread("gm-ttl-monitor");
  while (true) {
    {
      MutexLock lock(mutex_);
      const auto end = std::chrono::steady_clock::now() + interval_;
      while (!stopping_) {
        const auto now = std::chrono::steady_clock::now();
        if (now >= end) break;
        changed_.wait_for(mutex_, end - now);
      }
      if (stopping_) return;
    }
    if (const Status passed = pass(); !passed) warn(passed.error());
    ++passes_;
  }
}

Status TtlMonitor::pass() {
  std::vector<engine::Namespace> names;
  {
    GM_ASSIGN(const std::unique_ptr<LocalSnapshot> snapshot, store_.local_snapshot());
    GM_ASSIGN(names, snapshot->read_view()->catalog().expiring_collections());
  }
  // A failure in one collection does not prevent the removal in the others.
  for (const engine::Namespace& ns : names) {
    if (stopping()) return {};
    if (const Status passed = pass(ns); !passed) warn(passed.error());
  }
  return {};
}

Status TtlMonitor::pass(const engine::Namespace& ns) {
  std::vector<engine::IndexDefinition> indexes;
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
    GM_ASSIGN(indexes, store_.database(ns.database)->collection(ns.collection)->indexes(*snapshot));
  }
  for (const engine::IndexDefinition& index : indexes) {
    if (!index.expire_after_seconds) continue;
    while (!stopping()) {
      GM_ASSIGN(const int64_t removed, remove_some(ns, index));
      if (removed < kDeletesAtOnce) break;
    }
  }
  return {};
}

Result<int64_t> TtlMonitor::remove_some(const engine::Namespace& ns,
                                        const engine::IndexDefinition& index) {
  GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
  const auto collection = store_.database(ns.database)->collection(ns.collection);
  std::vector<bson::Value> ids;
  std::optional<Error> problem;
  {
    engine::FindOptions options;
    options.limit = kDeletesAtOnce;
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              collection->find(*transaction, expired(index), options));
    for (int64_t failures = 0; failures < kDeletesAtOnce;) {
      const Result<std::optional<bson::View>> document = cursor->next();
      if (!document) {
        // The cursor passes over a damaged document, and the others expire nevertheless.
        if (!problem) problem = document.error();
        ++failures;
        continue;
      }
      if (!*document) break;
      ids.emplace_back((**document)["_id"]);
    }
  }
  if (ids.empty() && problem) return fail(*std::move(problem));
  if (ids.empty()) return int64_t{0};
  for (const bson::Value& id : ids) {
    bson::Builder filter;
    filter.open_document("_id").append("$eq", id).close();
    GM_TRY(collection->remove(*transaction, std::move(filter).finish(), false));
  }
  GM_TRY(transaction->commit());
  removed_ += static_cast<int64_t>(ids.size());
  return static_cast<int64_t>(ids.size());
}

}  // namespace gridmount::local
