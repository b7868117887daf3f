// Dot paths into documents: "metadata.mode", "items.0.price".
// Source: MongoDB manual, "Dot Notation", and the rules by which queries traverse arrays.
//
// Thread-safety: immutable after construction, so safe to share.
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

// Returns whether the name is a field of a DBRef. No other names in a path may begin with '$'.
inline bool is_reference_field(std::string_view name) {
  return name == "$id" || name == "$ref" || name == "$db";
}

class Path {
 public:
  // Splits at dots. Parts may be empty, because MongoDB accepts that in queries.
  explicit Path(std::string_view dotted);

  const std::string& dotted() const { return dotted_; }
  const std::vector<std::string>& parts() const { return parts_; }

  // Returns the value reached through documents alone. A numeric part enters an array at that
  // position.
  std::optional<ValueView> resolve(View document) const;

  // Calls `visit` with every value that the path reaches by MongoDB's query semantics. At an array
  // before the end, the path continues in each element. If the next part is a number, it also
  // continues in the element at that position. An array at the end is visited as itself, without
  // its elements. A branch without the field is visited once with nullopt. Array elements that are
  // not documents are not branches. Stops when `visit` returns false.
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
