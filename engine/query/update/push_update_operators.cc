// $push with $each, $position, $slice and $sort, and $pushAll, which servers supported until 3.4.
// Source: MongoDB manual, "$push" and its modifiers.

#include <algorithm>
#include <limits>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/dotted_path.h"
#include "engine/query/interruptible_sort.h"
#include "engine/query/sort.h"
#include "engine/query/update/update_operator.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

struct SortPart {
  bson::Path path;
  bool descending;
};

struct Push : PreparedOperand {
  std::vector<Value> values;
  int64_t position = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> slice;
  // The $sort: either by whole elements (sort_descending), or by fields of the elements
  // (sort_parts).
  std::optional<bool> sort_descending;
  std::vector<SortPart> sort_parts;
};

// Returns false for 1 and true for -1.
std::optional<bool> direction_of(ValueView value) {
  const std::optional<int64_t> number = value.integral();
  if (number == 1) return false;
  if (number == -1) return true;
  return std::nullopt;
}

tl::unexpected<Error> refuse_direction() {
  return fail(ErrorCode::kBadValue, "The $sort element value must be either 1 or -1");
}

Status read_sort_parts(bson::View pattern, Push& push) {
  if (pattern.empty()) {
    return fail(ErrorCode::kBadValue,
                "The $sort pattern is empty when it should be a set of fields.");
  }
  for (const bson::Element element : pattern) {
    const std::optional<bool> descending = direction_of(element.value);
    if (!descending) return refuse_direction();
    if (element.key.empty()) {
      return fail(ErrorCode::kBadValue, "The $sort field cannot be empty");
    }
    bson::Path path(element.key);
    for (const std::string& part : path.parts()) {
      if (part.empty()) {
        return fail(ErrorCode::kBadValue,
                    "The $sort field is a dotted field but has an empty part: " + path.dotted());
      }
    }
    push.sort_parts.push_back({std::move(path), *descending});
  }
  return {};
}

Status read_sort(ValueView value, Push& push) {
  if (value.type() == Type::kDocument) return read_sort_parts(value.as_document(), push);
  if (value.is_number()) {
    push.sort_descending = direction_of(value);
    return push.sort_descending ? Status() : refuse_direction();
  }
  return fail(ErrorCode::kBadValue,
              "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort "
              "embedded fields");
}

Status read_clause(const bson::Element& clause, Push& push) {
  const std::string type(bson::type_alias(clause.value.type()));
  if (clause.key == "$each") {
    if (clause.value.type() != Type::kArray) {
      return fail(ErrorCode::kBadValue,
                  "The argument to $each in $push must be an array but it was of type: " + type);
    }
    for (const bson::Element element : clause.value.as_document()) {
      push.values.emplace_back(element.value);
    }
    return {};
  }
  if (clause.key == "$sort") return read_sort(clause.value, push);
  const std::optional<int64_t> number = clause.value.integral();
  if (clause.key == "$slice") {
    push.slice = number;
    if (number) return {};
    return fail(ErrorCode::kBadValue,
                "The value for $slice must be an integer value but was given type: " + type);
  }
  if (clause.key == "$position") {
    if (number) {
      push.position = *number;
      return {};
    }
    return fail(ErrorCode::kBadValue,
                "The value for $position must be an integer value, not of type: " + type);
  }
  return fail(ErrorCode::kBadValue, "Unrecognized clause in $push: " + std::string(clause.key));
}

// Returns the index to insert at in an array of `count` elements. A negative position counts from
// the end.
size_t insertion_point(int64_t position, size_t count) {
  if (position >= 0) return std::min(static_cast<uint64_t>(position), uint64_t{count});
  // Negating an unsigned number also works for the least int64.
  const uint64_t back = uint64_t{0} - static_cast<uint64_t>(position);
  return back < count ? count - back : 0;
}

Status sort_elements(const Push& push, std::vector<ValueView>& elements,
                     const bson::StringOrder* strings) {
  if (push.sort_descending) {
    return sort_interruptibly(elements, [&](ValueView a, ValueView b) {
      const std::weak_ordering order = bson::compare(a, b, strings);
      return *push.sort_descending ? order > 0 : order < 0;
    });
  }
  if (push.sort_parts.empty()) return {};
  return sort_interruptibly(elements, [&](ValueView a, ValueView b) {
    for (const SortPart& part : push.sort_parts) {
      const std::weak_ordering order =
          bson::compare(whole_value_at(a, part.path), whole_value_at(b, part.path), strings);
      if (order != 0) return part.descending ? order > 0 : order < 0;
    }
    return false;
  });
}

void slice_elements(int64_t slice, std::vector<ValueView>& elements) {
  const uint64_t kept =
      slice < 0 ? uint64_t{0} - static_cast<uint64_t>(slice) : static_cast<uint64_t>(slice);
  if (elements.size() <= kept) return;
  const auto excess = static_cast<ptrdiff_t>(elements.size() - kept);
  if (slice < 0) {
    elements.erase(elements.begin(), elements.begin() + excess);
  } else {
    elements.erase(elements.end() - excess, elements.end());
  }
}

}  // namespace

Result<std::unique_ptr<const PreparedOperand>> prepare_push(std::string_view, ValueView operand,
                                                            const SharedCollator&) {
  auto push = std::make_unique<Push>();
  const bool modified =
      operand.type() == Type::kDocument && operand.as_document().find("$each").has_value();
  if (!modified) {
    push->values.emplace_back(operand);
    return push;
  }
  std::vector<std::string_view> seen;
  for (const bson::Element clause : operand.as_document()) {
    GM_TRY(read_clause(clause, *push));
    if (std::find(seen.begin(), seen.end(), clause.key) != seen.end()) {
      return fail(ErrorCode::kBadValue, "Only one " + std::string(clause.key) + " is supported.");
    }
    seen.push_back(clause.key);
  }
  return push;
}

Status check_push_all(std::string_view, ValueView operand) {
  if (operand.type() == Type::kArray) return {};
  return fail(ErrorCode::kBadValue, "$pushAll requires an array of values but was given type: " +
                                        std::string(bson::type_alias(operand.type())));
}

Result<std::unique_ptr<const PreparedOperand>> prepare_push_all(std::string_view, ValueView operand,
                                                                const SharedCollator&) {
  auto push = std::make_unique<Push>();
  for (const bson::Element element : operand.as_document()) {
    push->values.emplace_back(element.value);
  }
  return push;
}

Result<UpdateOutcome> apply_push(const UpdateCall& call, const std::optional<ValueView>& current) {
  const auto& push = static_cast<const Push&>(*call.prepared);
  if (current && current->type() != Type::kArray) {
    return fail(ErrorCode::kBadValue, "The field '" + call.path() +
                                          "' must be an array but is of type " +
                                          std::string(bson::type_alias(current->type())) +
                                          " in document " + show_id(call.document));
  }
  std::vector<ValueView> elements;
  if (current) {
    for (const bson::Element element : current->as_document()) elements.push_back(element.value);
  }
  const size_t at = insertion_point(push.position, elements.size());
  elements.insert(elements.begin() + static_cast<ptrdiff_t>(at), push.values.begin(),
                  push.values.end());
  GM_TRY(sort_elements(push, elements, call.strings));
  if (push.slice) slice_elements(*push.slice, elements);
  bson::Builder builder;
  builder.open_array("");
  for (const ValueView element : elements) builder.push(element);
  builder.close();
  return UpdateOutcome::set_first_of(std::move(builder).finish());
}

}  // namespace gridmount::query
