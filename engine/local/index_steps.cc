// make_index_in_steps(): makes an index in transactions of bounded size.
//
// The first transaction allocates a keyspace that the catalog lists as released. So if the work is
// interrupted, the drop cleanup removes the keyspace when the store is next opened. Until then, a
// CleanupExemption prevents the drop cleanup of this process from removing the keyspace. The last
// transaction takes the keyspace off the list and adds the index to the collection. Readers do not
// see the index before that.

#include "engine/local/index_steps.h"

#include <optional>
#include <string>
#include <utility>

#include "engine/local/catalog/read_view.h"
#include "engine/local/indexes/index_build.h"
#include "engine/local/indexes/new_index.h"
#include "engine/local/local_store.h"

namespace gridmount::local {
namespace {

// Limits of one transaction. Each entry may change a different page.
constexpr IndexBuildLimits kAtOnce{.entries = 1'000, .bytes = 4 * 1024 * 1024};

class IndexInSteps {
 public:
  IndexInSteps(LocalStore& store, const engine::Namespace& ns,
               const query::IndexDefinition& definition)
      : store_(store), ns_(ns), definition_(definition) {}

  Status run() {
    GM_TRY(begin());
    if (!exemption_) return {};
    while (true) {
      GM_ASSIGN(const bool done, put_some());
      if (done) break;
    }
    return finish();
  }

 private:
  // Allocates the keyspace. If no keyspace is needed, `exemption_` stays empty: the index exists
  // already, or the collection is new and empty. create_index() refuses a view.
  Status begin() {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    ReadView& read_view = read_view_of(*transaction);
    Catalog& catalog = read_view.catalog();
    GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata, catalog.find(ns_));
    if (!metadata || metadata->settings.is_view()) {
      GM_TRY(store_.database(ns_.database)
                 ->collection(ns_.collection)
                 ->create_index(*transaction, definition_));
      return transaction->commit();
    }
    GM_ASSIGN(index_, new_index(ns_, metadata.get(), definition_));
    GM_ASSIGN(const bool exists, has_index(*metadata, index_));
    if (exists) return {};
    index_.checksums = read_view.trees().has_checksums();
    GM_ASSIGN(index_.keyspace, catalog.allocate_unfinished_keyspace());
    exemption_.emplace(store_.drop_cleanup(), index_.keyspace);
    return transaction->commit();
  }

  Result<bool> put_some() {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    ReadView& read_view = read_view_of(*transaction);
    GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata,
              read_view.catalog().find(ns_));
    if (!metadata) return fail(ErrorCode::kNamespaceNotFound, "ns not found: " + ns_.full());
    GM_ASSIGN(const bool done, build_index_step(read_view.shared_trees(), *metadata, index_,
                                                kAtOnce, from_, index_.multikey));
    GM_TRY(transaction->commit());
    return done;
  }

  Status finish() {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, store_.begin());
    Catalog& catalog = read_view_of(*transaction).catalog();
    GM_ASSIGN(const std::shared_ptr<const CollectionMetadata> metadata, catalog.find(ns_));
    if (!metadata) return fail(ErrorCode::kNamespaceNotFound, "ns not found: " + ns_.full());
    CollectionMetadata changed = *metadata;
    changed.indexes.push_back(index_);
    GM_TRY(catalog.finish_keyspace(index_.keyspace));
    GM_TRY(catalog.put(std::move(changed)));
    return transaction->commit();
  }

  static ReadView& read_view_of(engine::Snapshot& snapshot) {
    return *dynamic_cast<ReadViewHolder&>(snapshot).read_view();
  }

  LocalStore& store_;
  const engine::Namespace& ns_;
  const query::IndexDefinition& definition_;
  IndexMetadata index_;
  std::optional<DropCleanup::CleanupExemption> exemption_;
  std::string from_;
};

}  // namespace

Status make_index_in_steps(engine::Store& store, const engine::Namespace& ns,
                           const query::IndexDefinition& definition) {
  auto* const local = dynamic_cast<LocalStore*>(&store);
  if (local == nullptr) {
    return fail(ErrorCode::kIllegalOperation, "only an embedded store makes an index in steps");
  }
  if (store.read_only()) {
    return fail(ErrorCode::kStoreReadOnly, "a store that is open read-only gets no index");
  }
  return IndexInSteps(*local, ns, definition).run();
}

}  // namespace gridmount::local
