#include "engine/query/projection/projection.h"

#include <utility>

#include "engine/query/projection/projection_tree.h"

namespace gridmount::query {

struct Projection::State {
  FindProjection tree;
};

Projection::Projection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Projection::Projection(Projection&&) noexcept = default;
Projection& Projection::operator=(Projection&&) noexcept = default;
Projection::~Projection() = default;

Result<Projection> Projection::parse(bson::View specification, const ProjectionOptions& options) {
  auto state = std::make_unique<State>();
  GM_ASSIGN(state->tree, parse_projection(specification, options));
  return Projection(std::move(state));
}

Result<bson::Document> Projection::apply(bson::View document) const {
  return apply_projection(state_->tree, document);
}

namespace {

// False if some node does more than to include.
bool collect_included(const FindProjectionNode& node, const std::string& path,
                      std::vector<std::string>& paths) {
  using Kind = FindProjectionNode::Kind;
  for (const FindProjectionNode& child : node.children) {
    std::string child_path = path;
    if (!child_path.empty()) child_path += '.';
    child_path += child.name;
    if (child.positional) return false;
    if (child.kind == Kind::kIncluded) {
      paths.push_back(std::move(child_path));
    } else if (child.kind == Kind::kExcluded && child_path == "_id") {
      continue;
    } else if (child.kind != Kind::kPath || !collect_included(child, child_path, paths)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> Projection::included_paths() const {
  std::vector<std::string> paths;
  const FindProjection& tree = state_->tree;
  if (!tree.inclusive || tree.filter || !collect_included(tree.root, "", paths)) {
    return std::nullopt;
  }
  return paths;
}

bool Projection::needs_match() const {
  return state_->tree.filter.has_value();
}

}  // namespace gridmount::query
