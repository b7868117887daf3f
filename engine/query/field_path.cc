#include "engine/query/field_path.h"

#include <string>

namespace gridmount::query {
namespace {

constexpr size_t kPathPartsMax = 200;

}  // namespace

Status check_field_path(std::string_view path) {
  if (path.empty()) {
    return fail(ErrorCode{40352}, "FieldPath cannot be constructed with empty string");
  }
  if (path.back() == '.') return fail(ErrorCode{40353}, "FieldPath must not end with a '.'.");
  const bson::Path parts(path);
  if (parts.parts().size() > kPathPartsMax) {
    return fail(ErrorCode::kOverflow, "FieldPath is too long");
  }
  for (const std::string& part : parts.parts()) {
    if (part.empty()) {
      return fail(ErrorCode{15998}, "FieldPath field names may not be empty strings.");
    }
    if (part[0] == '$' && !bson::is_reference_field(part)) {
      return fail(ErrorCode{16410},
                  "FieldPath field names may not start with '$'. Consider using $getField or "
                  "$setField.");
    }
    if (part.find('\0') != std::string::npos) {
      return fail(ErrorCode{16411}, "FieldPath field names may not contain '\\0'.");
    }
  }
  return {};
}

Result<bson::Path> field_path(std::string_view dotted) {
  GM_TRY(check_field_path(dotted));
  return bson::Path(dotted);
}

}  // namespace gridmount::query
