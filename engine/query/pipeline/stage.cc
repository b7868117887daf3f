#include "engine/query/pipeline/stage.h"

#include "engine/bson/path.h"
#include "engine/bson/text.h"

namespace gridmount::query {
namespace {

constexpr size_t kShownBytesMax = 1024;
constexpr size_t kPathPartsMax = 200;

// Whether `path` is `whole` or below it.
bool is_within(std::string_view path, std::string_view whole) {
  return path.starts_with(whole) && (path.size() == whole.size() || path[whole.size()] == '.');
}

// Where a number stands between dots, or behind the last one.
size_t before_number(std::string_view path) {
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    const std::string_view part = path.substr(dot + 1, path.find('.', dot + 1) - dot - 1);
    if (part.find_first_not_of("0123456789") == std::string_view::npos) return dot;
  }
  return path.size();
}

}  // namespace

void Needs::add(std::string_view path) {
  if (!all_) paths_.emplace(path.substr(0, before_number(path)));
}

std::optional<std::set<std::string>> Needs::outer_paths() const {
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

void Needs::add(const Needs& other) {
  if (other.all_) return add_all();
  for (const std::string& path : other.paths_) add(path);
}

void Needs::add(const Expression& expression) {
  std::set<std::string> paths;
  expression.add_dependencies(paths);
  for (const std::string& path : paths) {
    if (path.empty()) return add_all();
    add(path);
  }
}

void Needs::remove(std::string_view path) {
  std::erase_if(paths_, [&](const std::string& known) { return is_within(known, path); });
}

void Needs::replace(std::string_view path) {
  // Below a field it depends on what that is.
  const std::string_view field = path.substr(0, path.find('.'));
  if (!ordered_ && field == path) return remove(path);
  // A part of the field may be less than is needed for it to be there at all.
  if (has_field(field)) add(field);
}

bool Needs::has_field(std::string_view name) const {
  if (all_) return true;
  const auto at = paths_.lower_bound(std::string(name));
  if (at != paths_.end() && is_within(*at, name)) return true;
  // A name with a byte less than '.' may sort between a name and what is below it.
  for (auto next = at; next != paths_.end() && next->starts_with(name); ++next) {
    if (is_within(*next, name)) return true;
  }
  return false;
}

tl::unexpected<Error> memory_exceeded(std::string_view stage) {
  return fail(ErrorCode::kQueryExceededMemoryLimit,
              "Exceeded memory limit for " + std::string(stage) +
                  ", but didn't allow external sort. Pass allowDiskUse:true to opt in.");
}

std::string shown(bson::ValueView value) {
  if (value.size() > kShownBytesMax) return "a value of type " + type_name(value);
  return bson::to_text(value);
}

std::string type_name(bson::ValueView value) {
  return std::string(bson::type_alias(value.type()));
}

Status check_field_path(std::string_view path) {
  if (path.empty()) {
    return fail(ErrorCode{40352}, "FieldPath cannot be constructed with empty string");
  }
  if (path.back() == '.') return fail(ErrorCode{40353}, "FieldPath must not end with a '.'.");
  const bson::Path parts(path);
  if (parts.parts().size() > kPathPartsMax) {
    return fail(ErrorCode::kOverflow, "FieldPath is too long");
  }
  for (const std::string& part : parts.parts()) {
    if (part.empty()) {
      return fail(ErrorCode{15998}, "FieldPath field names may not be empty strings.");
    }
    if (part[0] == '$' && !bson::is_reference_field(part)) {
      return fail(ErrorCode{16410},
                  "FieldPath field names may not start with '$'. Consider using $getField or "
                  "$setField.");
    }
    if (part.find('\0') != std::string::npos) {
      return fail(ErrorCode{16411}, "FieldPath field names may not contain '\\0'.");
    }
  }
  return {};
}

Result<bson::Path> field_path(std::string_view dotted) {
  GM_TRY(check_field_path(dotted));
  return bson::Path(dotted);
}

}  // namespace gridmount::query
