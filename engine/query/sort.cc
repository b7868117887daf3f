#include "engine/query/sort.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/bson/text.h"
#include "engine/query/field_path.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

constexpr size_t kPartsMax = 32;

ValueView missing() {
  return ValueView(Type::kNull, nullptr, 0);
}

// The value that an empty array sorts as. It sorts before null.
ValueView empty_array() {
  return ValueView(Type::kUndefined, nullptr, 0);
}

bool is_position(std::string_view name) {
  if (name.size() > 1 && name[0] == '0') return false;
  uint32_t position = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), position);
  return !name.empty() && error == std::errc() && end == name.data() + name.size();
}

// Finds the first, in sort order, of the keys that an index of these parts would hold for a
// document. Parts that lead through the same array take their values from the same element.
class KeySearch {
 public:
  KeySearch(const std::vector<Sort::Part>& parts, const bson::StringOrder* strings)
      : parts_(parts), strings_(strings) {}

  Result<std::vector<Value>> find(bson::View document) {
    std::vector<Position> positions;
    positions.reserve(parts_.size());
    for (size_t part = 0; part < parts_.size(); ++part) {
      Position position{part, 1, document.find(name(part, 0)).value_or(missing())};
      note_array(position);
      advance(position);
      positions.push_back(position);
    }
    std::vector<ValueView> key(parts_.size(), missing());
    settle(std::move(positions), key);
    if (parallel_arrays_) {
      return fail(ErrorCode::kBadValue, "cannot sort with keys that are parallel arrays");
    }
    std::vector<Value> owned;
    owned.reserve(key.size());
    for (const ValueView value : key) owned.emplace_back(value);
    return owned;
  }

 private:
  // The state of a part that descends through the document: the value reached, and the index of its
  // next name. A part stops at an array.
  struct Position {
    size_t part;
    size_t next;
    ValueView value;
    bool settled = false;
    // The first array that the part has met in the present document, even if the part has entered
    // this array by position.
    const uint8_t* array = nullptr;
  };

  const std::string& name(size_t part, size_t at) const { return parts_[part].path.parts()[at]; }
  bool at_end(const Position& position) const {
    return position.next == parts_[position.part].path.parts().size();
  }

  static void settle_with(Position& position, ValueView value) {
    position.value = value;
    position.settled = true;
  }

  static void note_array(Position& position) {
    if (position.value.type() == Type::kArray && position.array == nullptr) {
      position.array = position.value.data();
    }
  }

  // Descends through documents. Descends through an array only if the name is the position of one
  // of its elements.
  void advance(Position& position) const {
    while (!at_end(position)) {
      const std::string& field = name(position.part, position.next);
      if (position.value.type() == Type::kArray) {
        if (!is_position(field)) return;
        const std::optional<ValueView> element = position.value.as_document().find(field);
        if (!element) return;
        position.value = *element;
      } else if (position.value.type() == Type::kDocument) {
        position.value = position.value.as_document().find(field).value_or(missing());
        note_array(position);
      } else {
        settle_with(position, missing());
        return;
      }
      ++position.next;
    }
    position.settled = position.value.type() != Type::kArray;
  }

  // Writes into `key` the first, in sort order, of the values that the positions lead to. Sets
  // parallel_arrays_ if parts have met different arrays below one document.
  void settle(std::vector<Position> positions, std::vector<ValueView>& key) {
    const uint8_t* array = nullptr;
    for (const Position& position : positions) {
      if (position.settled) key[position.part] = position.value;
      if (position.array == nullptr) continue;
      if (array != nullptr && position.array != array) parallel_arrays_ = true;
      array = position.array;
    }
    std::erase_if(positions, [](const Position& position) { return position.settled; });
    // Parts that have entered one array by position can have stopped at different arrays in it.
    while (!positions.empty()) {
      const ValueView stopped_at = positions.front().value;
      const auto others = std::stable_partition(
          positions.begin(), positions.end(),
          [&](const Position& position) { return position.value.data() == stopped_at.data(); });
      const std::vector<Position> group(positions.begin(), others);
      positions.erase(positions.begin(), others);
      settle_array(stopped_at.as_document(), group, key);
    }
  }

  void settle_array(bson::View elements, const std::vector<Position>& group,
                    std::vector<ValueView>& key) {
    if (elements.empty()) {
      for (const Position& one : group) key[one.part] = at_end(one) ? empty_array() : missing();
      return;
    }
    bool first = true;
    std::vector<ValueView> candidate = key;
    for (const bson::Element element : elements) {
      std::vector<Position> within = group;
      for (Position& position : within) enter(position, element.value);
      settle(std::move(within), candidate);
      if (first || comes_before(group, candidate, key)) {
        for (const Position& one : group) key[one.part] = candidate[one.part];
      }
      first = false;
    }
  }

  // Moves a part from an array to one of its elements. If the element is an array itself, the part
  // descends into this array by position only.
  void enter(Position& position, ValueView element) const {
    position.value = element;
    position.array = nullptr;
    if (at_end(position)) {
      position.settled = true;
    } else if (element.type() == Type::kArray) {
      const size_t before = position.next;
      advance(position);
      if (position.next == before) settle_with(position, missing());
    } else {
      advance(position);
    }
  }

  bool comes_before(const std::vector<Position>& group, const std::vector<ValueView>& a,
                    const std::vector<ValueView>& b) const {
    for (const Position& one : group) {
      const std::weak_ordering order = bson::compare(a[one.part], b[one.part], strings_);
      if (order != 0) return (order < 0) != parts_[one.part].descending;
    }
    return false;
  }

  const std::vector<Sort::Part>& parts_;
  const bson::StringOrder* const strings_;
  bool parallel_arrays_ = false;
};

// Parses {field: {$meta: ...}}.
Result<Sort::Part> parse_metadata_part(const bson::Element& element) {
  const bson::View fields = element.value.as_document();
  if (std::next(fields.begin()) != fields.end()) {
    return fail(ErrorCode::kFailedToParse,
                "Cannot have additional keys in a $meta sort specification");
  }
  const ValueView kind = (*fields.begin()).value;
  const std::string_view name =
      kind.type() == Type::kString ? kind.as_string() : std::string_view();
  if (name == "textScore") {
    GM_ASSIGN(bson::Path path, split_field_path(element.key));
    return Sort::Part{std::move(path), true, true};
  }
  if (name == "geoNearDistance") {
    return fail(ErrorCode{40218},
                "query requires $geoNear distance metadata, but it is not available");
  }
  if (name == "searchScore" || name == "searchHighlights") {
    return fail(ErrorCode{name == "searchScore" ? 31218 : 31219},
                "$meta sort by '" + std::string(name) + "' metadata is not supported");
  }
  if (name == "randVal") {
    return fail(ErrorCode::kCommandNotSupported,
                "a sort by the metadata 'randVal' is not supported");
  }
  return fail(ErrorCode{31138}, "Illegal $meta sort: $meta: " + bson::to_text(kind));
}

}  // namespace

tl::unexpected<Error> text_score_unavailable() {
  return fail(ErrorCode{40218}, "query requires text score metadata, but it is not available");
}

bool Sort::uses_text_score() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const Part& part) { return part.is_text_score; });
}

Result<Sort::Part> parse_sort_part(const bson::Element& element, SortMetadata metadata) {
  const ValueView value = element.value;
  if (value.type() == Type::kDocument &&
      (value.as_document().empty() || (*value.as_document().begin()).key != "$meta")) {
    return fail(ErrorCode{17312}, "$meta is the only expression supported by $sort right now");
  }
  if (value.type() == Type::kDocument && metadata == SortMetadata::kAllowed) {
    return parse_metadata_part(element);
  }
  if (!value.is_number()) {
    return fail(ErrorCode{15974}, "Illegal key in $sort specification: " +
                                      std::string(element.key) + ": " + bson::to_text(value));
  }
  const std::optional<int64_t> direction = bson::clamped_integer(value);
  if (direction != 1 && direction != -1) {
    return fail(ErrorCode{15975},
                "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
  }
  GM_ASSIGN(bson::Path path, split_field_path(element.key));
  return Sort::Part{std::move(path), direction == -1};
}

Result<Sort> Sort::parse(bson::View specification, SharedCollator collator, SortMetadata metadata) {
  Sort sort;
  sort.collator_ = std::move(collator);
  for (const bson::Element element : specification) {
    GM_ASSIGN(Part part, parse_sort_part(element, metadata));
    if (sort.parts_.size() == kPartsMax) {
      return fail(ErrorCode::kBadValue, "too many fields to sort by, at most 32 are allowed");
    }
    sort.parts_.push_back(std::move(part));
  }
  return sort;
}

ValueView whole_value_at(ValueView element, const bson::Path& path) {
  const ValueView null(bson::Type::kNull, nullptr, 0);
  if (element.type() != bson::Type::kDocument) return null;
  return path.resolve(element.as_document()).value_or(null);
}

Result<std::vector<Value>> Sort::key_of(bson::View document,
                                        std::optional<double> text_score) const {
  if (uses_text_score()) {
    std::vector<Part> fields;
    for (const Part& part : parts_) {
      if (!part.is_text_score) fields.push_back(part);
    }
    GM_ASSIGN(std::vector<Value> values, KeySearch(fields, collator_.get()).find(document));
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].is_text_score) continue;
      values.insert(values.begin() + static_cast<std::ptrdiff_t>(i),
                    text_score ? Value(*text_score) : Value());
    }
    return values;
  }
  const auto is_id = [](const Part& part) {
    return part.path.parts().size() == 1 && part.path.parts().front() == "_id";
  };
  if (parts_.size() == 1 && is_id(parts_.front())) {
    return std::vector{Value(document.find("_id").value_or(missing()))};
  }
  return KeySearch(parts_, collator_.get()).find(document);
}

std::weak_ordering Sort::compare_keys(const std::vector<Value>& a,
                                      const std::vector<Value>& b) const {
  const bson::StringOrder* const strings = collator_.get();
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::weak_ordering order = parts_[i].descending ? bson::compare(b[i], a[i], strings)
                                                          : bson::compare(a[i], b[i], strings);
    if (order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

tl::unexpected<Error> sort_memory_exceeded(uint64_t bytes_max) {
  return fail(ErrorCode::kQueryExceededMemoryLimit,
              "Sort exceeded memory limit of " + std::to_string(bytes_max) +
                  " bytes, but did not opt in to external sorting. Aborting operation. Pass "
                  "allowDiskUse:true to opt in.");
}

}  // namespace gridmount::query
