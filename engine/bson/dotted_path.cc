#include "engine/bson/dotted_path.h"

#include <charconv>

namespace gridmount::bson {
namespace {

bool is_position(std::string_view part) {
  return !part.empty() && part.size() <= 9 &&
         part.find_first_not_of("0123456789") == std::string_view::npos &&
         (part.size() == 1 || part[0] != '0');
}

using Visit = std::function<bool(const Path::Reached&)>;

// Returns whether the visit continues.
bool descend(View container, bool is_array, std::span<const std::string> parts, bool through_array,
             const Visit& visit);

bool enter(std::optional<ValueView> value, std::span<const std::string> rest, bool through_array,
           const Visit& visit) {
  if (!value || rest.empty()) return visit({value, through_array});
  switch (value->type()) {
    case Type::kDocument:
      return descend(value->as_document(), false, rest, through_array, visit);
    case Type::kArray:
      return descend(value->as_document(), true, rest, through_array, visit);
    default:
      return visit({std::nullopt, through_array});
  }
}

bool descend(View container, bool is_array, std::span<const std::string> parts, bool through_array,
             const Visit& visit) {
  const std::string& part = parts.front();
  if (!is_array) return enter(container.find(part), parts.subspan(1), through_array, visit);
  // The part may be a position in the array.
  if (is_position(part)) {
    if (const std::optional<ValueView> value = container.find(part)) {
      if (!enter(value, parts.subspan(1), through_array, visit)) return false;
    }
  }
  // The part may also be a field of each document in the array.
  for (const Element element : container) {
    if (element.value.type() != Type::kDocument) continue;
    if (!descend(element.value.as_document(), false, parts, true, visit)) return false;
  }
  return true;
}

}  // namespace

Path::Path(std::string_view dotted) : dotted_(dotted) {
  for (size_t begin = 0;;) {
    const size_t dot = dotted.find('.', begin);
    if (dot == std::string_view::npos) {
      parts_.emplace_back(dotted.substr(begin));
      return;
    }
    parts_.emplace_back(dotted.substr(begin, dot - begin));
    begin = dot + 1;
  }
}

std::optional<ValueView> Path::resolve(View document) const {
  View container = document;
  for (size_t i = 0;; ++i) {
    const std::optional<ValueView> value = container.find(parts_[i]);
    if (!value || i + 1 == parts_.size()) return value;
    if (value->type() != Type::kDocument && value->type() != Type::kArray) return std::nullopt;
    container = value->as_document();
  }
}

void Path::visit(View document, const std::function<bool(const Reached&)>& visit) const {
  descend(document, false, parts_, false, visit);
}

}  // namespace gridmount::bson
