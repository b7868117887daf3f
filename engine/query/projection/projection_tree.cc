#include "engine/query/projection/projection_tree.h"

#include <algorithm>

namespace gridmount::query {
namespace {

constexpr size_t kSearchedMax = 12;

}  // namespace

const FindProjectionNode* FindProjectionNode::find(std::string_view child) const {
  if (children.size() <= kSearchedMax) {
    for (const FindProjectionNode& node : children) {
      if (node.name == child) return &node;
    }
    return nullptr;
  }
  const auto at = positions_.find(child);
  return at == positions_.end() ? nullptr : &children[at->second];
}

FindProjectionNode* FindProjectionNode::find(std::string_view child) {
  return const_cast<FindProjectionNode*>(std::as_const(*this).find(child));
}

FindProjectionNode& FindProjectionNode::add(std::string_view child) {
  positions_.emplace(child, children.size());
  FindProjectionNode& node = children.emplace_back();
  node.name = child;
  return node;
}

void FindProjectionNode::remove(std::string_view child) {
  std::erase_if(children, [&](const FindProjectionNode& node) { return node.name == child; });
  positions_.clear();
  for (size_t i = 0; i < children.size(); ++i) positions_.emplace(children[i].name, i);
}

}  // namespace gridmount::query
