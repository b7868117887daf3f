#include "engine/query/update/replacement.h"

#include <string>

namespace gridmount::query {
namespace {

using bson::Element;
using bson::Type;

constexpr ErrorCode kInvalidDbRef{55};

Status check_text(const Element& element) {
  if (element.value.type() == Type::kString) return {};
  return fail(kInvalidDbRef, "The DBRef " + std::string(element.key) +
                                 " field must be a String, not a " +
                                 std::string(bson::type_alias(element.value.type())));
}

Status check_behind(const Element& element, std::string_view before, std::string_view needed) {
  if (before == needed) return {};
  return fail(kInvalidDbRef, "Found " + std::string(element.key) + " field without a " +
                                 std::string(needed) + " before it, which is invalid.");
}

// Checks one field. `before` is the name of the field before it.
Status check_field(const Element& element, std::string_view before) {
  if (!element.key.starts_with('$')) return {};
  if (element.key == "$ref") return check_text(element);
  if (element.key == "$id") return check_behind(element, before, "$ref");
  if (element.key == "$db") {
    GM_TRY(check_text(element));
    return check_behind(element, before, "$id");
  }
  const std::string name(element.key);
  return fail(ErrorCode::kDollarPrefixedFieldName,
              "The dollar ($) prefixed field '" + name + "' in '" + name +
                  "' is not allowed in the context of an update's replacement document. Consider "
                  "using an aggregation pipeline with $replaceWith.");
}

tl::unexpected<Error> reference_without_id() {
  return fail(kInvalidDbRef, "The DBRef $ref field must be followed by a $id field");
}

}  // namespace

Status check_replacement(bson::View document) {
  std::string_view before;
  for (const Element element : document) {
    if (before == "$ref" && element.key != "$id") return reference_without_id();
    GM_TRY(check_field(element, before));
    before = element.key;
  }
  if (before == "$ref") return reference_without_id();
  return {};
}

Status check_changed_field(bson::View document, std::string_view name) {
  std::string_view before;
  bool found = false;
  for (const Element element : document) {
    if (found) {
      if (name == "$ref" && element.key != "$id") return reference_without_id();
      return {};
    }
    if (element.key == name) {
      GM_TRY(check_field(element, before));
      found = true;
    }
    before = element.key;
  }
  if (found && name == "$ref") return reference_without_id();
  return {};
}

}  // namespace gridmount::query
