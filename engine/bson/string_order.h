// The order of strings within values. Without a StringOrder, strings are compared as bytes. A
// collation (engine/query/collation) is another order.
//
// A StringOrder orders any two strings. Strings with different bytes may be equivalent.
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
  // Appends the sort key of the text. memcmp() on two sort keys has the sign of compare() on their
  // texts, so equivalent texts have the same sort key.
  virtual void append_sort_key(std::string& out, std::string_view text) const = 0;
};

}  // namespace gridmount::bson
