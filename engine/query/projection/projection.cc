#include "engine/query/projection/projection.h"

#include <utility>

#include "engine/query/filter/variables.h"
#include "engine/query/output.h"
#include "engine/query/projection/projection_tree.h"

namespace gridmount::query {

struct Projection::State {
  ProjectionTree tree;
  Variables variables;
  TransformState transform;
  bool uses_text_score = false;
};

Projection::Projection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Projection::Projection(Projection&&) noexcept = default;
Projection& Projection::operator=(Projection&&) noexcept = default;
Projection::~Projection() = default;

Result<Projection> Projection::parse(bson::View specification, const ProjectionOptions& options) {
  GM_ASSIGN(Variables variables, Variables::declare(options.variables, options.collator));
  variables.scope().set_has_text_score(options.has_text_score);
  GM_ASSIGN(ProjectionTree tree,
            parse_projection(specification, {true, options.filter, variables.scope()}));
  const auto values = variables.views();
  return Projection(std::unique_ptr<State>(
      new State{std::move(tree), std::move(variables),
                TransformState(values, options.now, options.collator.get()),
                options.has_text_score && mentions_text_score(specification)}));
}

Result<bson::View> Projection::apply(bson::View document, std::optional<double> text_score) {
  state_->transform.text_score = text_score;
  GM_ASSIGN(const bson::View projected,
            apply_projection(state_->tree, document, state_->transform));
  if (projected.size() > bson::kMaxDocumentBytes) {
    return document_too_large(projected.size(), bson::kMaxDocumentBytes);
  }
  return projected;
}

namespace {

// Returns false if some node does more than include a field.
bool collect_included(const ProjectionNode& node, const std::string& path,
                      std::vector<std::string>& paths) {
  using Kind = ProjectionNode::Kind;
  for (const ProjectionNode& child : node.children) {
    std::string child_path = path;
    if (!child_path.empty()) child_path += '.';
    child_path += child.name;
    if (child.positional) return false;
    if (child.kind == Kind::kLeaf) {
      paths.push_back(std::move(child_path));
    } else if (child.kind != Kind::kInner || !collect_included(child, child_path, paths)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> Projection::included_paths() const {
  std::vector<std::string> paths;
  const ProjectionTree& tree = state_->tree;
  if (tree.kind != ProjectionTree::Kind::kInclude || tree.filter ||
      !collect_included(tree.root, "", paths)) {
    return std::nullopt;
  }
  return paths;
}

bool Projection::uses_text_score() const {
  return state_->uses_text_score;
}

bool Projection::needs_match() const {
  return state_->tree.filter.has_value();
}

}  // namespace gridmount::query
