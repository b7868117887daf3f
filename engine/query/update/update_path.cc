#include "engine/query/update/update_path.h"

#include <algorithm>

#include "engine/bson/document.h"

namespace gridmount::query {

bool is_matched_part(std::string_view part) {
  return part == "$";
}

bool is_elements_part(std::string_view part) {
  return part.size() >= 3 && part.starts_with("$[") && part.ends_with(']');
}

std::string_view identifier_of(std::string_view elements_part) {
  return elements_part.substr(2, elements_part.size() - 3);
}

bool is_positional(const bson::Path& path) {
  return std::any_of(path.parts().begin(), path.parts().end(), [](const std::string& part) {
    return is_matched_part(part) || is_elements_part(part);
  });
}

std::string fixed_prefix(const bson::Path& path) {
  std::string prefix;
  for (const std::string& part : path.parts()) {
    if (is_matched_part(part) || is_elements_part(part)) break;
    if (!prefix.empty()) prefix += '.';
    prefix += part;
  }
  return prefix;
}

Status check_update_path(const bson::Path& path) {
  const std::vector<std::string>& parts = path.parts();
  const std::string quoted = "'" + path.dotted() + "'";
  if (path.dotted().empty()) {
    return fail(ErrorCode::kEmptyFieldName, "An empty update path is not valid.");
  }
  if (parts.size() > bson::kMaxDepth) {
    return fail(ErrorCode::kOverflow, "The update path " + quoted + " has more than " +
                                          std::to_string(bson::kMaxDepth) + " parts");
  }
  if (std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); })) {
    return fail(ErrorCode::kEmptyFieldName, "The update path " + quoted +
                                                " contains an empty field name, which is not "
                                                "allowed.");
  }
  if (std::count_if(parts.begin(), parts.end(), is_matched_part) > 1) {
    return fail(ErrorCode::kBadValue,
                "Too many positional (i.e. '$') elements found in path " + quoted);
  }
  if (is_matched_part(parts[0])) {
    return fail(
        ErrorCode::kBadValue,
        "Cannot have positional (i.e. '$') element in the first position in path " + quoted);
  }
  if (is_elements_part(parts[0])) {
    return fail(ErrorCode::kBadValue,
                "Cannot have array filter identifier (i.e. '$[<id>]') element in the first "
                "position in path " +
                    quoted);
  }
  return {};
}

}  // namespace gridmount::query
