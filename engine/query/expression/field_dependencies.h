// The set of document fields that are needed by a consumer, such as a pipeline stage. Internal to
// engine/query. Not thread-safe.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "engine/query/expression/expression.h"

namespace gridmount::query {

class FieldDependencies {
 public:
  static FieldDependencies all() {
    FieldDependencies needs;
    needs.add_all();
    return needs;
  }

  bool is_all() const { return all_; }
  const std::set<std::string>& paths() const { return paths_; }
  // Returns the paths without those below other paths in the set. Returns nullopt if all fields are
  // needed.
  std::optional<std::set<std::string>> outer_paths() const;

  void add_all() {
    all_ = true;
    ordered_ = true;
    paths_.clear();
  }
  // Adds a path up to a part that is a number. The number may be an array position, so the whole
  // array is needed.
  void add(std::string_view path);
  void add(const FieldDependencies& other);
  void add(const Expression& expression);
  // Removes a field that a stage's results never have, whatever its input has.
  void remove(std::string_view path);
  // Call this for a stage that computes the field, and so replaces the field of its input. The
  // input's field is then needed only for its place, and only if the order of fields matters. If
  // the path is dotted, the fields around the computed one are still needed.
  void replace(std::string_view path);
  // Call this for a stage that makes its results only from the fields that it names. `ordered`
  // means that the results have these fields in the order of the input.
  void clear(bool ordered = false) {
    all_ = false;
    ordered_ = ordered;
    paths_.clear();
  }
  bool is_ordered() const { return ordered_; }
  // Returns whether anything in the top-level field of that name is needed.
  bool has_field(std::string_view name) const;

 private:
  bool all_ = false;
  bool ordered_ = false;
  std::set<std::string> paths_;
};

}  // namespace gridmount::query
