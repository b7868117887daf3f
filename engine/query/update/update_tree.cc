#include "engine/query/update/update_tree.h"

#include <charconv>

#include "engine/query/update/update_path.h"

namespace gridmount::query {
namespace {

// Returns the number of the group of a name in FieldOrder. Positions form one group, in the order
// of their numbers. The names of each other group are in the order of their bytes. Names that begin
// with a digit but are not positions follow the positions, because FieldOrder would otherwise not
// be a strict weak ordering.
int group_of(std::string_view name, bool position) {
  if (position) return 1;
  const unsigned char first = name.empty() ? 0 : static_cast<unsigned char>(name[0]);
  if (first < '0') return 0;
  return first <= '9' ? 2 : 3;
}

tl::unexpected<Error> conflict(const bson::Path& path, size_t parts) {
  std::string at = path.parts()[0];
  for (size_t i = 1; i < parts; ++i) at += "." + path.parts()[i];
  return fail(ErrorCode::kConflictingUpdateOperators,
              "Updating the path '" + path.dotted() + "' would create a conflict at '" + at + "'");
}

// Returns the place of the child that `part` names. The pointer there is null if the child does not
// exist yet.
Result<std::shared_ptr<UpdateNode>*> place_of(UpdateNode& node, const std::string& part,
                                              const bson::Path& path, const ArrayFilters& filters) {
  if (is_matched_part(part)) return &node.matched;
  if (!is_elements_part(part)) return &node.children[part].node;
  const std::string identifier(identifier_of(part));
  if (!identifier.empty() && !filters.contains(identifier)) {
    return fail(ErrorCode::kBadValue, "No array filter found for identifier '" + identifier +
                                          "' in path '" + path.dotted() + "'");
  }
  return &node.children[identifier].node;
}

}  // namespace

std::optional<uint32_t> position_of(std::string_view name) {
  if (name.empty() || (name.size() > 1 && name[0] == '0')) return std::nullopt;
  uint32_t position = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), position);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return position;
}

bool FieldOrder::operator()(std::string_view a, std::string_view b) const {
  const std::optional<uint32_t> position_a = position_of(a);
  const std::optional<uint32_t> position_b = position_of(b);
  if (position_a && position_b) return *position_a < *position_b;
  const int group_a = group_of(a, position_a.has_value());
  const int group_b = group_of(b, position_b.has_value());
  return group_a != group_b ? group_a < group_b : a < b;
}

const UpdateNode* UpdateNode::find(std::string_view child) const {
  const auto at = children.find(child);
  return at == children.end() ? nullptr : at->second.node.get();
}

Status add_update(UpdateNode& root, const bson::Path& path, std::shared_ptr<const UpdateLeaf> leaf,
                  const ArrayFilters& filters) {
  const std::vector<std::string>& parts = path.parts();
  UpdateNode* node = &root;
  for (size_t i = 0; i < parts.size(); ++i) {
    GM_ASSIGN(std::shared_ptr<UpdateNode>* const place, place_of(*node, parts[i], path, filters));
    const bool last = i + 1 == parts.size();
    const bool of_elements = !last && is_elements_part(parts[i + 1]);
    if (*place == nullptr) {
      *place = std::make_shared<UpdateNode>();
      (*place)->of_elements = of_elements;
    } else if (last || (*place)->leaf != nullptr || (*place)->of_elements != of_elements) {
      return conflict(path, i + 1);
    }
    node = place->get();
  }
  node->leaf = std::move(leaf);
  return {};
}

void number_children(UpdateNode& root) {
  size_t ordinal = 0;
  for (auto& [name, child] : root.children) {
    child.ordinal = ordinal++;
    number_children(*child.node);
  }
  if (root.matched != nullptr) number_children(*root.matched);
}

Result<std::shared_ptr<UpdateNode>> merge_updates(const std::shared_ptr<UpdateNode>& a,
                                                  const std::shared_ptr<UpdateNode>& b,
                                                  const std::string& path) {
  if (a->leaf != nullptr || b->leaf != nullptr || a->of_elements != b->of_elements) {
    return fail(ErrorCode::kConflictingUpdateOperators,
                "Update created a conflict at '" + path + "'");
  }
  auto merged = std::make_shared<UpdateNode>(*a);
  for (const auto& [name, child] : b->children) {
    std::shared_ptr<UpdateNode>& place = merged->children[name].node;
    if (place == nullptr) {
      place = child.node;
      continue;
    }
    std::string child_path = path;
    child_path.append(a->of_elements ? ".$[" : ".").append(name);
    if (a->of_elements) child_path.append("]");
    GM_ASSIGN(place, merge_updates(place, child.node, child_path));
  }
  if (merged->matched == nullptr) {
    merged->matched = b->matched;
  } else if (b->matched != nullptr) {
    GM_ASSIGN(merged->matched, merge_updates(merged->matched, b->matched, path + ".$"));
  }
  size_t ordinal = 0;
  for (auto& [name, child] : merged->children) child.ordinal = ordinal++;
  return merged;
}

}  // namespace gridmount::query
