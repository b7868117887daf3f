#include "engine/query/pipeline/projection_tree.h"

#include <algorithm>

#include "engine/bson/path.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr ErrorCode kPathCollision{31250};        // with a path that is the same or goes on
constexpr ErrorCode kPathCollisionWithin{31249};  // with the beginning of this one

constexpr size_t kSearchedMax = 8;

// Which of a node's children have been met in the document.
class Met {
 public:
  explicit Met(size_t children) {
    if (children > 64) many_.resize(children);
  }
  void set(size_t at) {
    if (at < 64) few_ |= uint64_t{1} << at;
    if (at < many_.size()) many_[at] = true;
  }
  bool has(size_t at) const { return at < 64 ? (few_ >> at & 1) != 0 : many_[at]; }

 private:
  uint64_t few_ = 0;
  std::vector<bool> many_;
};

}  // namespace

const ProjectionTree::Node* ProjectionTree::Node::find(std::string_view child) const {
  if (children.size() <= kSearchedMax) {
    for (const Node& node : children) {
      if (node.name == child) return &node;
    }
    return nullptr;
  }
  const auto at = positions.find(child);
  return at == positions.end() ? nullptr : &children[at->second];
}

ProjectionTree::Node& ProjectionTree::Node::add(std::string_view child) {
  positions.emplace(child, children.size());
  children.emplace_back().name = child;
  return children.back();
}

Result<ProjectionTree::Node*> ProjectionTree::add_node(std::string_view path,
                                                       std::string_view shown_path) {
  const bson::Path parts(path);
  Node* node = &root_;
  for (size_t i = 0; i < parts.parts().size(); ++i) {
    const std::string& part = parts.parts()[i];
    const bool last = i + 1 == parts.parts().size();
    auto* known = const_cast<Node*>(node->find(part));
    if (known != nullptr && last) {
      return fail(kPathCollision, "Path collision at " + std::string(shown_path));
    }
    if (known != nullptr && !known->is_inner) {
      const size_t dot = shown_path.find('.');
      return fail(kPathCollisionWithin,
                  "Path collision at " + std::string(shown_path) + " remaining portion " +
                      std::string(shown_path.substr(dot == std::string_view::npos ? 0 : dot + 1)));
    }
    if (known == nullptr) {
      known = &node->add(part);
      known->is_inner = !last;
    }
    node = known;
  }
  return node;
}

Status ProjectionTree::add_leaf(std::string_view path, std::string_view shown_path) {
  GM_TRY(add_node(path, shown_path));
  return {};
}

Status ProjectionTree::add_computed(std::string_view path, std::string_view shown_path,
                                    std::unique_ptr<Expression> expression) {
  GM_ASSIGN(Node* const leaf, add_node(path, shown_path));
  leaf->expression = std::move(expression);
  leaf->computed_at = computed_count_++;
  const bson::Path parts(path);
  Node* node = &root_;
  node->computes = true;
  for (const std::string& part : parts.parts()) {
    node = const_cast<Node*>(node->find(part));
    node->computes = true;
  }
  return {};
}

void ProjectionTree::remove_field(std::string_view name) {
  std::vector<Node> kept;
  std::swap(kept, root_.children);
  root_.positions.clear();
  for (Node& node : kept) {
    if (node.name != name) root_.add(node.name) = std::move(node);
  }
}

// Writes the result for one document.
class ProjectionTree::Writer {
 public:
  Writer(Kind kind, TransformState& state) : kind_(kind), state_(state), out_(state.output) {}

  void document(const Node& node, bson::View document, const Needs* wanted) {
    Met met(node.children.size());
    for (const bson::Element element : document) {
      const Node* const child = node.find(element.key);
      if (child == nullptr) {
        if (kind_ == Kind::kInclude) continue;
        if (wanted == nullptr || wanted->has_field(element.key)) out_.append(element);
        continue;
      }
      const size_t at = node.position_of(child);
      if (child->is_inner) {
        if (child->written) inner(*child, element.key, element.value);
        met.set(at);
      } else if (child->expression == nullptr) {
        if (kind_ == Kind::kInclude && child->written) out_.append(element);
      } else if (kind_ == Kind::kAdd && !met.has(at)) {
        computed(*child);
        met.set(at);
      }
    }
    if (node.computes) rest(node, met);
  }

 private:
  // What is computed and has no place in the document yet.
  void rest(const Node& node, const Met& met) {
    for (size_t i = 0; i < node.children.size(); ++i) {
      const Node& child = node.children[i];
      if (!child.computes || !child.written || met.has(i)) continue;
      if (child.expression != nullptr) {
        computed(child);
      } else {
        out_.open_document(child.name);
        rest(child, Met(child.children.size()));
        out_.close();
      }
    }
  }

  void computed(const Node& node) {
    if (!node.written) return;
    const std::optional<ValueView>& value = state_.computed[node.computed_at];
    if (value) out_.append(node.name, *value);
  }

  void inner(const Node& node, std::string_view key, ValueView value) {
    switch (value.type()) {
      case Type::kDocument:
        out_.open_document(key);
        document(node, value.as_document(), nullptr);
        return out_.close();
      case Type::kArray:
        out_.open_array(key);
        elements(node, value.as_document());
        return out_.close();
      default:
        if (node.computes) {
          out_.open_document(key);
          rest(node, Met(node.children.size()));
          out_.close();
        } else if (kind_ != Kind::kInclude) {
          out_.append(key, value);
        }
    }
  }

  // An array stands for each of its elements.
  void elements(const Node& node, bson::View array) {
    for (const bson::Element element : array) {
      switch (element.value.type()) {
        case Type::kDocument:
          out_.push_open_document();
          document(node, element.value.as_document(), nullptr);
          out_.close();
          break;
        case Type::kArray:
          out_.push_open_array();
          elements(node, element.value.as_document());
          out_.close();
          break;
        default:
          if (node.computes) {
            out_.push_open_document();
            rest(node, Met(node.children.size()));
            out_.close();
          } else if (kind_ != Kind::kInclude) {
            out_.push(element.value);
          }
      }
    }
  }

  const Kind kind_;
  TransformState& state_;
  Output& out_;
};

namespace {

// Every expression is evaluated once per document, however many array elements its value goes to.
template <typename Node>
Status evaluate_all(const Node& node, TransformState& state) {
  for (const Node& child : node.children) {
    if (!child.computes) continue;
    if (child.expression == nullptr) {
      GM_TRY(evaluate_all(child, state));
    } else {
      GM_ASSIGN(state.computed[child.computed_at], state.evaluator.evaluate(*child.expression));
    }
  }
  return {};
}

}  // namespace

Result<bson::View> ProjectionTree::apply(bson::View document, TransformState& state) const {
  if (root_.computes) {
    state.computed.resize(computed_count_);
    state.evaluator.begin(document);
    GM_TRY(evaluate_all(root_, state));
  }
  state.output.begin();
  Writer(kind_, state).document(root_, document, wanted_.is_all() ? nullptr : &wanted_);
  return root_.computes ? state.output.finish() : state.output.finish_flat();
}

void ProjectionTree::add_expressions(const Node& node, Needs& needs) const {
  if (node.expression != nullptr) needs.add(*node.expression);
  for (const Node& child : node.children) add_expressions(child, needs);
}

void ProjectionTree::plan_include(const Node& node, const std::string& prefix, const Needs& wanted,
                                  Needs& needs) {
  for (const Node& child : node.children) {
    const std::string path = prefix + child.name;
    if (child.is_inner) {
      plan_include(child, path + ".", wanted, needs);
      // Whether a computed field has a place of its own depends on what is there.
      if (child.computes) needs.add(path);
    } else if (child.expression == nullptr) {
      needs.add(path);
    }
  }
}

void ProjectionTree::plan_removed(Needs& needs) const {
  for (const Node& child : root_.children) {
    if (!child.is_inner) {
      child.computes ? needs.replace(child.name) : needs.remove(child.name);
    } else if (child.computes && needs.has_field(child.name)) {
      // What is computed below it is put into what is there. Of an exclusion below it what is
      // asked for stays asked for: whether there is anything around it shows.
      needs.add(child.name);
    }
  }
}

void ProjectionTree::plan(Needs& needs) {
  wanted_ = needs;
  for (Node& child : root_.children) child.written = needs.has_field(child.name);
  if (kind_ == Kind::kInclude) {
    // A part of the document is enough; which of it is left out does not show in the rest.
    needs.clear(wanted_.is_ordered());
    for (const Node& child : root_.children) {
      if (!child.written) continue;
      if (child.is_inner) {
        plan_include(child, child.name + ".", wanted_, needs);
        if (child.computes) needs.add(child.name);
      } else if (child.expression == nullptr) {
        // Of an included field only what is looked at below it.
        bool below = false;
        for (const std::string& path : wanted_.paths()) {
          if (!path.starts_with(child.name + ".")) continue;
          needs.add(path);
          below = true;
        }
        if (!below || wanted_.paths().contains(child.name)) needs.add(child.name);
      }
    }
  } else {
    plan_removed(needs);
  }
  add_expressions(root_, needs);
}

}  // namespace gridmount::query
