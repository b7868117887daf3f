#include "tests/mount/differential/step.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace gridmount::differential {

std::string shown(std::string_view path) {
  constexpr size_t kRunMax = 12;
  std::string text = "\"";
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find_first_not_of(path[at], at), path.size());
    if (end - at > kRunMax) {
      text += std::string(2, path[at]) + "..(" + std::to_string(end - at) + ")";
    } else {
      text += path.substr(at, end - at);
    }
    at = end;
  }
  return text + "\"";
}

std::string octal(mode_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0%o", mode);
  return text.data();
}

std::string flags_text(int flags, std::initializer_list<FlagName> names) {
  std::string text;
  for (const FlagName& each : names) {
    if ((flags & each.flag) != each.flag) continue;
    flags &= ~each.flag;
    text += (text.empty() ? "" : "|") + std::string(each.name);
  }
  if (flags != 0 || text.empty()) text += (text.empty() ? "" : "|") + std::to_string(flags);
  return text;
}

}  // namespace gridmount::differential
