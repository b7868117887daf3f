#include "engine/local/unique_lookup.h"

#include <algorithm>
#include <array>

#include "engine/local/index_key.h"
#include "engine/local/index_writer.h"

namespace gridmount::local {
namespace {

constexpr size_t kFieldsMax = 4;

// Types whose equality is that of their encodings: null stands for missing fields too, documents
// may be operators, arrays and regular expressions have meanings of their own.
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

}  // namespace

std::optional<UniqueLookup> unique_lookup(const CollectionEntry& entry, bson::View filter) {
  struct Field {
    std::string_view name;
    bson::ValueView value;
  };
  std::array<std::optional<Field>, kFieldsMax> fields;
  size_t count = 0;
  for (const bson::Element element : filter) {
    if (count == kFieldsMax || element.key.empty() || element.key[0] == '$' ||
        element.key.find('.') != std::string_view::npos || !is_plain(element.value.type())) {
      return std::nullopt;
    }
    fields[count++] = Field{element.key, element.value};
  }
  for (const IndexEntry& index : entry.indexes) {
    const std::vector<IndexPart>& parts = index.rules.parts;
    if (!index.definition.unique || index.multikey || parts.size() != count) continue;
    // A document that it leaves out may match too.
    if (index.rules.partial || index.definition.hidden) continue;
    std::string encoded;
    bool all = true;
    for (const IndexPart& part : parts) {
      const auto* field = std::find_if(
          fields.data(), fields.data() + count,
          [&](const std::optional<Field>& f) { return f->name == part.path.dotted(); });
      all = field != fields.data() + count;
      if (!all) break;
      append_encoded(encoded, (*field)->value, part.descending);
    }
    if (!all || is_shortened(encoded)) continue;
    UniqueLookup lookup{&index, {}};
    set_index_key(lookup.key, index, encoded, 0);
    return lookup;
  }
  return std::nullopt;
}

Result<std::optional<RecordId>> find_unique(const Trees& trees, const CollectionEntry& entry,
                                            const UniqueLookup& lookup) {
  GM_ASSIGN(const std::optional<std::string_view> value,
            trees.get(trees.tree(lookup.index->range), lookup.key));
  if (!value) return std::optional<RecordId>();
  if (value->size() < 8) {
    return fail(ErrorCode::kDataCorruptionDetected,
                entry.ns.full() + ": the index '" + lookup.index->definition.name +
                    "' holds an entry of the wrong form; run 'gridstore check'");
  }
  return std::optional(RecordId{big_endian_64(*value)});
}

}  // namespace gridmount::local
