// Creating and dropping indexes.

#include "engine/bson/compare.h"
#include "engine/local/collection.h"

namespace gridmount::local {
namespace {

// As MongoDB's.
constexpr size_t kMaxIndexes = 64;

bool same_keys(const query::IndexDefinition& a, const query::IndexDefinition& b) {
  return bson::compare(a.keys.view(), b.keys.view()) == 0;
}

// True if the index is there already; an error if something else has its name or its keys.
Result<bool> exists_already(const CollectionEntry& entry, const query::IndexDefinition& wanted) {
  const auto refuse = [&](ErrorCode code, const query::IndexDefinition& existing,
                          std::string_view why) {
    return fail(code, entry.ns.full() + ": the index '" + wanted.name +
                          "' cannot be created, as '" + existing.name + "' exists with " +
                          std::string(why));
  };
  for (const query::IndexDefinition& existing : entry.definitions) {
    const bool keys = same_keys(existing, wanted);
    if (existing.name == wanted.name) {
      if (!keys) return refuse(ErrorCode::kIndexKeySpecsConflict, existing, "other keys");
      // The _id index is unique whether that is said or not.
      if (existing.unique != wanted.unique && existing.name != kIdIndexName) {
        return refuse(ErrorCode::kIndexOptionsConflict, existing, "other options");
      }
      return true;
    }
  }
  for (const query::IndexDefinition& existing : entry.definitions) {
    if (same_keys(existing, wanted)) {
      return refuse(ErrorCode::kIndexOptionsConflict, existing, "the same keys");
    }
  }
  return false;
}

}  // namespace

Status LocalCollection::create_index(engine::Transaction& transaction,
                                     const query::IndexDefinition& definition) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents,
            writable_contents_of(transaction, environment_));
  IndexEntry index;
  index.definition = definition;
  GM_ASSIGN(index.parts, parse_index_parts(definition.keys, definition.name));
  const bool on_id = index.parts.size() == 1 && index.parts[0].path.dotted() == "_id" &&
                     !index.parts[0].descending;
  std::string& name = index.definition.name;
  if (name.empty()) name = on_id ? std::string(kIdIndexName) : default_index_name(index.parts);
  if (name.find('\0') != std::string::npos || name == "*") {
    return fail(ErrorCode::kCannotCreateIndex,
                ns_.full() + ": '" + name + "' cannot be the name of an index");
  }
  // Whatever it is called, there is only one index on _id.
  if (on_id) name = kIdIndexName;

  GM_ASSIGN(Entry entry, contents->catalog().find(ns_));
  if (entry) {
    GM_ASSIGN(const bool exists, exists_already(*entry, index.definition));
    if (exists) return {};
    if (entry->indexes.size() >= kMaxIndexes) {
      return fail(ErrorCode::kCannotCreateIndex, ns_.full() +
                                                     " has 64 indexes already, the most "
                                                     "a collection can have");
    }
  } else {
    if (name == kIdIndexName && !on_id) {
      return fail(ErrorCode::kIndexKeySpecsConflict,
                  ns_.full() + ": the index name '_id_' is that of the index on _id");
    }
    GM_ASSIGN(entry, entry_for_write(*contents));
    if (on_id) return {};
  }

  Catalog& catalog = contents->catalog();
  GM_ASSIGN(index.range, catalog.allocate_range());
  if (Status built = build_index(contents->shared_trees(), *entry, index, index.multikey); !built) {
    // What has been put into the range is swept later; nothing else was changed.
    GM_TRY(catalog.release_range(index.range));
    return built;
  }
  CollectionEntry changed = *entry;
  changed.indexes.push_back(std::move(index));
  GM_TRY(catalog.put(std::move(changed)));
  return {};
}

Status LocalCollection::drop_index(engine::Transaction& transaction, std::string_view name) {
  GM_ASSIGN(const std::shared_ptr<Contents> contents,
            writable_contents_of(transaction, environment_));
  GM_ASSIGN(const Entry entry, contents->catalog().find(ns_));
  if (!entry) return fail(ErrorCode::kNamespaceNotFound, "ns not found: " + ns_.full());
  if (name == kIdIndexName) {
    return fail(ErrorCode::kInvalidOptions, ns_.full() + ": cannot drop _id index");
  }
  CollectionEntry changed = *entry;
  for (size_t i = 0; i < changed.indexes.size(); ++i) {
    if (changed.indexes[i].definition.name != name) continue;
    GM_TRY(contents->catalog().release_range(changed.indexes[i].range));
    changed.indexes.erase(changed.indexes.begin() + static_cast<std::ptrdiff_t>(i));
    GM_TRY(contents->catalog().put(std::move(changed)));
    return {};
  }
  return fail(ErrorCode::kIndexNotFound,
              ns_.full() + ": index not found with name [" + std::string(name) + "]");
}

}  // namespace gridmount::local
