#include "http/tree_walk.h"

#include <utility>

#include "http/site_error.h"

namespace gridmount::http {

TreeWalk::TreeWalk(gridfs::PathNamespace& paths, std::vector<std::string> components,
                   gridfs::Node directory)
    : paths_(paths), first_(Level{std::move(components), std::move(directory), nullptr}) {}

Result<std::optional<TreeStep>> TreeWalk::next() {
  using Kind = TreeStep::Kind;
  if (first_) {
    open_.push_back(*std::exchange(first_, std::nullopt));
    return std::optional(TreeStep{Kind::kEnter, open_.back().components, open_.back().node});
  }
  if (open_.empty()) return std::optional<TreeStep>();
  Level& level = open_.back();
  if (!level.children) {
    auto children = paths_.list(level.node.path);
    if (!children) {
      open_.pop_back();
      return fail(std::move(children).error());
    }
    level.children = *std::move(children);
  }
  Result<std::optional<gridfs::DirectoryEntry>> entry = level.children->next();
  if (!entry) {
    open_.pop_back();
    return fail(std::move(entry).error());
  }
  if (!*entry) {
    TreeStep left{Kind::kLeave, std::move(level.components), std::move(level.node)};
    open_.pop_back();
    return std::optional(std::move(left));
  }
  std::vector<std::string> components = level.components;
  components.push_back((*entry)->name);
  gridfs::Node& node = (*entry)->node;
  if (node.kind != gridfs::NodeKind::kDirectory) {
    return std::optional(TreeStep{Kind::kFile, std::move(components), std::move(node)});
  }
  if (open_.size() > kTreeLevelsMax) return fail(kConflict, "the directories are too deep");
  open_.push_back({std::move(components), std::move(node), nullptr});
  return std::optional(TreeStep{Kind::kEnter, open_.back().components, open_.back().node});
}

}  // namespace gridmount::http
