// A model of filters and schemas, with which tests compare query::Filter. It is as simple as
// possible, and slow: for each document it walks the specification as it is. It accepts only valid
// specifications.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "engine/bson/compare.h"
#include "engine/bson/document.h"

namespace gridmount::query::model {

using bson::Type;
using bson::ValueView;

inline bool is_nullish(ValueView value) {
  return value.type() == Type::kNull || value.type() == Type::kUndefined;
}

inline bool is_nan(ValueView value) {
  return value.is_number() && *value.number() != *value.number();
}

// `comparison` is one of $eq, $gt, $gte, $lt, $lte.
bool compares(std::string_view comparison, ValueView value, ValueView operand);

bool has_type(ValueView value, std::string_view alias);

inline bool contains_match(ValueView text, std::string_view pattern) {
  return std::regex_search(std::string(text.as_string()), std::regex(std::string(pattern)));
}

bool matches(bson::View filter, bson::View document);

bool schema_allows(bson::View schema, ValueView value);

}  // namespace gridmount::query::model
