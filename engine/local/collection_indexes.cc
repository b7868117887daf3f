// Creates and drops indexes.

#include "engine/local/collection.h"
#include "engine/local/indexes/index_build.h"
#include "engine/local/indexes/new_index.h"

namespace gridmount::local {

Status LocalCollection::create_index(engine::Transaction& transaction,
                                     const query::IndexDefinition& definition) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  GM_ASSIGN(SharedMetadata metadata, read_view->catalog().find(ns_));
  GM_ASSIGN(IndexMetadata index, new_index(ns_, metadata.get(), definition));

  const bool existed = metadata != nullptr;
  GM_ASSIGN(metadata, metadata_for_write(*read_view));
  if (existed) {
    GM_ASSIGN(const bool exists, has_index(*metadata, index));
    if (exists) return {};
  } else if (is_on_id(index)) {
    return {};
  }

  Catalog& catalog = read_view->catalog();
  index.checksums = read_view->trees().has_checksums();
  GM_ASSIGN(index.keyspace, catalog.allocate_keyspace());
  if (Status built = build_index(read_view->shared_trees(), *metadata, index, index.multikey);
      !built) {
    // The drop cleanup later removes the entries that were put into the keyspace. Nothing else has
    // changed.
    GM_TRY(catalog.release_keyspace(index.keyspace));
    return built;
  }
  CollectionMetadata changed = *metadata;
  const Keyspace keyspace = index.keyspace;
  changed.indexes.push_back(std::move(index));
  if (const auto put = catalog.put(std::move(changed)); !put) {
    GM_TRY(catalog.release_keyspace(keyspace));
    return fail(put.error());
  }
  return {};
}

Status LocalCollection::drop_index(engine::Transaction& transaction, std::string_view name) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  GM_ASSIGN(SharedMetadata metadata, read_view->catalog().find(ns_));
  if (!metadata) return fail(ErrorCode::kNamespaceNotFound, "ns not found: " + ns_.full());
  GM_ASSIGN(metadata, metadata_for_write(*read_view));
  if (name == kIdIndexName) {
    return fail(ErrorCode::kInvalidOptions, ns_.full() + ": cannot drop _id index");
  }
  CollectionMetadata changed = *metadata;
  for (size_t i = 0; i < changed.indexes.size(); ++i) {
    if (changed.indexes[i].definition.name != name) continue;
    GM_TRY(read_view->catalog().release_keyspace(changed.indexes[i].keyspace));
    changed.indexes.erase(changed.indexes.begin() + static_cast<std::ptrdiff_t>(i));
    GM_TRY(read_view->catalog().put(std::move(changed)));
    return {};
  }
  return fail(ErrorCode::kIndexNotFound,
              ns_.full() + ": index not found with name [" + std::string(name) + "]");
}

}  // namespace gridmount::local
