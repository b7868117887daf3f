#include "engine/query/field_path.h"

#include <string>

#include "engine/bson/document.h"

namespace gridmount::query {
namespace {

constexpr ErrorCode kEmptyName{15998};
constexpr ErrorCode kDollarName{16410};
constexpr ErrorCode kNulInName{16411};
constexpr ErrorCode kDotInName{16412};
constexpr ErrorCode kEmptyPath{40352};
constexpr ErrorCode kPathEndsWithDot{40353};

}  // namespace

Status check_field_name(std::string_view name) {
  if (name.empty()) return fail(kEmptyName, "FieldPath field names may not be empty strings.");
  if (name[0] == '$' && !bson::is_reference_field(name)) {
    return fail(kDollarName,
                "FieldPath field names may not start with '$'. Consider using $getField or "
                "$setField.");
  }
  if (name.find('\0') != std::string_view::npos) {
    return fail(kNulInName, "FieldPath field names may not contain '\\0'.");
  }
  if (name.find('.') != std::string_view::npos) {
    return fail(kDotInName,
                "FieldPath field names may not contain '.'. Consider using $getField or "
                "$setField.");
  }
  return {};
}

Status check_field_path(std::string_view path) {
  if (path.empty()) {
    return fail(kEmptyPath, "FieldPath cannot be constructed with empty string");
  }
  if (path.back() == '.') return fail(kPathEndsWithDot, "FieldPath must not end with a '.'.");
  const bson::Path parts(path);
  if (parts.parts().size() > bson::kMaxDepth) {
    return fail(ErrorCode::kOverflow, "FieldPath is too long");
  }
  for (const std::string& part : parts.parts()) GM_TRY(check_field_name(part));
  return {};
}

Result<bson::Path> split_field_path(std::string_view dotted) {
  GM_TRY(check_field_path(dotted));
  return bson::Path(dotted);
}

}  // namespace gridmount::query
