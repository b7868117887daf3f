// The "database.collection" by which the old opcodes name a collection.
#pragma once

#include <string_view>

namespace gridmount::wire {

// Points into what was split. Without a dot all of it is the database, and the collection's empty
// name is for the command to refuse.
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
