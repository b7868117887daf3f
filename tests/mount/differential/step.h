// A chosen system call: a text for reports, the call for either side, and the objects it uses. One
// file per group of calls adds its kinds to the table.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/mount/differential/chance.h"
#include "tests/mount/differential/outcome.h"
#include "tests/mount/differential/side.h"

namespace gridmount::differential {

struct Step {
  std::string text = {};
  Actor actor = {};
  std::function<Outcome(Side&)> run = {};
  // Whose attributes are compared before and after: what is at these paths and the folders they are
  // in, and what these handles hold.
  std::vector<std::string> paths = {};
  std::vector<size_t> handles = {};
  // Whether the times have to change on both sides or on neither.
  bool times_are_settled = true;
  // Also before it, which fills the kernel's memory; so half of the steps go without.
  bool looks_before = false;
};

struct CallKind {
  std::string_view group;
  int weight;
  // The model is the side that choices look at.
  Step (*choose)(Chance&, const Side& model);
};

void add_name_calls(std::vector<CallKind>& kinds);
void add_file_calls(std::vector<CallKind>& kinds);
void add_space_calls(std::vector<CallKind>& kinds);
void add_map_calls(std::vector<CallKind>& kinds);
void add_attribute_calls(std::vector<CallKind>& kinds);
void add_xattr_calls(std::vector<CallKind>& kinds);
void add_listing_calls(std::vector<CallKind>& kinds);
void add_lock_calls(std::vector<CallKind>& kinds);

// --- Texts of arguments.

// Paths at the limits are shortened: `nnnn...(255)`.
std::string shown(std::string_view path);
std::string octal(mode_t mode);

struct FlagName {
  int flag;
  std::string_view name;
};
std::string flags_text(int flags, std::initializer_list<FlagName> names);

template <typename... Words>
std::string call_text(std::string_view name, const Words&... words) {
  std::string text = std::string(name) + "(";
  std::string_view separator;
  const auto add = [&](const auto& word) {
    text += separator;
    if constexpr (std::is_convertible_v<decltype(word), std::string_view>) {
      text += std::string_view(word);
    } else {
      text += std::to_string(word);
    }
    separator = ", ";
  };
  (add(words), ...);
  return text + ")";
}

}  // namespace gridmount::differential
