#include "engine/query/update/update_application.h"

#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using Action = UpdateOutcome::Action;
using NodePointer = std::shared_ptr<UpdateNode>;

// The limit for the number of nulls before an element that is set beyond the end of its array.
constexpr uint32_t kPaddingMax = 1'500'000;

bool is_at_or_behind(std::string_view name, uint32_t position) {
  const std::optional<uint32_t> named = position_of(name);
  return named && *named >= position;
}

class Application {
 public:
  Application(bson::View document, const UpdateContext& context)
      : document_(document), context_(context) {
    if (context.matched_position) position_ = std::to_string(*context.matched_position);
  }

  Status to_document(const UpdateNode& tree, bson::View before, bson::Builder& builder) {
    GM_ASSIGN(const UpdateNode* const node, with_matched(tree));
    // Malformed documents may repeat names. Only the first field of a name counts.
    std::vector<bool> found(node->children.size());
    const size_t depth = names_.size();
    for (const bson::Element element : before) {
      const auto child = node->children.find(element.key);
      if (child == node->children.end() || found[child->second.ordinal]) {
        builder.append(element.key, element.value);
        continue;
      }
      found[child->second.ordinal] = true;
      names_.push_back(child->first);
      if (Status applied = to_field(*child->second.node, element.key, element.value, builder);
          !applied) {
        names_.resize(depth);
        GM_TRY(before_in_order(*node, before, child->first));
        return applied;
      }
      names_.pop_back();
    }
    for (const auto& [name, child] : node->children) {
      if (!found[child.ordinal]) GM_TRY(make_missing(name, *child.node, builder));
    }
    return {};
  }

 private:
  // Fails if the change of a name before `name` fails. Servers apply the changes in the order of
  // the names, and not in the order of the fields in the document. So if several changes fail, the
  // error is that of the first name.
  Status before_in_order(const UpdateNode& node, bson::View document, std::string_view name) {
    for (const auto& [earlier, child] : node.children) {
      if (earlier == name) break;
      bson::Builder unused;
      const std::optional<ValueView> value = document.find(earlier);
      if (!value) {
        GM_TRY(make_missing(earlier, *child.node, unused));
        continue;
      }
      names_.push_back(earlier);
      GM_TRY(to_field(*child.node, earlier, *value, unused));
      names_.pop_back();
    }
    return {};
  }

  Result<UpdateOutcome> outcome(const UpdateLeaf& leaf, const std::optional<ValueView>& current) {
    return leaf.update->apply({leaf.operand, leaf.prepared.get(), names_, document_,
                               context_.inserting, leaf.collator.get()},
                              current);
  }

  std::string path() const {
    std::string dotted;
    for (const std::string_view name : names_) {
      if (!dotted.empty()) dotted += '.';
      dotted += name;
    }
    return dotted;
  }

  // Returns the node with the changes of `$` merged into the child at the matched position.
  Result<const UpdateNode*> with_matched(const UpdateNode& node) {
    if (node.matched == nullptr) return &node;
    if (!context_.matched_position) {
      return fail(ErrorCode::kBadValue,
                  "The positional operator did not find the match needed from the query.");
    }
    NodePointer& known = matched_[&node];
    if (known == nullptr) {
      auto with = std::make_shared<UpdateNode>(node);
      with->matched.reset();
      NodePointer& place = with->children[position_].node;
      if (place == nullptr) {
        place = node.matched;
      } else {
        names_.push_back(position_);
        GM_ASSIGN(place, merge_updates(node.matched, place, path()));
        names_.pop_back();
      }
      size_t ordinal = 0;
      for (auto& [name, child] : with->children) child.ordinal = ordinal++;
      known = std::move(with);
    }
    return known.get();
  }

  Status to_field(const UpdateNode& node, std::string_view key, ValueView value,
                  bson::Builder& builder) {
    if (node.leaf != nullptr) {
      GM_ASSIGN(const UpdateOutcome result, outcome(*node.leaf, value));
      if (result.action == Action::kKeep) builder.append(key, value);
      if (result.action == Action::kSet) builder.append(key, result.view());
      return {};
    }
    if (node.of_elements && value.type() != Type::kArray) {
      return fail(ErrorCode::kBadValue, "Cannot apply array updates to non-array element " +
                                            show_element(names_.back(), value));
    }
    if (value.type() == Type::kDocument) {
      builder.open_document(key);
      GM_TRY(to_document(node, value.as_document(), builder));
      builder.close();
      return {};
    }
    if (value.type() == Type::kArray) {
      builder.open_array(key);
      if (node.of_elements) {
        GM_TRY(to_each(node, value.as_document(), builder));
      } else {
        GM_TRY(to_array(node, value, builder));
      }
      builder.close();
      return {};
    }
    GM_ASSIGN(const UpdateNode* const named, with_matched(node));
    for (const auto& [name, child] : named->children) {
      GM_TRY(refuse_making(name, *child.node, value));
    }
    builder.append(key, value);
    return {};
  }

  // Applies changes to elements named by position.
  Status to_array(const UpdateNode& tree, ValueView array, bson::Builder& builder) {
    GM_ASSIGN(const UpdateNode* const node, with_matched(tree));
    const size_t depth = names_.size();
    for (const auto& [name, child] : node->children) {
      if (position_of(name)) continue;
      if (Status possible = refuse_making(name, *child.node, array); !possible) {
        names_.resize(depth);
        GM_TRY(before_in_order(*node, array.as_document(), name));
        return possible;
      }
    }
    uint32_t count = 0;
    auto next = node->children.begin();
    for (const bson::Element element : array.as_document()) {
      while (next != node->children.end() && !is_at_or_behind(next->first, count)) ++next;
      if (next == node->children.end() || position_of(next->first) != count) {
        builder.push(element.value);
      } else {
        GM_TRY(to_element(next->first, *next->second.node, element.value, builder));
      }
      ++count;
    }
    for (const auto& [name, child] : node->children) {
      const std::optional<uint32_t> position = position_of(name);
      if (!position || *position < count) continue;
      bson::Builder made;
      GM_TRY(make_missing(name, *child.node, made));
      const bson::Document document = std::move(made).finish();
      if (document.view().empty()) continue;
      if (*position - count > kPaddingMax) {
        return fail(ErrorCode::kCannotBackfillArray,
                    "can't backfill more than " + std::to_string(kPaddingMax) + " elements, for '" +
                        name + "' in '" + std::string(names_.back()) + "'");
      }
      for (; count < *position; ++count) push_null(builder);
      builder.push((*document.view().begin()).value);
      ++count;
    }
    return {};
  }

  // Applies changes to elements named by array filters.
  Status to_each(const UpdateNode& node, bson::View before, bson::Builder& builder) {
    uint32_t count = 0;
    for (const bson::Element element : before) {
      std::vector<NodePointer> fitting;
      for (const auto& [identifier, child] : node.children) {
        GM_ASSIGN(const bool fits, context_.filters.matches(identifier, element.value));
        if (fits) fitting.push_back(child.node);
      }
      const std::string position = std::to_string(count++);
      if (fitting.empty()) {
        builder.push(element.value);
        continue;
      }
      GM_ASSIGN(const NodePointer merged, merged_node(std::move(fitting), position));
      GM_TRY(to_element(position, *merged, element.value, builder));
    }
    return {};
  }

  Result<NodePointer> merged_node(std::vector<NodePointer> nodes, const std::string& position) {
    if (nodes.size() == 1) return nodes[0];
    NodePointer& known = merged_[nodes];
    if (known == nullptr) {
      names_.push_back(position);
      NodePointer merged = nodes[0];
      for (size_t i = 1; i < nodes.size(); ++i) {
        GM_ASSIGN(merged, merge_updates(merged, nodes[i], path()));
      }
      names_.pop_back();
      known = std::move(merged);
    }
    return known;
  }

  Status to_element(const std::string& position, const UpdateNode& node, ValueView value,
                    bson::Builder& builder) {
    names_.push_back(position);
    if (node.leaf != nullptr) {
      GM_ASSIGN(const UpdateOutcome result, outcome(*node.leaf, value));
      if (result.action == Action::kKeep) builder.push(value);
      if (result.action == Action::kSet) builder.push(result.view());
      // An element that is unset becomes null, so that the other elements keep their positions.
      if (result.action == Action::kRemove) push_null(builder);
    } else {
      bson::Builder changed;
      GM_TRY(to_field(node, position, value, changed));
      builder.push((*std::move(changed).finish().view().begin()).value);
    }
    names_.pop_back();
    return {};
  }

  static void push_null(bson::Builder& builder) {
    builder.push(ValueView(Type::kNull, nullptr, 0));
  }

  // Adds the field if some operator gives it a value. A parent is added only if it is not empty.
  Status make_missing(const std::string& name, const UpdateNode& tree, bson::Builder& builder) {
    names_.push_back(name);
    if (tree.leaf != nullptr) {
      GM_ASSIGN(const UpdateOutcome result, outcome(*tree.leaf, std::nullopt));
      if (result.action == Action::kSet) builder.append(name, result.view());
    } else if (tree.of_elements) {
      return fail(
          ErrorCode::kBadValue,
          "The path '" + path() + "' must exist in the document in order to apply array updates.");
    } else {
      GM_ASSIGN(const UpdateNode* const node, with_matched(tree));
      bson::Builder inner;
      for (const auto& [child_name, child] : node->children) {
        GM_TRY(make_missing(child_name, *child.node, inner));
      }
      const bson::Document document = std::move(inner).finish();
      if (!document.view().empty()) builder.append(name, document);
    }
    names_.pop_back();
    return {};
  }

  // Fails if the changes of `child` would create a field in `value`, which cannot have a field with
  // this name, or if path_that_needs() finds an operator.
  Status refuse_making(const std::string& name, const UpdateNode& child, ValueView value) {
    const std::string element = "{" + show_element(names_.back(), value) + "}";
    bson::Builder made;
    GM_TRY(make_missing(name, child, made));
    if (!std::move(made).finish().view().empty()) {
      return fail(ErrorCode::kPathNotViable,
                  "Cannot create field '" + name + "' in element " + element);
    }
    const std::optional<std::string> path = path_that_needs(name, child);
    if (!path) return {};
    return fail(ErrorCode::kPathNotViable, "Cannot use the part (" + name + ") of (" + *path +
                                               ") to traverse the element (" + element + ")");
  }

  // Returns the path of the first operator, at or below the child, that fails if no field can be
  // created (UpdateOperator::needs_viable_path). Returns nullopt if there is none.
  std::optional<std::string> path_that_needs(const std::string& name, const UpdateNode& child) {
    names_.push_back(name);
    std::optional<std::string> found;
    if (child.leaf != nullptr && child.leaf->update->needs_viable_path) found = path();
    for (auto at = child.children.begin(); !found && at != child.children.end(); ++at) {
      found = path_that_needs(at->first, *at->second.node);
    }
    if (!found && child.matched != nullptr) found = path_that_needs(position_, *child.matched);
    names_.pop_back();
    return found;
  }

  bson::View document_;
  const UpdateContext& context_;
  std::string position_;                 // the position that `$` stands for, if any
  std::vector<std::string_view> names_;  // the names from the root to the current field
  // Nodes merged for this document, by the nodes that they are merged from.
  std::map<const UpdateNode*, NodePointer> matched_;
  std::map<std::vector<NodePointer>, NodePointer> merged_;
};

}  // namespace

Result<bson::Document> apply_updates(const UpdateNode& root, bson::View document,
                                     const UpdateContext& context) {
  bson::Builder builder;
  GM_TRY(Application(document, context).to_document(root, document, builder));
  return std::move(builder).finish();
}

}  // namespace gridmount::query
