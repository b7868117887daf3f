#include "engine/query/update.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/query/update_tree.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

constexpr UpdateOperator kRenamed{"$rename", accept_any, apply_renamed};
constexpr UpdateOperator kUnset{"$unset", accept_any, apply_unset};
constexpr UpdateOperator kEquality{"$set", accept_any, apply_set};

Status check_path(const bson::Path& path) {
  const std::string& dotted = path.dotted();
  const auto refuse = [&](ErrorCode code, std::string_view why) {
    return fail(code, "The update path '" + dotted + "' " + std::string(why));
  };
  if (dotted.empty()) return fail(ErrorCode::kEmptyFieldName, "An empty update path is not valid.");
  if (path.parts().size() > bson::kMaxDepth) {
    return refuse(ErrorCode::kOverflow,
                  "has more than " + std::to_string(bson::kMaxDepth) + " parts");
  }
  for (const std::string& part : path.parts()) {
    if (part.empty()) {
      return refuse(ErrorCode::kEmptyFieldName,
                    "contains an empty field name, which is not allowed.");
    }
    if (part == "$" || part.starts_with("$[")) {
      return refuse(ErrorCode::kFailedToParse, "has a positional operator, which is not supported");
    }
    if (part[0] == '$') {
      return fail(ErrorCode::kDollarPrefixedFieldName,
                  "The dollar ($) prefixed field in '" + dotted + "' is not valid for storage.");
    }
  }
  return {};
}

bool is_nested(Type type) {
  return type == Type::kDocument || type == Type::kArray;
}

Status check_size(bson::View document) {
  if (document.size() <= bson::kMaxDocumentBytes) return {};
  return fail(ErrorCode::kBsonObjectTooLarge, "Resulting document after update is larger than " +
                                                  std::to_string(bson::kMaxDocumentBytes) +
                                                  " bytes");
}

tl::unexpected<Error> immutable_id(ValueView before) {
  return fail(
      ErrorCode::kImmutableField,
      "Performing an update on the path '_id' would modify the immutable field '_id' of {_id: " +
          bson::to_json(before, bson::JsonForm::kRelaxed) + "}");
}

// `document` with that _id, first.
bson::Document with_id(ValueView id, bson::View document) {
  bson::Builder builder;
  builder.append("_id", id);
  for (const bson::Element element : document) {
    if (element.key != "_id") builder.append(element.key, element.value);
  }
  return std::move(builder).finish();
}

}  // namespace

struct Update::State {
  std::optional<bson::Document> replacement;
  UpdateNode root;
  std::vector<std::string> touched_paths;
  // Some operand is nested itself and goes below the top level: the result may be too deep.
  bool may_deepen = false;

  Status add_operator(std::string_view name, ValueView fields) {
    const bool renames = name == "$rename";
    const UpdateOperator* const update = find_update_operator(name);
    if (update == nullptr && !renames) {
      return fail(ErrorCode::kFailedToParse,
                  "Unknown modifier: " + std::string(name) +
                      ". Expected a valid update modifier or pipeline-style update specified as "
                      "an array");
    }
    if (fields.type() != Type::kDocument) {
      return fail(ErrorCode::kFailedToParse,
                  "Modifiers operate on fields but we found type " +
                      std::string(bson::type_alias(fields.type())) +
                      " instead. For example: {$mod: {<field>: ...}} not {" + std::string(name) +
                      ": " + bson::to_json(fields, bson::JsonForm::kRelaxed) + "}");
    }
    for (const bson::Element element : fields.as_document()) {
      if (renames) {
        GM_TRY(add_rename(element));
        continue;
      }
      const bson::Path path(element.key);
      GM_TRY(check_path(path));
      GM_TRY(update->check(element.key, element.value));
      GM_TRY(add(path, update, Value(element.value)));
    }
    return {};
  }

  Status add_rename(const bson::Element& element) {
    if (element.value.type() != Type::kString) {
      return fail(ErrorCode::kBadValue,
                  "The 'to' field for $rename must be a string: " + std::string(element.key) +
                      ": " + bson::to_json(element.value, bson::JsonForm::kRelaxed));
    }
    const bson::Path source(element.key);
    const bson::Path target(element.value.as_string());
    GM_TRY(check_path(source));
    GM_TRY(check_path(target));
    if (element.value.as_string().find('\0') != std::string_view::npos) {
      return fail(ErrorCode::kBadValue,
                  "The 'to' field for $rename cannot contain an embedded null byte");
    }
    if (source.dotted() == target.dotted()) {
      return fail(ErrorCode::kBadValue,
                  "The source and target field for $rename must differ: " + source.dotted());
    }
    if (target.dotted().starts_with(source.dotted() + ".") ||
        source.dotted().starts_with(target.dotted() + ".")) {
      return fail(ErrorCode::kBadValue,
                  "The source and target field for $rename must not be on the same path: " +
                      source.dotted() + ": '" + target.dotted() + "'");
    }
    GM_TRY(add(source, &kUnset, Value()));
    return add(target, &kRenamed, Value(element.key));
  }

  Status add(const bson::Path& path, const UpdateOperator* update, const Value& operand) {
    GM_TRY(add_update(root, path, update, operand));
    touched_paths.push_back(path.dotted());
    may_deepen =
        may_deepen || update == &kRenamed || (path.parts().size() > 1 && is_nested(operand.type()));
    return {};
  }

  Result<bson::Document> changed(bson::View document, bool inserting) const {
    GM_ASSIGN(bson::Document result, apply_updates(root, document, inserting));
    GM_TRY(check_size(result));
    if (may_deepen) GM_TRY(bson::validate(result.view().bytes()));
    const std::optional<ValueView> before = document.find("_id");
    if (before && root.find("_id") != nullptr) {
      const std::optional<ValueView> after = result.find("_id");
      if (!after || bson::compare(*before, *after) != 0) return immutable_id(*before);
    }
    return result;
  }
};

Update::Update(std::unique_ptr<State> state) : state_(std::move(state)) {}
Update::Update(Update&&) noexcept = default;
Update& Update::operator=(Update&&) noexcept = default;
Update::~Update() = default;

Result<Update> Update::parse(bson::View specification) {
  auto state = std::make_unique<State>();
  const bool operators = !specification.empty() && (*specification.begin()).key.starts_with('$');
  for (const bson::Element element : specification) {
    if (operators) {
      GM_TRY(state->add_operator(element.key, element.value));
    } else if (element.key.starts_with('$')) {
      return fail(ErrorCode::kDollarPrefixedFieldName,
                  "The dollar ($) prefixed field '" + std::string(element.key) + "' in '" +
                      std::string(element.key) +
                      "' is not allowed in the context of an update's replacement document.");
    }
  }
  if (!operators) state->replacement = bson::Document(specification);
  return Update(std::move(state));
}

bool Update::is_replacement() const {
  return state_->replacement.has_value();
}

const std::vector<std::string>& Update::touched_paths() const {
  return state_->touched_paths;
}

Result<Update::Applied> Update::apply(bson::View document) const {
  Applied applied;
  if (state_->replacement) {
    const std::optional<ValueView> id = document.find("_id");
    const std::optional<ValueView> own = state_->replacement->find("_id");
    if (id && own && bson::compare(*id, *own) != 0) return immutable_id(*id);
    applied.document = id ? with_id(*id, *state_->replacement) : *state_->replacement;
    GM_TRY(check_size(applied.document));
  } else {
    GM_ASSIGN(applied.document, state_->changed(document, false));
  }
  const bson::View after = applied.document;
  applied.modified = after.size() != document.size() ||
                     std::memcmp(after.data(), document.data(), after.size()) != 0;
  return applied;
}

Result<bson::Document> Update::upserted(const Filter& filter) const {
  UpdateNode equalities;
  for (const auto& [dotted, value] : filter.equalities()) {
    // A replacement takes nothing but the _id, and that only as a whole.
    if (state_->replacement && dotted.starts_with("_id.")) {
      return fail(ErrorCode::kNotExactValueField,
                  "field at '_id' must be exactly specified, field at "
                  "sub-path '" +
                      dotted + "' found");
    }
    if (state_->replacement && dotted != "_id") continue;
    const bson::Path path(dotted);
    GM_TRY(check_path(path));
    if (!add_update(equalities, path, &kEquality, Value(value))) {
      return fail(ErrorCode::kNotSingleValueField,
                  "cannot infer query fields to set, path '" + dotted + "' is matched twice");
    }
  }
  GM_ASSIGN(bson::Document document, apply_updates(equalities, bson::View(), true));
  if (state_->replacement) {
    const std::optional<ValueView> id = document.find("_id");
    const std::optional<ValueView> own = state_->replacement->find("_id");
    if (id && own && bson::compare(*id, *own) != 0) return immutable_id(*id);
    if (!own && id) {
      document = with_id(*id, *state_->replacement);
    } else {
      document = *state_->replacement;
    }
  } else {
    GM_ASSIGN(document, state_->changed(document, true));
  }
  const std::optional<ValueView> id = document.find("_id");
  const Value chosen = id ? Value(*id) : Value(bson::ObjectId::generate());
  document = with_id(chosen, document);
  GM_TRY(check_size(document));
  return document;
}

}  // namespace gridmount::query
