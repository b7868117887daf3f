#include "engine/local/local_store.h"

#include <lmdb.h>

#include <utility>

#include "engine/local/database.h"
#include "engine/local/files/data_swap.h"
#include "engine/local/files/store_folder.h"
#include "engine/local/open_store.h"

namespace gridmount::local {

LocalSnapshot::LocalSnapshot(ReadTransaction transaction, const TreeHandles& handles,
                             CatalogCache& cache, IndexUsage& index_usage, Environment& environment)
    : ReadViewHolder(std::make_shared<ReadView>(transaction.lmdb(), handles, false, cache,
                                                index_usage, environment)),
      transaction_(std::move(transaction)) {}

LocalSnapshot::~LocalSnapshot() {
  read_view()->trees().end();
}

Status LocalSnapshot::pause() {
  GM_TRY(read_view()->trees().readable());
  read_view()->pause();
  transaction_ = ReadTransaction();
  return {};
}

Status LocalSnapshot::resume() {
  if (!read_view()->trees().ended()) {
    return fail(ErrorCode::kIllegalOperation, "the snapshot is not paused");
  }
  GM_ASSIGN(transaction_, read_view()->environment().begin_read());
  read_view()->resume(transaction_.lmdb());
  return {};
}

std::optional<uint64_t> LocalSnapshot::version() const {
  if (read_view()->trees().ended()) return std::nullopt;
  return mdb_txn_id(transaction_.lmdb());
}

LocalBatchSnapshot::LocalBatchSnapshot(WriteTransaction transaction, const TreeHandles& handles,
                                       CatalogCache& cache, IndexUsage& index_usage,
                                       Environment& environment)
    : ReadViewHolder(std::make_shared<ReadView>(transaction.lmdb(), handles, true, cache,
                                                index_usage, environment)),
      transaction_(std::move(transaction)) {}

LocalBatchSnapshot::~LocalBatchSnapshot() {
  read_view()->trees().end();
}

Status LocalBatchSnapshot::pause() {
  return fail(ErrorCode::kIllegalOperation, "a short snapshot cannot be paused");
}

Status LocalBatchSnapshot::resume() {
  return pause();
}

LocalTransaction::LocalTransaction(WriteTransaction transaction, engine::TransactionKind kind,
                                   const TreeHandles& handles, CatalogCache& cache,
                                   IndexUsage& index_usage, Environment& environment,
                                   DropCleanup& drop_cleanup)
    : ReadViewHolder(std::make_shared<ReadView>(transaction.lmdb(), handles, true, cache,
                                                index_usage, environment)),
      transaction_(std::move(transaction)),
      drop_cleanup_(drop_cleanup) {
  if (kind == engine::TransactionKind::kShort) hold_.emplace();
}

Status LocalTransaction::pause() {
  return fail(ErrorCode::kIllegalOperation, "a transaction cannot be paused");
}

Status LocalTransaction::resume() {
  return pause();
}

LocalTransaction::~LocalTransaction() {
  if (read_view()->trees().writes() == 0) transaction_.unchanged();
  read_view()->trees().end();
}

Status LocalTransaction::commit(engine::Durability durability) {
  Trees& trees = read_view()->trees();
  GM_TRY(trees.readable());
  // Any failure poisons `trees`, and with it the LMDB transaction.
  if (!trees.poison_error()) {
    if (const Status written = read_view()->catalog().write_counts();
        !written && !trees.poison_error()) {
      static_cast<void>(trees.poison(written.error()));
    }
  }
  if (trees.poison_error()) transaction_.poison(*trees.poison_error());
  if (trees.shrinks_net()) transaction_.net_shrink();
  if (trees.writes() == 0) transaction_.unchanged();
  transaction_.log(trees.take_changes());
  trees.end();
  const Status committed = transaction_.commit();
  hold_.reset();
  GM_TRY(committed);
  if (read_view()->write_observer() != nullptr) read_view()->write_observer()->committed();
  if (read_view()->catalog().released()) drop_cleanup_.wake();
  if (durability == engine::Durability::kDurable) return read_view()->environment().make_durable();
  return {};
}

LocalStore::LocalStore(std::unique_ptr<Environment> environment, const OpenOptions& options)
    : environment_(std::move(environment)) {
  handles_.catalog = environment_->catalog();
  for (int i = 0; i < Environment::kTreeCount; ++i) {
    handles_.keyspaces.push_back(environment_->tree(i));
  }
  handles_.checksums = environment_->format_version() >= kFirstVersionWithChecksums;
  handles_.patches = environment_->format_version() >= kFirstVersionWithPatches;
  handles_.collations = environment_->format_version() >= kFirstVersionWithCollations;
  handles_.text_and_wildcard_indexes =
      environment_->format_version() >= kFirstVersionWithTextAndWildcardIndexes;
  if (!environment_->read_only()) {
    drop_cleanup_ = std::make_unique<DropCleanup>(*environment_, handles_, cache_);
    ttl_monitor_ = std::make_unique<TtlMonitor>(*this, options.expiry_interval);
  }
}

std::shared_ptr<engine::Database> LocalStore::database(std::string_view name) {
  return std::make_shared<LocalDatabase>(name, *environment_);
}

Result<std::vector<std::string>> LocalStore::databases(engine::Snapshot& snapshot) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, read_view_of(snapshot, *environment_));
  return read_view->catalog().databases();
}

Result<std::unique_ptr<LocalSnapshot>> LocalStore::local_snapshot() {
  GM_ASSIGN(ReadTransaction transaction, environment_->begin_read());
  return std::make_unique<LocalSnapshot>(std::move(transaction), handles_, cache_, index_usage_,
                                         *environment_);
}

Result<std::unique_ptr<engine::Snapshot>> LocalStore::snapshot() {
  GM_ASSIGN(std::unique_ptr<LocalSnapshot> snapshot, local_snapshot());
  return std::unique_ptr<engine::Snapshot>(std::move(snapshot));
}

Result<std::unique_ptr<engine::Snapshot>> LocalStore::short_snapshot() {
  GM_ASSIGN(std::optional<WriteTransaction> in_batch, environment_->begin_read_in_batch());
  if (in_batch) {
    return std::unique_ptr<engine::Snapshot>(std::make_unique<LocalBatchSnapshot>(
        *std::move(in_batch), handles_, cache_, index_usage_, *environment_));
  }
  GM_ASSIGN(ReadTransaction transaction, environment_->begin_short_read());
  return std::unique_ptr<engine::Snapshot>(std::make_unique<LocalSnapshot>(
      std::move(transaction), handles_, cache_, index_usage_, *environment_));
}

Result<std::unique_ptr<engine::Transaction>> LocalStore::begin(engine::TransactionKind kind) {
  GM_ASSIGN(WriteTransaction transaction, environment_->begin_write(kind));
  return std::unique_ptr<engine::Transaction>(std::make_unique<LocalTransaction>(
      std::move(transaction), kind, handles_, cache_, index_usage_, *environment_, *drop_cleanup_));
}

Status LocalStore::make_durable() {
  return environment_->make_durable();
}

Result<int64_t> LocalStore::compact(const engine::Namespace& ns,
                                    const std::optional<engine::Deadline>& deadline) {
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, this->snapshot());
    GM_ASSIGN(const std::optional<engine::CollectionInfo> info,
              database(ns.database)->collection_info(*snapshot, ns.collection));
    if (!info) return fail(ErrorCode::kNamespaceNotFound, "collection does not exist");
    if (info->options.find("viewOn")) {
      return fail(ErrorCode::kCommandNotSupportedOnView, "can't compact a view");
    }
  }
  GM_TRY(environment_->reclaim());
  GM_ASSIGN(const uint64_t freed, environment_->return_free_pages(deadline));
  return static_cast<int64_t>(freed);
}

Result<engine::StoreStats> LocalStore::stats() {
  GM_ASSIGN(engine::StoreStats stats, environment_->stats());
  if (ttl_monitor_ != nullptr) {
    stats.expiry_passes = ttl_monitor_->passes();
    stats.expired_documents = ttl_monitor_->removed();
  }
  return stats;
}

std::optional<Owner> LocalStore::owner_beside() const {
  return environment_->owner_beside();
}

bool LocalStore::read_only() const {
  return environment_->read_only();
}

int format_version_of(const engine::Store& store) {
  const auto* const local = dynamic_cast<const LocalStore*>(&store);
  return local == nullptr ? kFormatVersion : local->format_version();
}

std::optional<Owner> owner_beside(const engine::Store& store) {
  const auto* const local = dynamic_cast<const LocalStore*>(&store);
  return local == nullptr ? std::nullopt : local->owner_beside();
}

Result<std::unique_ptr<engine::Store>> open(const std::filesystem::path& folder,
                                            const OpenOptions& options) {
  if (!options.read_only) GM_TRY(finish_swap_with_warning(folder));
  Result<std::unique_ptr<Environment>> opened = Environment::open(folder, options);
  const bool is_in_use = opened ? (*opened)->owner_beside().has_value()
                                : opened.error().code() == ErrorCode::kStoreLocked;
  if (options.read_only && !is_in_use && is_swap_unfinished(folder)) {
    return fail(ErrorCode::kStoreReadOnly,
                "store " + folder.string() +
                    " has an interrupted repair, which an opening for writing finishes; run "
                    "'gridstore check --repair'");
  }
  GM_ASSIGN(std::unique_ptr<Environment> environment, std::move(opened));
  if (!environment->read_only()) {
    // Remove the copy of an interrupted compaction or salvage. If its swap had begun, finish_swap()
    // has used the copy.
    std::error_code ignored;
    std::filesystem::remove_all(folder / kCopyFolder, ignored);
  }
  return std::unique_ptr<engine::Store>(
      std::make_unique<LocalStore>(std::move(environment), options));
}

}  // namespace gridmount::local
