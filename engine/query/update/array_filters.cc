#include "engine/query/update/array_filters.h"

#include <algorithm>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Type;

// Fails for $expr, $where and $text. They test more than the element, or need data that an array
// filter does not have.
Status check_feature(std::string_view name) {
  if (name == "$expr") {
    return fail(ErrorCode::kQueryFeatureNotAllowed, "$expr is not allowed in this context");
  }
  if (name == "$where" || name == "$text") {
    return fail(ErrorCode::kBadValue, std::string(name) + " is not allowed in this context");
  }
  return {};
}

// Finds the top-level name to which all conditions apply. `conditions` has been parsed as a filter,
// which bounds the depth. `identifier` is empty until a name is found.
Status find_identifier(bson::View conditions, std::string& identifier) {
  for (const bson::Element element : conditions) {
    if (is_logical_operator(element.key)) {
      for (const bson::Element branch : element.value.as_document()) {
        GM_TRY(find_identifier(branch.value.as_document(), identifier));
      }
      continue;
    }
    GM_TRY(check_feature(element.key));
    if (element.key.starts_with('$')) continue;
    const std::string name(element.key.substr(0, element.key.find('.')));
    if (identifier.empty()) identifier = name;
    if (identifier != name) {
      std::string message = "Expected a single top-level field name, found '";
      message.append(identifier).append("' and '").append(name).append("'");
      return fail(ErrorCode::kFailedToParse, std::move(message));
    }
  }
  return {};
}

bool is_identifier(std::string_view name) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return is_lower(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
           return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

struct NamedFilter {
  std::string identifier;
  Filter filter;
};

Result<NamedFilter> parse_one(bson::View conditions, const SharedCollator& collator) {
  for (const bson::Element element : conditions) GM_TRY(check_feature(element.key));
  GM_ASSIGN(Filter filter,
            Filter::parse(conditions, {.special_operators = false, .collator = collator}));
  NamedFilter named{"", std::move(filter)};
  GM_TRY(find_identifier(conditions, named.identifier));
  if (!named.identifier.empty() && !is_identifier(named.identifier)) {
    return fail(ErrorCode::kBadValue,
                "The top-level field name must be an alphanumeric string beginning with a "
                "lowercase letter, found '" +
                    named.identifier + "'");
  }
  return named;
}

}  // namespace

Result<ArrayFilters> ArrayFilters::parse(bson::View filters, const SharedCollator& collator) {
  ArrayFilters parsed;
  for (const bson::Element element : filters) {
    if (element.value.type() != Type::kDocument) {
      return fail(ErrorCode::kTypeMismatch,
                  "BSON field 'arrayFilters." + std::string(element.key) + "' is the wrong type '" +
                      std::string(bson::type_alias(element.value.type())) +
                      "', expected type 'object'");
    }
    Result<NamedFilter> named = parse_one(element.value.as_document(), collator);
    if (!named) {
      return fail(named.error().code(),
                  "Error parsing array filter :: caused by :: " + named.error().message());
    }
    if (named->identifier.empty()) {
      return fail(ErrorCode::kFailedToParse,
                  "Cannot use an expression without a top-level field name in arrayFilters");
    }
    if (parsed.contains(named->identifier)) {
      return fail(
          ErrorCode::kFailedToParse,
          "Found multiple array filters with the same top-level field name " + named->identifier);
    }
    parsed.filters_.emplace(std::move(named->identifier), std::move(named->filter));
  }
  return parsed;
}

Result<bool> ArrayFilters::matches(std::string_view identifier, bson::ValueView element) const {
  if (identifier.empty()) return true;
  bson::Builder document;
  document.append(identifier, element);
  return filters_.find(identifier)->second.evaluate(std::move(document).finish());
}

}  // namespace gridmount::query
