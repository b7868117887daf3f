#include "engine/local/indexes/new_index.h"

#include "engine/bson/compare.h"
#include "engine/bson/text.h"
#include "engine/local/format/index_key_spec.h"
#include "engine/query/plan/text_index_definition.h"
#include "engine/query/plan/wildcard_index_definition.h"

namespace gridmount::local {
namespace {

// MongoDB's limit.
constexpr size_t kMaxIndexes = 64;

// Returns true if the index already exists. Fails if another index has its name or its keys, or if
// both are text indexes.
Result<bool> exists_already(const CollectionMetadata& metadata,
                            const query::IndexDefinition& wanted) {
  const auto both = [&](const query::IndexDefinition& existing) {
    return " Requested index: " + bson::to_text(wanted.specification()) +
           ", existing index: " + bson::to_text(existing.specification());
  };
  for (const query::IndexDefinition& existing : metadata.definitions) {
    if (existing.name != wanted.name) continue;
    query::IndexDefinition as_unique = wanted;
    // The _id index is unique, whether the definition says so or not.
    if (existing.name == kIdIndexName) as_unique.unique = true;
    if (!query::same_index(existing, as_unique)) {
      return fail(ErrorCode::kIndexKeySpecsConflict,
                  metadata.ns.full() +
                      ": An existing index has the same name as the requested index. When index "
                      "names are not specified, they are auto generated and can cause conflicts." +
                      both(existing));
    }
    if (!query::same_options(existing, wanted)) {
      return fail(ErrorCode::kIndexOptionsConflict,
                  metadata.ns.full() +
                      ": An equivalent index already exists with the same name but different "
                      "options." +
                      both(existing));
    }
    return true;
  }
  for (const query::IndexDefinition& existing : metadata.definitions) {
    if (query::same_index(existing, wanted)) {
      return fail(ErrorCode::kIndexOptionsConflict,
                  "Index already exists with a different name: " + existing.name);
    }
    if (query::is_text_index(existing) && query::is_text_index(wanted)) {
      return fail(ErrorCode::kCannotCreateIndex,
                  metadata.ns.full() +
                      ": only one text index per collection allowed, found existing text index \"" +
                      existing.name + "\"");
    }
  }
  return false;
}

std::string shown(const bson::Document& collation) {
  return collation.view().empty() ? "{ locale: \"simple\" }" : bson::to_text(collation.view());
}

}  // namespace

bool is_on_id(const IndexMetadata& index) {
  const IndexPart& first = index.rules.parts[0];
  return index.rules.parts.size() == 1 && first.path.dotted() == "_id" && !first.descending &&
         !first.hashed;
}

Result<IndexMetadata> new_index(const engine::Namespace& ns, const CollectionMetadata* metadata,
                                const query::IndexDefinition& definition) {
  const bson::Document collation = metadata != nullptr && metadata->settings.collation
                                       ? *metadata->settings.collation
                                       : bson::Document();
  IndexMetadata index;
  index.definition = definition;
  if (!index.definition.collation) index.definition.collation = collation;
  std::string& name = index.definition.name;
  if (name.empty()) name = query::default_index_name(definition.keys);
  GM_TRY(query::complete_text_index(index.definition));
  GM_TRY(query::check_wildcard_index(index.definition));
  GM_TRY(query::check_combination(index.definition));
  GM_ASSIGN(index.rules, index_key_spec(index.definition));
  index.library_version = index.rules.library_version();
  if (name.find('\0') != std::string::npos || name == "*") {
    return fail(ErrorCode::kCannotCreateIndex,
                ns.full() + ": '" + name + "' cannot be the name of an index");
  }
  const bson::Document& own = *index.definition.collation;
  if (is_on_id(index) && bson::compare(own.view(), collation.view()) != 0) {
    return fail(ErrorCode::kBadValue,
                "The _id index must have the same collation as the collection. Index collation: " +
                    shown(own) + ", collection collation: " + shown(collation));
  }
  // A collection has only one index on _id, so ignore the given name.
  if (is_on_id(index)) {
    name = kIdIndexName;
  } else if (name == kIdIndexName) {
    return fail(ErrorCode::kBadValue,
                "The index name '_id_' is reserved for the _id index, which must have key pattern "
                "{_id: 1}, found key: " +
                    bson::to_text(index.definition.keys));
  }
  return index;
}

Result<bool> has_index(const CollectionMetadata& metadata, const IndexMetadata& index) {
  GM_ASSIGN(const bool exists, exists_already(metadata, index.definition));
  if (exists) return true;
  if (metadata.settings.capped && index.definition.expire_after_seconds) {
    return fail(ErrorCode::kCannotCreateIndex,
                metadata.ns.full() + ": Cannot create TTL index on a capped collection");
  }
  if (metadata.indexes.size() >= kMaxIndexes) {
    return fail(ErrorCode::kCannotCreateIndex,
                metadata.ns.full() + " already has 64 indexes, the limit of a collection");
  }
  return false;
}

}  // namespace gridmount::local
