#include <algorithm>

#include "engine/query/expression/expression.h"

namespace gridmount::query {
namespace {

bool is_letter(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

}  // namespace

Result<size_t> VariableScope::declare(std::string_view name) {
  if (name.empty()) {
    return fail(ErrorCode::kFailedToParse, "empty variable names are not allowed");
  }
  // CURRENT is the only system variable that a user may redeclare. "$a" is then a field of the
  // value of CURRENT.
  if (name != "CURRENT") {
    const auto first = static_cast<unsigned char>(name[0]);
    if (!is_letter(first) || (first >= 'A' && first <= 'Z')) {
      return fail(
          ErrorCode::kFailedToParse,
          "'" + std::string(name) + "' starts with an invalid character for a user variable name");
    }
    for (const char c : name) {
      if (is_letter(static_cast<unsigned char>(c)) || (c >= '0' && c <= '9') || c == '_') continue;
      return fail(ErrorCode::kFailedToParse,
                  "'" + std::string(name) +
                      "' contains an invalid character for a variable name: '" + std::string(1, c) +
                      "'");
    }
  }
  declared_.emplace_back(name, slots_);
  return slots_++;
}

void VariableScope::undeclare() {
  declared_.pop_back();
}

std::optional<size_t> VariableScope::find(std::string_view name) const {
  const auto found = std::find_if(declared_.rbegin(), declared_.rend(),
                                  [&](const auto& variable) { return variable.first == name; });
  if (found == declared_.rend()) return std::nullopt;
  return found->second;
}

}  // namespace gridmount::query
