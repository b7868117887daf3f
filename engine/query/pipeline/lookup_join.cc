#include "engine/query/pipeline/lookup_join.h"

#include <span>
#include <string>

#include "engine/bson/builder.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using Parts = std::span<const std::string>;

bool is_position(std::string_view part) {
  return !part.empty() && part.size() <= 9 &&
         part.find_first_not_of("0123456789") == std::string_view::npos &&
         (part.size() == 1 || part[0] != '0');
}

void add_last(ValueView value, std::vector<ValueView>& values) {
  if (value.type() != Type::kArray) return values.push_back(value);
  for (const bson::Element element : value.as_document()) values.push_back(element.value);
}

void add_values(bson::View document, Parts parts, std::vector<ValueView>& values) {
  std::optional<ValueView> value = document.find(parts.front());
  parts = parts.subspan(1);
  // A number is the position of an element if the value is an array.
  while (value && !parts.empty() && value->type() == Type::kArray && is_position(parts.front())) {
    value = value->as_document().find(parts.front());
    parts = parts.subspan(1);
  }
  if (!value) return;
  if (parts.empty()) return add_last(*value, values);
  if (value->type() == Type::kDocument) return add_values(value->as_document(), parts, values);
  if (value->type() != Type::kArray) return;
  for (const bson::Element element : value->as_document()) {
    if (element.value.type() == Type::kDocument) {
      add_values(element.value.as_document(), parts, values);
    }
  }
}

}  // namespace

std::vector<ValueView> values_at(bson::View document, const bson::Path& path) {
  std::vector<ValueView> values;
  add_values(document, path.parts(), values);
  // A query for undefined is not allowed. Undefined is treated like a missing field.
  for (ValueView& value : values) {
    if (value.type() == Type::kUndefined) value = ValueView(Type::kNull, nullptr, 0);
  }
  return values;
}

std::vector<ValueView> local_values(bson::View document, const bson::Path& path) {
  std::vector<ValueView> values = values_at(document, path);
  if (values.empty()) values.emplace_back(Type::kNull, nullptr, 0);
  return values;
}

bson::Document join_filter(const bson::Path& foreign_field, const std::vector<ValueView>& values) {
  const std::string& field = foreign_field.dotted();
  bool has_regex = false;
  for (const ValueView value : values) has_regex = has_regex || value.type() == Type::kRegex;
  bson::Builder filter;
  if (values.size() == 1) {
    filter.open_document(field).append("$eq", values.front()).close();
  } else if (has_regex) {
    // In $in a regular expression would match strings instead of itself.
    filter.open_array("$or");
    for (const ValueView value : values) {
      filter.push_open_document().open_document(field).append("$eq", value).close().close();
    }
    filter.close();
  } else {
    filter.open_document(field).open_array("$in");
    for (const ValueView value : values) filter.push(value);
    filter.close().close();
  }
  return std::move(filter).finish();
}

}  // namespace gridmount::query
