#include "engine/query/replacement.h"

#include <optional>
#include <string>

#include "engine/query/update_path.h"

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

}  // namespace

Status check_replacement(bson::View document) {
  std::string_view before;
  for (const Element element : document) {
    if (before == "$ref" && element.key != "$id") break;
    if (element.key == "$ref") {
      GM_TRY(check_text(element));
    } else if (element.key == "$id") {
      GM_TRY(check_behind(element, before, "$ref"));
    } else if (element.key == "$db") {
      GM_TRY(check_text(element));
      GM_TRY(check_behind(element, before, "$id"));
    } else {
      GM_TRY(check_storable(element.key));
    }
    before = element.key;
  }
  if (before != "$ref") return {};
  return fail(kInvalidDbRef, "The DBRef $ref field must be followed by a $id field");
}

}  // namespace gridmount::query
