// Which fields of documents somebody looks at. Internal to engine/query.
//
// Thread-safety: none; one thread at a time.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/query/expression/expression.h"

namespace gridmount::query {

// The fields somebody looks at.
class Needs {
 public:
  static Needs all() {
    Needs needs;
    needs.add_all();
    return needs;
  }

  bool is_all() const { return all_; }
  const std::set<std::string>& paths() const { return paths_; }
  // The paths without those below others; nothing if all is looked at.
  std::optional<std::set<std::string>> outer_paths() const;

  void add_all() {
    all_ = true;
    ordered_ = true;
    paths_.clear();
  }
  // Up to a number, which may be a position in an array: that takes the array as a whole.
  void add(std::string_view path);
  void add(const Needs& other);
  void add(const Expression& expression);
  // The field is not in a stage's results, whatever the input has.
  void remove(std::string_view path);
  // A stage makes the field itself, in place of the input's: of that its place is looked at, if the
  // order of fields is. With a dotted path, what is around it.
  void replace(std::string_view path);
  // A stage makes its results of the fields it names; in an order of its own, but with `ordered`.
  void clear(bool ordered = false) {
    all_ = false;
    ordered_ = ordered;
    paths_.clear();
  }
  bool is_ordered() const { return ordered_; }
  // Whether something of the field of that name, of the document itself, is looked at.
  bool has_field(std::string_view name) const;

 private:
  bool all_ = false;
  bool ordered_ = false;
  std::set<std::string> paths_;
};

}  // namespace gridmount::query
