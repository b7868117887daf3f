// A projection of one document: one walk over it, into a builder.

#include <algorithm>

#include "engine/query/projection/projection_tree.h"

namespace gridmount::query {
namespace {

using bson::Builder;
using bson::Element;
using bson::Type;
using bson::ValueView;
using Kind = FindProjectionNode::Kind;

constexpr ErrorCode kNoMatchingElement{51246};
constexpr ErrorCode kElementMismatch{51247};

// Where a value goes: to a key of a document, or behind the last element of an array.
class Slot {
 public:
  explicit Slot(Builder& builder) : builder_(builder) {}
  Slot(Builder& builder, std::string_view key) : builder_(builder), key_(key) {}

  Builder& builder() const { return builder_; }
  void put(ValueView value) const {
    if (key_) {
      builder_.append(*key_, value);
    } else {
      builder_.push(value);
    }
  }
  void open(Type type) const {
    if (type == Type::kDocument) {
      key_ ? builder_.open_document(*key_) : builder_.push_open_document();
    } else {
      key_ ? builder_.open_array(*key_) : builder_.push_open_array();
    }
  }

 private:
  Builder& builder_;
  std::optional<std::string_view> key_;
};

// How the walk came to a value.
struct Way {
  bool outside_arrays = true;     // `$` counts for the first array on its path
  bool no_array_in_array = true;  // $slice does not look into those
};

// A set of a node's children, as far as they are few.
class ChildSet {
 public:
  explicit ChildSet(const FindProjectionNode& node)
      : node_(node), size_(node.children.size()), bits_(size_ <= kFew ? 0 : size_) {}

  // False if it was there.
  bool insert(const FindProjectionNode& child) {
    const auto at = static_cast<size_t>(&child - node_.children.data());
    if (contains_at(at)) return false;
    if (size_ <= kFew) {
      few_ |= uint64_t{1} << at;
    } else {
      bits_[at] = true;
    }
    ++count_;
    return true;
  }
  bool contains(const FindProjectionNode& child) const {
    return contains_at(static_cast<size_t>(&child - node_.children.data()));
  }
  bool has_all() const { return count_ == size_; }

 private:
  static constexpr size_t kFew = 64;

  bool contains_at(size_t at) const { return size_ <= kFew ? (few_ >> at & 1) != 0 : bits_[at]; }

  const FindProjectionNode& node_;
  size_t size_;
  uint64_t few_ = 0;
  std::vector<bool> bits_;
  size_t count_ = 0;
};

class Application {
 public:
  Application(const FindProjection& tree, bson::View document) : tree_(tree), document_(document) {}

  Result<bson::Document> run() {
    Builder builder;
    GM_TRY(project_document(tree_.root, document_, Way(), builder));
    bson::Document result = std::move(builder).finish();
    // What is computed may be larger and nested deeper than any document.
    if (tree_.root.computes) GM_TRY(bson::validate(result.view().bytes()));
    return result;
  }

 private:
  Status project_document(const FindProjectionNode& node, bson::View document, Way way,
                          Builder& builder) {
    ChildSet done(node);
    for (const Element element : document) {
      const FindProjectionNode* const child = node.find(element.key);
      if (child == nullptr) {
        if (!tree_.inclusive) builder.append(element.key, element.value);
        continue;
      }
      const Slot slot(builder, element.key);
      // What is computed comes behind all that is there, or takes its place in an exclusion.
      if (!tree_.inclusive && child->kind == Kind::kElementMatched) {
        GM_TRY(compute(*child, slot));
      } else if (!is_computed_later(*child, element.value)) {
        GM_TRY(project_value(*child, element.value, way, slot));
        done.insert(*child);
      }
      if (tree_.inclusive && !node.computes && done.has_all()) break;
    }
    if (!tree_.inclusive || !node.computes) return {};
    for (const FindProjectionNode& child : node.children) {
      if (child.computes && !done.contains(child))
        GM_TRY(compute(child, Slot(builder, child.name)));
    }
    return {};
  }

  bool is_computed_later(const FindProjectionNode& child, ValueView value) const {
    if (!tree_.inclusive || !child.computes) return false;
    return child.kind != Kind::kPath || !is_nested(value);
  }

  static bool is_nested(ValueView value) {
    return value.type() == Type::kDocument || value.type() == Type::kArray;
  }

  // Puts what is left of the value, if anything is.
  Status project_value(const FindProjectionNode& node, ValueView value, Way way, const Slot& slot) {
    const bool array = value.type() == Type::kArray;
    if (node.positional && array && way.outside_arrays) return project_match(node, value, slot);
    switch (node.kind) {
      case Kind::kIncluded:
        slot.put(value);
        return {};
      case Kind::kSliced:
        if (array && way.no_array_in_array) {
          put_slice(node.slice, value.as_document(), slot);
        } else {
          slot.put(value);
        }
        return {};
      case Kind::kExcluded:
      case Kind::kElementMatched:
      case Kind::kComputed:
        return {};
      case Kind::kPath:
        break;
    }
    if (value.type() == Type::kDocument) {
      slot.open(Type::kDocument);
      GM_TRY(project_document(node, value.as_document(), way, slot.builder()));
      slot.builder().close();
    } else if (array) {
      slot.open(Type::kArray);
      for (const Element element : value.as_document()) {
        GM_TRY(
            project_value(node, element.value, way_into(way, element.value), Slot(slot.builder())));
      }
      slot.builder().close();
    } else if (!tree_.inclusive) {
      slot.put(value);
    } else if (node.computes) {
      return compute(node, slot);
    }
    return {};
  }

  static Way way_into(Way way, ValueView element) {
    return {false, way.no_array_in_array && element.type() != Type::kArray};
  }

  // {"a.$": 1}: of an array on the path only the element that matched.
  Status project_match(const FindProjectionNode& node, ValueView array, const Slot& slot) {
    const std::optional<size_t> position = tree_.filter->matched_position(document_);
    if (!position) {
      return fail(kNoMatchingElement,
                  "positional operator '.$' couldn't find a matching element in the array");
    }
    size_t at = 0;
    for (const Element element : array.as_document()) {
      if (at++ != *position) continue;
      if (node.kind == Kind::kPath && !is_nested(element.value) && !node.computes) break;
      slot.open(Type::kArray);
      GM_TRY(
          project_value(node, element.value, way_into(Way(), element.value), Slot(slot.builder())));
      slot.builder().close();
      return {};
    }
    return fail(kElementMismatch, "positional operator '.$' element mismatch");
  }

  static void put_slice(const ArraySlice& slice, bson::View array, const Slot& slot) {
    const auto count = static_cast<int64_t>(std::distance(array.begin(), array.end()));
    const int64_t from = slice.skip ? int64_t{*slice.skip} : std::min(slice.limit, 0);
    const int64_t begin = from < 0 ? std::max(count + from, int64_t{0}) : from;
    const int64_t end =
        !slice.skip && slice.limit < 0 ? count : std::min(begin + slice.limit, count);
    slot.open(Type::kArray);
    int64_t at = 0;
    for (const Element element : array) {
      if (at >= end) break;
      if (at++ >= begin) slot.builder().push(element.value);
    }
    slot.builder().close();
  }

  // What is computed at the node, or below it where nothing stands.
  Status compute(const FindProjectionNode& node, const Slot& slot) {
    if (node.kind == Kind::kComputed) return evaluate(*node.expression, slot);
    if (node.kind == Kind::kElementMatched) return put_element(node, slot);
    slot.open(Type::kDocument);
    for (const FindProjectionNode& child : node.children) {
      if (child.computes) GM_TRY(compute(child, Slot(slot.builder(), child.name)));
    }
    slot.builder().close();
    return {};
  }

  Status put_element(const FindProjectionNode& node, const Slot& slot) {
    if (!node.element->matches(document_)) return {};
    const std::optional<size_t> position = node.element->matched_position(document_);
    if (!position) return {};
    const bson::View array = document_[node.name].as_document();
    slot.open(Type::kArray);
    slot.builder().push((*std::next(array.begin(), static_cast<ptrdiff_t>(*position))).value);
    slot.builder().close();
    return {};
  }

  Status evaluate(const Expression& expression, const Slot& slot) {
    if (!context_) context_.emplace(tree_.expressions.context(document_, arena_));
    GM_ASSIGN(const std::optional<ValueView> value, expression.evaluate(*context_));
    if (value) slot.put(*value);
    return {};
  }

  const FindProjection& tree_;
  bson::View document_;
  Arena arena_;
  std::optional<EvaluationContext> context_;  // made for the first expression
};

}  // namespace

Result<bson::Document> apply_projection(const FindProjection& tree, bson::View document) {
  return Application(tree, document).run();
}

}  // namespace gridmount::query
