// Applies a projection to a document in one walk over the document.

#include <algorithm>

#include "engine/query/filter/matched_position.h"
#include "engine/query/projection/projection_tree.h"

namespace gridmount::query {
namespace {

using bson::Element;
using bson::Type;
using bson::ValueView;
using Kind = ProjectionNode::Kind;
using TreeKind = ProjectionTree::Kind;

constexpr ErrorCode kNoMatchingElement{51246};
constexpr ErrorCode kElementMismatch{51247};

// The place of a value in the output: a field of a document, or the end of an array.
class Slot {
 public:
  explicit Slot(DocumentOutput& output) : output_(output) {}
  Slot(DocumentOutput& output, std::string_view key) : output_(output), key_(key) {}

  void put(ValueView value) const {
    if (key_) {
      output_.append(*key_, value);
    } else {
      output_.push(value);
    }
  }
  void open(Type type) const {
    if (type == Type::kDocument) {
      key_ ? output_.open_document(*key_) : output_.push_open_document();
    } else {
      key_ ? output_.open_array(*key_) : output_.push_open_array();
    }
  }

 private:
  DocumentOutput& output_;
  std::optional<std::string_view> key_;
};

// Describes the path from the root of the document to a value.
struct Way {
  bool outside_arrays = true;     // `$` applies to the first array on its path only
  bool no_array_in_array = true;  // $slice does not apply to arrays in arrays

  Way into(ValueView element) const {
    return {false, no_array_in_array && element.type() != Type::kArray};
  }
};

// The children of a node that have been met in the document.
class Met {
 public:
  explicit Met(size_t children) {
    if (children > kFew) many_.resize(children);
  }
  void set(size_t at) {
    if (at < kFew) few_ |= uint64_t{1} << at;
    if (at < many_.size()) many_[at] = true;
  }
  bool has(size_t at) const { return at < kFew ? (few_ >> at & 1) != 0 : many_[at]; }

 private:
  static constexpr size_t kFew = 64;

  uint64_t few_ = 0;
  std::vector<bool> many_;
};

bool is_nested(ValueView value) {
  return value.type() == Type::kDocument || value.type() == Type::kArray;
}

class Walk {
 public:
  Walk(const ProjectionTree& tree, bson::View root, TransformState& state)
      : tree_(tree), root_(root), state_(state), out_(state.output) {}

  // Null for `wanted` means all fields.
  void document(const ProjectionNode& node, bson::View document, Way way,
                const FieldDependencies* wanted) {
    Met met(node.children.size());
    size_t kept = 0;
    for (const Element element : document) {
      const ProjectionNode* const child = node.find(element.key);
      if (child == nullptr) {
        if (tree_.kind == TreeKind::kInclude) continue;
        if (wanted == nullptr || wanted->has_field(element.key)) out_.append(element);
        continue;
      }
      const size_t at = node.position_of(*child);
      if (!child->is_added()) {
        if (child->written) put(*child, element.value, way, Slot(out_, element.key));
        met.set(at);
        // As on servers, the walk ends after the last named field, so a second field with the same
        // name is ignored.
        if (++kept == node.kept && tree_.kind == TreeKind::kInclude) break;
      } else if (tree_.kind != TreeKind::kInclude && !met.has(at)) {
        if (child->written) put_added(*child);
        met.set(at);
      }
    }
    if (node.computes) rest(node, met);
  }

 private:
  // Appends the computed fields that the document did not have.
  void rest(const ProjectionNode& node, const Met& met) {
    for (size_t i = 0; i < node.children.size(); ++i) {
      const ProjectionNode& child = node.children[i];
      if (!child.computes || !child.written || met.has(i)) continue;
      if (child.is_added()) {
        put_added(child);
      } else {
        put_computed_alone(child, Slot(out_, child.name));
      }
    }
  }

  // Appends a document that has only the computed fields below the node.
  void put_computed_alone(const ProjectionNode& node, const Slot& slot) {
    slot.open(Type::kDocument);
    rest(node, Met(node.children.size()));
    out_.close();
  }

  void put_added(const ProjectionNode& node) {
    if (node.kind == Kind::kElementMatched) return put_element(node);
    if (const std::optional<ValueView> value = computed(node)) out_.append(node.name, *value);
  }

  // Evaluates the expression once per document, however many array elements its value goes to.
  std::optional<ValueView> computed(const ProjectionNode& node) {
    auto& known = state_.computed[node.computed_at];
    if (!known) {
      const auto value = state_.evaluator.evaluate(*node.expression);
      if (!value) out_.fail(value.error());
      known = value.value_or(std::nullopt);
    }
    return *known;
  }

  // Appends the part of the value that the projection keeps, if any.
  void put(const ProjectionNode& node, ValueView value, Way way, const Slot& slot) {
    const bool is_array = value.type() == Type::kArray;
    if (node.positional && is_array && way.outside_arrays) return put_match(node, value, slot);
    switch (node.kind) {
      case Kind::kLeaf:
        if (tree_.kind == TreeKind::kInclude) slot.put(value);
        return;
      case Kind::kSliced:
        if (is_array && way.no_array_in_array) return put_slice(node.slice, value, slot);
        return slot.put(value);
      case Kind::kElementMatched:
      case Kind::kComputed:
        return;
      case Kind::kInner:
        break;
    }
    if (value.type() == Type::kDocument) {
      slot.open(Type::kDocument);
      document(node, value.as_document(), way, nullptr);
      out_.close();
    } else if (is_array) {
      // A path through an array applies to each of its elements.
      slot.open(Type::kArray);
      for (const Element element : value.as_document()) {
        put(node, element.value, way.into(element.value), Slot(out_));
      }
      out_.close();
    } else if (node.computes) {
      put_computed_alone(node, slot);
    } else if (tree_.kind != TreeKind::kInclude) {
      slot.put(value);
    }
  }

  // For {"a.$": 1}: appends only the element of the array that matched.
  void put_match(const ProjectionNode& node, ValueView array, const Slot& slot) {
    const std::optional<size_t> position = projected_position(*tree_.filter, root_);
    if (!position) {
      return out_.fail(Error(kNoMatchingElement,
                             "positional operator '.$' couldn't find a matching element in the "
                             "array"));
    }
    size_t at = 0;
    for (const Element element : array.as_document()) {
      if (at++ != *position) continue;
      if (node.kind == Kind::kInner && !is_nested(element.value) && !node.computes) break;
      slot.open(Type::kArray);
      put(node, element.value, Way().into(element.value), Slot(out_));
      return out_.close();
    }
    out_.fail(Error(kElementMismatch, "positional operator '.$' element mismatch"));
  }

  void put_slice(const ArraySlice& slice, ValueView value, const Slot& slot) {
    const bson::View array = value.as_document();
    const auto count = static_cast<int64_t>(std::distance(array.begin(), array.end()));
    const int64_t from = slice.skip ? int64_t{*slice.skip} : std::min(slice.limit, 0);
    const int64_t begin = from < 0 ? std::max(count + from, int64_t{0}) : from;
    const int64_t end =
        !slice.skip && slice.limit < 0 ? count : std::min(begin + slice.limit, count);
    slot.open(Type::kArray);
    int64_t at = 0;
    for (const Element element : array) {
      if (at >= end) break;
      if (at++ >= begin) out_.push(element.value);
    }
    out_.close();
  }

  void put_element(const ProjectionNode& node) {
    if (!node.element->matches(root_)) return;
    const std::optional<size_t> position = node.element->matched_position(root_);
    if (!position) return;
    const bson::View array = root_[node.name].as_document();
    out_.open_array(node.name);
    out_.push((*std::next(array.begin(), static_cast<ptrdiff_t>(*position))).value);
    out_.close();
  }

  const ProjectionTree& tree_;
  const bson::View root_;
  TransformState& state_;
  DocumentOutput& out_;
};

// Evaluates the computed fields that are not written, so that their errors are found.
Status evaluate_unwritten(const ProjectionNode& node, TransformState& state) {
  if (node.kind == Kind::kComputed) GM_TRY(state.evaluator.evaluate(*node.expression));
  for (const ProjectionNode& child : node.children) {
    if (child.computes) GM_TRY(evaluate_unwritten(child, state));
  }
  return {};
}

}  // namespace

Result<bson::View> apply_projection(const ProjectionTree& tree, bson::View document,
                                    TransformState& state, const FieldDependencies* wanted) {
  state.output.begin();
  if (tree.root.computes) {
    state.computed.assign(tree.computed_count, std::nullopt);
    state.evaluator.begin(document, state.text_score);
    for (const ProjectionNode& child : tree.root.children) {
      if (child.computes && !child.written) GM_TRY(evaluate_unwritten(child, state));
    }
  }
  Walk(tree, document, state).document(tree.root, document, Way(), wanted);
  return tree.root.computes ? state.output.finish() : state.output.finish_flat();
}

}  // namespace gridmount::query
