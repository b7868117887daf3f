// Creates and drops indexes.

#include "engine/bson/text.h"
#include "engine/local/collection.h"
#include "engine/local/indexes/index_build.h"

namespace gridmount::local {
namespace {

// MongoDB's limit.
constexpr size_t kMaxIndexes = 64;

// Returns true if the index already exists. Fails if another index has its name or its keys.
Result<bool> exists_already(const CollectionEntry& entry, const query::IndexDefinition& wanted) {
  const auto both = [&](const query::IndexDefinition& existing) {
    return " Requested index: " + bson::to_text(wanted.specification()) +
           ", existing index: " + bson::to_text(existing.specification());
  };
  for (const query::IndexDefinition& existing : entry.definitions) {
    if (existing.name != wanted.name) continue;
    query::IndexDefinition as_unique = wanted;
    // The _id index is unique, whether the definition says so or not.
    if (existing.name == kIdIndexName) as_unique.unique = true;
    if (!query::same_index(existing, as_unique)) {
      return fail(ErrorCode::kIndexKeySpecsConflict,
                  entry.ns.full() +
                      ": An existing index has the same name as the requested index. When index "
                      "names are not specified, they are auto generated and can cause conflicts." +
                      both(existing));
    }
    if (!query::same_options(existing, wanted)) {
      return fail(ErrorCode::kIndexOptionsConflict,
                  entry.ns.full() +
                      ": An equivalent index already exists with the same name but different "
                      "options." +
                      both(existing));
    }
    return true;
  }
  for (const query::IndexDefinition& existing : entry.definitions) {
    if (query::same_index(existing, wanted)) {
      return fail(ErrorCode::kIndexOptionsConflict,
                  "Index already exists with a different name: " + existing.name);
    }
  }
  return false;
}

bool is_on_id(const IndexEntry& index) {
  const IndexPart& first = index.rules.parts[0];
  return index.rules.parts.size() == 1 && first.path.dotted() == "_id" && !first.descending &&
         !first.hashed;
}

}  // namespace

Result<IndexEntry> new_index(const engine::Namespace& ns,
                             const query::IndexDefinition& definition) {
  IndexEntry index;
  index.definition = definition;
  std::string& name = index.definition.name;
  if (name.empty()) name = query::default_index_name(definition.keys);
  GM_TRY(query::check_combination(index.definition));
  GM_ASSIGN(index.rules, index_key_spec(index.definition));
  if (name.find('\0') != std::string::npos || name == "*") {
    return fail(ErrorCode::kCannotCreateIndex,
                ns.full() + ": '" + name + "' cannot be the name of an index");
  }
  // A collection has only one index on _id, whatever name is given.
  if (is_on_id(index)) name = kIdIndexName;
  return index;
}

Result<bool> has_index(const CollectionEntry& entry, const IndexEntry& index) {
  GM_ASSIGN(const bool exists, exists_already(entry, index.definition));
  if (exists) return true;
  if (entry.settings.capped && index.definition.expire_after_seconds) {
    return fail(ErrorCode::kCannotCreateIndex,
                entry.ns.full() + ": Cannot create TTL index on a capped collection");
  }
  if (entry.indexes.size() >= kMaxIndexes) {
    return fail(ErrorCode::kCannotCreateIndex,
                entry.ns.full() + " already has 64 indexes, the limit of a collection");
  }
  return false;
}

Status LocalCollection::create_index(engine::Transaction& transaction,
                                     const query::IndexDefinition& definition) {
  GM_ASSIGN(const std::shared_ptr<ReadView> read_view, writable_view_of(transaction, environment_));
  GM_ASSIGN(IndexEntry index, new_index(ns_, definition));
  if (index.definition.name == kIdIndexName && !is_on_id(index)) {
    return fail(ErrorCode::kBadValue,
                "The index name '_id_' is reserved for the _id index, which must have key pattern "
                "{_id: 1}, found key: " +
                    bson::to_text(index.definition.keys));
  }

  GM_ASSIGN(SharedEntry entry, read_view->catalog().find(ns_));
  if (entry) {
    GM_ASSIGN(const bool exists, has_index(*entry, index));
    if (exists) return {};
  } else {
    GM_ASSIGN(entry, entry_for_write(*read_view));
    if (is_on_id(index)) return {};
  }

  Catalog& catalog = read_view->catalog();
  index.checksums = read_view->trees().has_checksums();
  GM_ASSIGN(index.keyspace, catalog.allocate_keyspace());
  if (Status built = build_index(read_view->shared_trees(), *entry, index, index.multikey);
      !built) {
    // The drop cleanup later removes what was put into the keyspace. Nothing else has changed.
    GM_TRY(catalog.release_keyspace(index.keyspace));
    return built;
  }
  CollectionEntry changed = *entry;
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
  GM_ASSIGN(const SharedEntry entry, read_view->catalog().find(ns_));
  if (!entry) return fail(ErrorCode::kNamespaceNotFound, "ns not found: " + ns_.full());
  if (name == kIdIndexName) {
    return fail(ErrorCode::kInvalidOptions, ns_.full() + ": cannot drop _id index");
  }
  CollectionEntry changed = *entry;
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
