// The order of strings within values. Without a StringOrder, strings are compared as bytes. A
// collation (engine/query/collation) is another order.
//
// A StringOrder is a total preorder: strings may be equivalent without having the same bytes.
//
// Thread-safety: a StringOrder is immutable, so thread-safe.
#pragma once

#include <compare>
#include <string>
#include <string_view>

namespace gridmount::bson {

class StringOrder {
 public:
  virtual ~StringOrder() = default;

  virtual std::weak_ordering compare(std::string_view a, std::string_view b) const = 0;
  // Appends the sort key of the text. Compared as bytes, sort keys have the order of their texts,
  // and equivalent texts have the same one.
  virtual void append_sort_key(std::string& out, std::string_view text) const = 0;
};

}  // namespace gridmount::bson
