// The set of a document's fields that a consumer needs. A consumer is, for example, a pipeline
// stage. Internal to engine/query. Not thread-safe.
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
  // Returns the paths that are needed. The set is empty while all fields are needed (is_all()).
  const std::set<std::string>& paths() const { return paths_; }
  // Returns the needed paths, except paths that are below another path in the set. Returns nullopt
  // if all fields are needed.
  std::optional<std::set<std::string>> outer_paths() const;

  void add_all() {
    all_ = true;
    ordered_ = true;
    paths_.clear();
  }
  // Adds a path. If a name in the path, other than the first one, is a number, adds only the path
  // before this name: the number may be a position in an array, and then the whole array is needed.
  void add(std::string_view path);
  // Adds the fields that the other consumer needs. Does not change is_ordered(), unless the other
  // consumer needs all fields.
  void add(const FieldDependencies& other);
  void add(const Expression& expression);
  // Removes the field with this path and all fields below it. Must be called for a stage whose
  // results never have this field. Has no effect while all fields are needed.
  void remove(std::string_view path);
  // Must be called for a stage that computes the field `path`. The result then does not need the
  // input's field, except in two cases. First, if is_ordered(), a needed field stays needed,
  // because it has the same position in the result as in the input. Second, if the path is dotted
  // and its top-level field or a field below it is needed, the whole top-level field becomes
  // needed, because the stage changes only a part of it.
  void replace(std::string_view path);
  // Must be called for a stage that makes its results only from the fields that it names, before
  // these fields are added. `ordered` says whether the results have their fields in the order of
  // the input's fields.
  void clear(bool ordered = false) {
    all_ = false;
    ordered_ = ordered;
    paths_.clear();
  }
  // Returns whether the order of the document's fields matters to the consumer.
  bool is_ordered() const { return ordered_; }
  // Returns whether the top-level field with this name, or a field below it, is needed.
  bool has_field(std::string_view name) const;

 private:
  bool all_ = false;
  bool ordered_ = false;
  std::set<std::string> paths_;
};

}  // namespace gridmount::query
