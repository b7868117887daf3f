// A chosen system call: a text for reports, a function that makes the call on a side, and the
// objects that it uses. For each group of calls, one file adds its kinds of calls to the table.
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
  // The objects whose attributes are compared before and after the call: the objects at these
  // paths, their parent directories, and the objects of these handles.
  std::vector<std::string> paths = {};
  std::vector<size_t> handles = {};
  // If true, a time must change on both sides or on neither.
  bool times_are_settled = true;
  // If true, the attributes are also compared before the step. This fills the kernel's caches, so
  // it is true for half of the steps.
  bool looks_before = false;
};

struct CallKind {
  std::string_view group;
  int weight;
  // Chooses a call. The choice depends on the state of `model`, which is one of the sides.
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

// --- Texts of arguments, for reports.

// Puts the path in quotes, and shortens a character that repeats more than 12 times: "nn..(255)".
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
