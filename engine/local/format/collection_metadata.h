// The catalog's entry for one collection: its keyspaces, options and indexes. This file also writes
// and parses the entry's bytes in the store, which FORMAT.md, chapter "Catalog", describes.
//
// Thread-safety: an entry is not changed after it has been shared with other threads. To change it,
// put a changed copy into the catalog.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/index_key_spec.h"
#include "engine/local/format/keyspace.h"
#include "engine/query/plan/plan.h"
#include "engine/store.h"

namespace gridmount::local {

struct IndexMetadata {
  query::IndexDefinition definition;
  IndexKeySpec rules;
  bool multikey = false;   // KeySet::multikey() is, or was, true for some document
  bool checksums = false;  // every entry of the index has a checksum
  // IndexKeySpec::library_version() of the program that made the index.
  std::string library_version = {};
  Keyspace keyspace;

  // Returns whether other versions of the libraries have made the entries. Then the entries must be
  // neither read nor written.
  bool is_outdated() const {
    const bool depends = rules.collator != nullptr || rules.text != nullptr;
    return depends && library_version != rules.library_version();
  }
  // Returns whether a read may use the index.
  bool is_readable() const { return !definition.hidden && !is_outdated(); }
};

struct CollectionMetadata {
  engine::Namespace ns;
  Keyspace records;
  bson::Document options;
  std::string uuid;                    // 16 bytes
  std::vector<IndexMetadata> indexes;  // the first is on _id

  // derive() computes the members below from `indexes` and `options`. The planner needs the first
  // two: each has one element per index. In `definitions`, an outdated index is hidden.
  std::vector<query::IndexDefinition> definitions;
  std::vector<bool> multikey;
  // `options`, parsed. The validator is null if the collection has none or its level is off.
  engine::CollectionOptions settings;
  std::shared_ptr<const query::Filter> validator;
  query::SharedCollator collator;  // the collection's collation; null if it has none
  // The rules of the text index that reads may use; null if there is none.
  std::shared_ptr<const query::TextIndexSpec> text_index;
  // Fails with the error of the validator or of an option that cannot be parsed.
  Status derive();

  // Returns the bytes for the catalog. Fails with BSONObjectTooLarge or Overflow if the entry is
  // larger or nested deeper than a document may be.
  Result<std::string> encode() const;
  // Returns whether `bytes` are an entry that was written for `ns`. Checks only the checksum, the
  // form of the BSON and the name. An entry that an older program has written has no name, and is
  // not checked for it.
  static bool is_metadata_of(const engine::Namespace& ns, std::string_view bytes);
  // Parses an entry. Fails with StoreDamaged if the bytes are not a valid entry of `ns`.
  static Result<std::shared_ptr<const CollectionMetadata>> decode(const engine::Namespace& ns,
                                                                  std::string_view bytes);
};

// Fails with IllegalOperation if an index is outdated: its entries cannot be changed.
Status check_indexes_are_current(const CollectionMetadata& metadata);

// Writes the version and the variant into the 16 bytes of a UUID (RFC 9562).
void set_uuid_version(std::string& uuid, uint8_t version);

inline constexpr std::string_view kIdIndexName = "_id_";

}  // namespace gridmount::local
