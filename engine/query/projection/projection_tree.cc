#include "engine/query/projection/projection_tree.h"

#include <algorithm>

namespace gridmount::query {
namespace {

using Kind = ProjectionNode::Kind;

constexpr ErrorCode kPathCollisionWithin{31249};  // a prefix of the path is another path
constexpr ErrorCode kPathCollision{31250};        // the path is another path, or a prefix of one

constexpr size_t kSearchedMax = 8;

void complete_node(ProjectionNode& node, size_t& computed_count) {
  if (node.kind == Kind::kComputed) node.computed_at = computed_count++;
  node.computes = node.is_added();
  node.kept = 0;
  for (ProjectionNode& child : node.children) {
    complete_node(child, computed_count);
    if (child.computes) node.computes = true;
    if (!child.is_added()) ++node.kept;
  }
}

}  // namespace

const ProjectionNode* ProjectionNode::find(std::string_view child) const {
  if (children.size() <= kSearchedMax) {
    for (const ProjectionNode& node : children) {
      if (node.name == child) return &node;
    }
    return nullptr;
  }
  const auto at = positions_.find(child);
  return at == positions_.end() ? nullptr : &children[at->second];
}

ProjectionNode* ProjectionNode::find(std::string_view child) {
  return const_cast<ProjectionNode*>(std::as_const(*this).find(child));
}

ProjectionNode& ProjectionNode::add(std::string_view child) {
  positions_.emplace(child, children.size());
  ProjectionNode& node = children.emplace_back();
  node.name = child;
  return node;
}

void ProjectionNode::remove(std::string_view child) {
  std::erase_if(children, [&](const ProjectionNode& node) { return node.name == child; });
  positions_.clear();
  for (size_t i = 0; i < children.size(); ++i) positions_.emplace(children[i].name, i);
}

void ProjectionTree::complete() {
  computed_count = 0;
  complete_node(root, computed_count);
}

Result<ProjectionNode*> make_node(ProjectionNode& parent, const bson::Path& path, bool inner) {
  ProjectionNode* node = &parent;
  for (size_t i = 0; i < path.parts().size(); ++i) {
    const bool last = i + 1 == path.parts().size();
    ProjectionNode* const known = node->find(path.parts()[i]);
    if (known == nullptr) {
      node = &node->add(path.parts()[i]);
    } else if (last && !(inner && known->kind == Kind::kInner)) {
      return fail(kPathCollision, "Path collision at " + path.dotted());
    } else if (known->kind != Kind::kInner) {
      const std::string& dotted = path.dotted();
      return fail(kPathCollisionWithin, "Path collision at " + dotted + " remaining portion " +
                                            dotted.substr(dotted.find('.') + 1));
    } else {
      node = known;
    }
  }
  return node;
}

}  // namespace gridmount::query
