// Splits "database.collection", with which the legacy opcodes name a collection.
//
// The function is thread-safe. A LegacyNamespace is a plain value and not thread-safe.
#pragma once

#include <string_view>

namespace gridmount::wire {

// The two parts, as views of the string that was split. If the string has no dot, all of it is the
// database, and the command then refuses the empty name of the collection.
struct LegacyNamespace {
  std::string_view database;
  std::string_view collection;
};

inline LegacyNamespace split(std::string_view full) {
  const size_t dot = full.find('.');
  if (dot == std::string_view::npos) return {full, {}};
  return {full.substr(0, dot), full.substr(dot + 1)};
}

}  // namespace gridmount::wire
