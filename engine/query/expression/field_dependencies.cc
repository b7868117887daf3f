#include "engine/query/expression/field_dependencies.h"

#include <optional>

namespace gridmount::query {
namespace {

// Returns whether `path` is `whole` or a path below it.
bool is_within(std::string_view path, std::string_view whole) {
  return path.starts_with(whole) && (path.size() == whole.size() || path[whole.size()] == '.');
}

// Returns the position of the dot before the first number in the path, or the path's size if there
// is none.
size_t before_number(std::string_view path) {
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    const std::string_view part = path.substr(dot + 1, path.find('.', dot + 1) - dot - 1);
    if (part.find_first_not_of("0123456789") == std::string_view::npos) return dot;
  }
  return path.size();
}

}  // namespace

void FieldDependencies::add(std::string_view path) {
  if (!all_) paths_.emplace(path.substr(0, before_number(path)));
}

std::optional<std::set<std::string>> FieldDependencies::outer_paths() const {
  if (all_) return std::nullopt;
  std::set<std::string> outer;
  for (const std::string& path : paths_) {
    bool covered = false;
    for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
      covered = covered || paths_.contains(path.substr(0, dot));
    }
    if (!covered) outer.insert(path);
  }
  return outer;
}

void FieldDependencies::add(const FieldDependencies& other) {
  if (other.all_) return add_all();
  for (const std::string& path : other.paths_) add(path);
}

void FieldDependencies::add(const Expression& expression) {
  std::set<std::string> paths;
  expression.add_dependencies(paths);
  for (const std::string& path : paths) {
    if (path.empty()) return add_all();
    add(path);
  }
}

void FieldDependencies::remove(std::string_view path) {
  std::erase_if(paths_, [&](const std::string& known) { return is_within(known, path); });
}

void FieldDependencies::replace(std::string_view path) {
  // If the path is dotted, the result depends on whether the top-level field is a document or an
  // array.
  const std::string_view field = path.substr(0, path.find('.'));
  if (!ordered_ && field == path) return remove(path);
  // A needed path below the field may not be enough to know that the field exists.
  if (has_field(field)) add(field);
}

bool FieldDependencies::has_field(std::string_view name) const {
  if (all_) return true;
  const auto at = paths_.lower_bound(std::string(name));
  if (at != paths_.end() && is_within(*at, name)) return true;
  // A name that continues with a byte less than '.' may sort between `name` and the paths below it.
  for (auto next = at; next != paths_.end() && next->starts_with(name); ++next) {
    if (is_within(*next, name)) return true;
  }
  return false;
}

}  // namespace gridmount::query
