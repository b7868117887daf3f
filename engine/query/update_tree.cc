#include "engine/query/update_tree.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "engine/bson/json.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;
using Action = UpdateOutcome::Action;

// Nulls are put in front of an element that is set behind the end of its array, up to this many.
constexpr uint32_t kPaddingMax = 1'500'000;

std::optional<uint32_t> position_of(std::string_view name) {
  if (name.empty() || (name.size() > 1 && name[0] == '0')) return std::nullopt;
  uint32_t position = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), position);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return position;
}

bool comes_before(std::string_view a, std::string_view b) {
  const std::optional<uint32_t> position_a = position_of(a);
  const std::optional<uint32_t> position_b = position_of(b);
  if (position_a && position_b) return *position_a < *position_b;
  return a < b;
}

class Application {
 public:
  Application(bson::View document, bool inserting) : document_(document), inserting_(inserting) {}

  Status to_document(const UpdateNode& node, bson::View before, bson::Builder& builder) {
    // Names repeat in documents that break the rules; only the first is the field.
    std::vector<bool> found(node.children.size());
    for (const bson::Element element : before) {
      const UpdateNode* const child = node.find(element.key);
      if (child == nullptr || found[index_of(node, *child)]) {
        builder.append(element.key, element.value);
        continue;
      }
      found[index_of(node, *child)] = true;
      GM_TRY(to_field(*child, element.key, element.value, builder));
    }
    for (size_t i = 0; i < node.children.size(); ++i) {
      if (!found[i]) GM_TRY(make_missing(node.children[i], builder));
    }
    return {};
  }

 private:
  static size_t index_of(const UpdateNode& parent, const UpdateNode& child) {
    return static_cast<size_t>(&child - parent.children.data());
  }

  Result<UpdateOutcome> outcome(const UpdateNode& leaf, const std::optional<ValueView>& current) {
    return leaf.update->apply({leaf.path, leaf.operand, document_, inserting_}, current);
  }

  Status to_field(const UpdateNode& node, std::string_view key, ValueView value,
                  bson::Builder& builder) {
    if (node.update != nullptr) {
      GM_ASSIGN(const UpdateOutcome result, outcome(node, value));
      if (result.action == Action::kKeep) builder.append(key, value);
      if (result.action == Action::kSet) builder.append(key, *result.value);
      return {};
    }
    if (value.type() == Type::kDocument) {
      builder.open_document(key);
      GM_TRY(to_document(node, value.as_document(), builder));
      builder.close();
      return {};
    }
    if (value.type() == Type::kArray) {
      builder.open_array(key);
      GM_TRY(to_array(node, key, value.as_document(), builder));
      builder.close();
      return {};
    }
    for (const UpdateNode& child : node.children) GM_TRY(refuse_making(child, key, value));
    builder.append(key, value);
    return {};
  }

  Status to_array(const UpdateNode& node, std::string_view key, bson::View before,
                  bson::Builder& builder) {
    for (const UpdateNode& child : node.children) {
      if (!position_of(child.name)) {
        GM_TRY(refuse_making(child, key, ValueView(Type::kArray, before.data(), before.size())));
      }
    }
    uint32_t count = 0;
    for (const bson::Element element : before) {
      const std::string position = std::to_string(count++);
      const UpdateNode* const child = node.find(position);
      if (child == nullptr) {
        builder.push(element.value);
      } else if (child->update != nullptr) {
        GM_ASSIGN(const UpdateOutcome result, outcome(*child, element.value));
        if (result.action == Action::kKeep) builder.push(element.value);
        if (result.action == Action::kSet) builder.push(*result.value);
        // What is unset in an array leaves null, so that the others keep their positions.
        if (result.action == Action::kRemove) push_null(builder);
      } else {
        GM_TRY(to_element(*child, element.value, builder));
      }
    }
    for (const UpdateNode& child : node.children) {
      const std::optional<uint32_t> position = position_of(child.name);
      if (!position || *position < count) continue;
      bson::Builder made;
      GM_TRY(make_missing(child, made));
      const bson::Document document = std::move(made).finish();
      if (document.view().empty()) continue;
      if (*position - count > kPaddingMax) {
        return fail(ErrorCode::kCannotBackfillArray,
                    "can't backfill more than " + std::to_string(kPaddingMax) + " elements, for '" +
                        child.name + "' in '" + std::string(key) + "'");
      }
      for (; count < *position; ++count) push_null(builder);
      builder.push((*document.view().begin()).value);
      ++count;
    }
    return {};
  }

  // As to_field(), without a key of its own.
  Status to_element(const UpdateNode& node, ValueView value, bson::Builder& builder) {
    bson::Builder changed;
    GM_TRY(to_field(node, node.name, value, changed));
    builder.push((*std::move(changed).finish().view().begin()).value);
    return {};
  }

  static void push_null(bson::Builder& builder) {
    builder.push(ValueView(Type::kNull, nullptr, 0));
  }

  // Adds the field if some operator gives it a value; parents only with something in them.
  Status make_missing(const UpdateNode& node, bson::Builder& builder) {
    if (node.update != nullptr) {
      GM_ASSIGN(const UpdateOutcome result, outcome(node, std::nullopt));
      if (result.action == Action::kSet) builder.append(node.name, *result.value);
      return {};
    }
    bson::Builder inner;
    for (const UpdateNode& child : node.children) GM_TRY(make_missing(child, inner));
    const bson::Document document = std::move(inner).finish();
    if (!document.view().empty()) builder.append(node.name, document);
    return {};
  }

  Status refuse_making(const UpdateNode& child, std::string_view key, ValueView value) {
    bson::Builder made;
    GM_TRY(make_missing(child, made));
    if (std::move(made).finish().view().empty()) return {};
    return fail(ErrorCode::kPathNotViable,
                "Cannot create field '" + child.name + "' in element {" + std::string(key) + ": " +
                    bson::to_json(value, bson::JsonForm::kRelaxed) + "}");
  }

  bson::View document_;
  bool inserting_;
};

}  // namespace

const UpdateNode* UpdateNode::find(std::string_view child) const {
  for (const UpdateNode& node : children) {
    if (node.name == child) return &node;
  }
  return nullptr;
}

Status add_update(UpdateNode& root, const bson::Path& path, const UpdateOperator* update,
                  const bson::Value& operand) {
  const auto refuse = [&](const std::string& at) {
    return fail(
        ErrorCode::kConflictingUpdateOperators,
        "Updating the path '" + path.dotted() + "' would create a conflict at '" + at + "'");
  };
  UpdateNode* node = &root;
  std::string at;
  for (const std::string& part : path.parts()) {
    at += (at.empty() ? "" : ".") + part;
    auto* child = const_cast<UpdateNode*>(node->find(part));
    if (child == nullptr) {
      const auto place =
          std::find_if(node->children.begin(), node->children.end(),
                       [&](const UpdateNode& other) { return comes_before(part, other.name); });
      UpdateNode made;
      made.name = part;
      child = &*node->children.insert(place, std::move(made));
    } else if (child->update != nullptr || at == path.dotted()) {
      return refuse(at);
    }
    node = child;
  }
  node->update = update;
  node->path = path.dotted();
  node->operand = operand;
  return {};
}

Result<bson::Document> apply_updates(const UpdateNode& root, bson::View document, bool inserting) {
  bson::Builder builder;
  GM_TRY(Application(document, inserting).to_document(root, document, builder));
  return std::move(builder).finish();
}

}  // namespace gridmount::query
