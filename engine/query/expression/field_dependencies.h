// The set of the document's fields that a consumer, such as a pipeline stage, needs. Internal to
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
  // Returns the paths, without those that are below another path in the set. Returns nullopt if all
  // fields are needed.
  std::optional<std::set<std::string>> outer_paths() const;

  void add_all() {
    all_ = true;
    ordered_ = true;
    paths_.clear();
  }
  // Adds a path. If a name in it is a number, adds only the path before the number: the number may
  // be a position in an array, and then the whole array is needed.
  void add(std::string_view path);
  void add(const FieldDependencies& other);
  void add(const Expression& expression);
  // Removes a field. Must be called for a stage whose results never have this field.
  void remove(std::string_view path);
  // Must be called for a stage that computes the field, and so replaces the field of its input. The
  // input's field is then needed only for its position, and only if the order of fields matters. If
  // the path is dotted, the other fields of the documents on the path are still needed.
  void replace(std::string_view path);
  // Must be called for a stage that makes its results only from the fields that it names. `ordered`
  // says that the results have these fields in the order of the input.
  void clear(bool ordered = false) {
    all_ = false;
    ordered_ = ordered;
    paths_.clear();
  }
  bool is_ordered() const { return ordered_; }
  // Returns whether the top-level field with this name, or a field below it, is needed.
  bool has_field(std::string_view name) const;

 private:
  bool all_ = false;
  bool ordered_ = false;
  std::set<std::string> paths_;
};

}  // namespace gridmount::query
