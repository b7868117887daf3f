#include "engine/local/queries/unique_lookup.h"

#include <algorithm>
#include <array>

#include "engine/bson/compare.h"
#include "engine/local/format/index_key_encoding.h"
#include "engine/local/indexes/entry_reading.h"
#include "engine/local/indexes/index_writer.h"
#include "engine/local/storage/range_cursor.h"
#include "engine/local/storage/tree_path.h"

namespace gridmount::local {
namespace {

constexpr size_t kFieldsMax = 4;
// A typical key fits. A longer one costs another allocation.
constexpr size_t kUsualKeyBytes = 96;

// Returns whether a filter with a value of this type matches exactly the values with the same
// encoding. Null also matches missing fields, documents may have operators, and arrays and regular
// expressions have special meanings.
bool is_plain(bson::Type type) {
  switch (type) {
    case bson::Type::kDouble:
    case bson::Type::kString:
    case bson::Type::kBinary:
    case bson::Type::kObjectId:
    case bson::Type::kBool:
    case bson::Type::kDate:
    case bson::Type::kInt32:
    case bson::Type::kTimestamp:
    case bson::Type::kInt64:
    case bson::Type::kDecimal128:
      return true;
    default:
      return false;
  }
}

// A filter that consists only of top-level fields equal to plain values.
class Equalities {
 public:
  // Returns nothing for any other filter.
  static std::optional<Equalities> of(bson::View filter) {
    Equalities equalities;
    for (const bson::Element element : filter) {
      if (equalities.count_ == kFieldsMax || element.key.empty() || element.key[0] == '$' ||
          element.key.find('.') != std::string_view::npos || !is_plain(element.value.type())) {
        return std::nullopt;
      }
      equalities.fields_[equalities.count_++] = element;
    }
    return equalities;
  }

  size_t count() const { return count_; }

  // Returns whether the index compares the values as a query with this collation does.
  bool fit(const IndexMetadata& index, const query::Collator* collator) const {
    if (index.rules.collator == nullptr && collator == nullptr) return true;
    const bool has_string =
        std::any_of(fields_.begin(), fields_.begin() + count_,
                    [](const auto& field) { return field->value.type() == bson::Type::kString; });
    return !has_string || query::same_collation(index.rules.collator.get(), collator);
  }

  // Returns the number of leading parts of the index that have a value.
  size_t parts_given(const std::vector<IndexPart>& parts) const {
    size_t given = 0;
    while (given < parts.size() && find(parts[given]) != nullptr) ++given;
    return given;
  }

  // Returns the key of the documents that have these values, if the fields are exactly the parts of
  // the index. Returns nothing if the key is truncated.
  std::optional<std::string> encoded(const std::vector<IndexPart>& parts) const {
    if (parts.size() != count_ || parts_given(parts) != count_) return std::nullopt;
    std::string encoded;
    encoded.reserve(kUsualKeyBytes);
    for (const IndexPart& part : parts)
      bson::append_key_string(encoded, find(part)->value, part.descending, part.collator.get());
    if (is_truncated(encoded)) return std::nullopt;
    return encoded;
  }

 private:
  const bson::Element* find(const IndexPart& part) const {
    for (size_t i = 0; i < count_; ++i) {
      if (fields_[i]->key == part.path.dotted()) return &*fields_[i];
    }
    return nullptr;
  }

  std::array<std::optional<bson::Element>, kFieldsMax> fields_;
  size_t count_ = 0;
};

}  // namespace

std::optional<UniqueLookup> unique_lookup(const CollectionMetadata& metadata, bson::View filter,
                                          const query::Collator* collator) {
  const std::optional<Equalities> equalities = Equalities::of(filter);
  if (!equalities) return std::nullopt;
  for (const IndexMetadata& index : metadata.indexes) {
    if (!index.definition.unique || index.multikey) continue;
    // A document that is not in the index may match too.
    if (index.rules.partial || index.rules.text != nullptr || !index.is_readable() ||
        !equalities->fit(index, collator))
      continue;
    const std::optional<std::string> encoded = equalities->encoded(index.rules.parts);
    if (!encoded) continue;
    UniqueLookup lookup{&index, {}};
    set_index_key(lookup.key, index, *encoded, 0);
    return lookup;
  }
  return std::nullopt;
}

bool is_by_id(bson::View filter, const engine::FindOptions& options) {
  if (options.skip != 0 || options.hint || !options.min.empty() || !options.max.empty() ||
      options.return_key || options.show_record_id || options.tailable ||
      options.sort.find("$natural")) {
    return false;
  }
  auto field = filter.begin();
  if (field == filter.end() || (*field).key != "_id") return false;
  const bson::ValueView id = (*field).value;
  if (++field != filter.end()) return false;
  switch (id.type()) {
    case bson::Type::kDocument:
      return id.as_document().empty() || !(*id.as_document().begin()).key.starts_with('$');
    case bson::Type::kArray:
    case bson::Type::kNull:
    case bson::Type::kRegex:
    case bson::Type::kUndefined:
      return false;
    default:
      return true;
  }
}

Result<std::optional<RecordId>> find_unique(const Trees& trees, const CollectionMetadata& metadata,
                                            const UniqueLookup& lookup) {
  GM_ASSIGN(const std::optional<std::string_view> value,
            trees.get(trees.tree(lookup.index->keyspace), lookup.key));
  if (!value) {
    GM_TRY(prove_absent(trees, metadata, *lookup.index, lookup.key));
    return std::optional<RecordId>();
  }
  GM_ASSIGN(const RecordId id,
            verified_record_id_of_entry(metadata, *lookup.index, {lookup.key, *value}));
  return std::optional(id);
}

std::optional<FirstLookup> first_lookup(const CollectionMetadata& metadata, bson::View filter,
                                        const query::Collator* collator) {
  const std::optional<Equalities> equalities = Equalities::of(filter);
  if (!equalities) return std::nullopt;
  for (const IndexMetadata& index : metadata.indexes) {
    const std::vector<IndexPart>& parts = index.rules.parts;
    if (index.rules.text != nullptr || !index.is_readable() ||
        equalities->parts_given(parts) < equalities->count())
      continue;
    // The planner takes the first index with the most parts given. If that index has more parts,
    // they determine which document is the first.
    const bool hashed =
        std::any_of(parts.begin(), parts.end(), [](const IndexPart& part) { return part.hashed; });
    if (hashed || index.multikey || index.rules.partial || index.definition.unique ||
        !equalities->fit(index, collator)) {
      return std::nullopt;
    }
    const std::optional<std::string> encoded = equalities->encoded(parts);
    if (!encoded) return std::nullopt;
    return FirstLookup{&index, keyspace_prefix(index.keyspace).append(*encoded)};
  }
  return std::nullopt;
}

namespace {

Result<std::optional<TreeEntry>> first_entry(const std::shared_ptr<Trees>& trees,
                                             const IndexMetadata& index, const std::string& low) {
  const MDB_dbi tree = trees->tree(index.keyspace);
  if (const std::optional<TreeReader::Found> found = trees->find_from(tree, low);
      found && found->entry.key.starts_with(low)) {
    if (index.checksums) GM_TRY(TreePath(*trees, tree).prove(low, *found));
    return std::optional(found->entry);
  }
  RangeCursor cursor(trees, tree);
  if (index.checksums) cursor.set_proving();
  // In the keys, the record ids follow the values. The ids are sorted and far below the end of this
  // range.
  cursor.set_range(low, low + '\xFF', false);
  return cursor.next();
}

}  // namespace

Result<std::optional<RecordId>> find_first(const std::shared_ptr<Trees>& trees,
                                           const CollectionMetadata& metadata,
                                           const FirstLookup& lookup) {
  const IndexMetadata& index = *lookup.index;
  Result<std::optional<TreeEntry>> read = first_entry(trees, index, lookup.low);
  if (!read) return fail(with_index_name(std::move(read).error(), metadata, index));
  const std::optional<TreeEntry>& found = *read;
  if (!found) return std::optional<RecordId>();
  GM_ASSIGN(const RecordId id, verified_record_id_of_entry(metadata, index, *found));
  return std::optional(id);
}

Status confirm_found(const CollectionMetadata& metadata, const IndexMetadata& index,
                     bson::View filter, bson::View document) {
  const auto has = [&](const bson::Element& wanted) {
    const std::optional<bson::ValueView> value = document.find(wanted.key);
    return value && bson::compare(*value, wanted.value, index.rules.collator.get()) == 0;
  };
  if (std::all_of(filter.begin(), filter.end(), has)) return {};
  return fail(ErrorCode::kDataCorruptionDetected,
              metadata.ns.full() + ": an entry of the index '" + index.definition.name +
                  "' names a document that does not have its key; run 'gridstore check --repair'");
}

}  // namespace gridmount::local
