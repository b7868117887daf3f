// Dot paths into documents: "metadata.mode", "items.0.price".
// Source: MongoDB manual, "Dot Notation", and the rules by which queries traverse arrays.
//
// Thread-safety: a Path is immutable, so thread-safe.
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

// Returns whether the name is a field of a DBRef. In a path, only these names may begin with '$'.
inline bool is_reference_field(std::string_view name) {
  return name == "$id" || name == "$ref" || name == "$db";
}

class Path {
 public:
  // Splits the path into the names between its dots. Names may be empty, because MongoDB accepts
  // them in queries.
  explicit Path(std::string_view dotted);

  const std::string& dotted() const { return dotted_; }
  const std::vector<std::string>& parts() const { return parts_; }

  // Returns the value at the path, or nothing if there is none. In an array, the next name of the
  // path must be the position of an element. Unlike visit(), does not continue in the other
  // elements of the array.
  std::optional<ValueView> resolve(View document) const;

  struct Reached {
    std::optional<ValueView> value;  // empty: the path cannot continue here, see visit()
    // True if the path has gone through an element of an array, and does not have the position of
    // this element.
    bool through_array = false;
  };
  // Calls `visit` with every value that the path reaches by the rules of MongoDB's queries. At an
  // array before the end of the path, the path continues in each element that is a document. If the
  // next name is a number, the path also continues in the element at that position. An array at the
  // end of the path is one value: its elements are not visited. Where a document lacks the next
  // name, and where a value before the end of the path is neither a document nor an array, calls
  // `visit` without a value. Stops when `visit` returns false.
  void visit(View document, const std::function<bool(const Reached&)>& visit) const;

 private:
  std::string dotted_;
  std::vector<std::string> parts_;
};

}  // namespace gridmount::bson
