// Dot paths into documents: "metadata.mode", "items.0.price".
// Source: MongoDB manual, "Dot Notation", and the array traversal rules of query fields.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// The fields of a DBRef: the only names beginning with '$' that paths may hold.
inline bool is_reference_field(std::string_view name) {
  return name == "$id" || name == "$ref" || name == "$db";
}

class Path {
 public:
  // Splits at dots. Parts may be empty: MongoDB accepts that in queries.
  explicit Path(std::string_view dotted);

  const std::string& dotted() const { return dotted_; }
  const std::vector<std::string>& parts() const { return parts_; }

  // The value reached through documents only, arrays being entered by a numeric part.
  std::optional<ValueView> resolve(View document) const;

  // Calls `visit` with every value the path reaches with MongoDB's query semantics: an array on the
  // way stands for each of its elements (and for its numeric positions); the array at the end is
  // visited as itself, its elements are not expanded here. Where a branch has no such field,
  // nullopt is visited once for the branch; elements that are no documents have no branch. Stops
  // when `visit` returns false.
  struct Reached {
    std::optional<ValueView> value;
    bool through_array = false;  // some array was expanded on the way
  };
  void visit(View document, const std::function<bool(const Reached&)>& visit) const;

 private:
  std::string dotted_;
  std::vector<std::string> parts_;
};

}  // namespace gridmount::bson
