// The short way from a filter to its one document, or the first of them: {_id: x}, or a value for
// every part of an index. Such a filter needs no parsing, no plan and no matching.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/catalog_entry.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"
#include "engine/store.h"

namespace gridmount::local {

// The tree's key in the unique index that answers `filter` alone, if there is one: every field of
// the filter is a top-level field equal to a scalar, and together they are the parts of the index,
// which no document has an array under.
struct UniqueLookup {
  const IndexEntry* index;
  std::string key;
};
std::optional<UniqueLookup> unique_lookup(const CollectionEntry& entry, bson::View filter);

// Whether a find with this filter is a lookup by _id to servers, which call it IDHACK whatever is
// done with what it finds: the filter is an _id's value and nothing else, and it is up to the store
// how to find it.
bool is_by_id(bson::View filter, const engine::FindOptions& options);

// The record found by it; nothing if no document matches.
Result<std::optional<RecordId>> find_unique(const Trees& trees, const CollectionEntry& entry,
                                            const UniqueLookup& lookup);

// The same for an index that is not unique, if it is the one a plan would choose. Several documents
// can match; the one found is the first that a cursor would give.
struct FirstLookup {
  const IndexEntry* index;
  std::string low;  // what the keys of the matching entries begin with
};
std::optional<FirstLookup> first_lookup(const CollectionEntry& entry, bson::View filter);
Result<std::optional<RecordId>> find_first(const std::shared_ptr<Trees>& trees,
                                           const CollectionEntry& entry, const FirstLookup& lookup);

// DataCorruptionDetected unless the document that was found by a lookup has the filter's values:
// where the entries of an index have no checksums, a damaged one may name any record.
Status confirm_found(const CollectionEntry& entry, const IndexEntry& index, bson::View filter,
                     bson::View document);

}  // namespace gridmount::local
