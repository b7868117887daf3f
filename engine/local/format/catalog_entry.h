// What the catalog knows of one collection, and its bytes. FORMAT.md, chapter "Catalog".
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/document_keys.h"
#include "engine/local/format/range.h"
#include "engine/query/plan/plan.h"
#include "engine/store.h"

namespace gridmount::local {

struct IndexEntry {
  query::IndexDefinition definition;
  KeyRules rules;
  bool multikey = false;   // some document has, or had, an array under the paths
  bool checksums = false;  // each entry has one
  Range range;
};

// Immutable once shared; a change puts a changed copy into the catalog.
struct CollectionEntry {
  engine::Namespace ns;
  Range records;
  bson::Document options;
  std::vector<IndexEntry> indexes;  // the first is on _id

  // The same in the form the planner takes; derive() makes them from `indexes`.
  std::vector<query::IndexDefinition> definitions;
  std::vector<bool> multikey;
  // What `options` say; the validator is null if there is none or its level is off.
  engine::CollectionOptions settings;
  std::shared_ptr<const query::Filter> validator;
  Status derive();

  // BSONObjectTooLarge or Overflow if that could not be read again.
  Result<std::string> encode() const;
  // Whether the bytes are what was put there for `ns`, as far as checksum and name tell.
  static bool is_entry_of(const engine::Namespace& ns, std::string_view bytes);
  // StoreDamaged if the bytes are no such entry.
  static Result<std::shared_ptr<const CollectionEntry>> decode(const engine::Namespace& ns,
                                                               std::string_view bytes);
};

inline constexpr std::string_view kIdIndexName = "_id_";

}  // namespace gridmount::local
