#include "engine/query/expression/field_path.h"

#include "engine/bson/dotted_path.h"
#include "engine/query/expression/operator.h"

namespace gridmount::query::expressions {
namespace {

// The number of bytes of a document that count as one step of the search for a field
// (interruption.h). The search skips most bytes.
constexpr size_t kBytesPerStep = 16;

using bson::Type;
using bson::ValueView;

constexpr ErrorCode kNoName{16872};
constexpr ErrorCode kUndefinedVariable{17276};
constexpr ErrorCode kBuiltinNotAvailable{51144};

// System variables of servers for which this engine has no value.
bool is_other_system_variable(std::string_view name) {
  return name == "CLUSTER_TIME" || name == "USER_ROLES" || name == "SEARCH_META" ||
         name == "JS_SCOPE" || name == "IS_MR";
}

Status check_variable_name(std::string_view name) {
  if (name.empty()) {
    return fail(ErrorCode::kFailedToParse, "empty variable names are not allowed");
  }
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  if (!is_letter(name[0])) {
    return fail(ErrorCode::kFailedToParse,
                "'" + std::string(name) + "' starts with an invalid character for a variable name");
  }
  for (const char c : name) {
    if (is_letter(c) || (c >= '0' && c <= '9') || c == '_') continue;
    return fail(ErrorCode::kFailedToParse,
                "'" + std::string(name) + "' contains an invalid character for a variable name: '" +
                    std::string(1, c) + "'");
  }
  return {};
}

// Returns the parts of `path` below a variable. The checks include the variable's name, which
// servers count as a part of the path.
Result<std::vector<std::string>> parts_below(std::string_view variable, std::string_view path) {
  GM_ASSIGN(const bson::Path whole,
            split_field_path(std::string(variable).append(".").append(path)));
  return std::vector(whole.parts().begin() + 1, whole.parts().end());
}

}  // namespace

Result<ExpressionPointer> parse_field_path(std::string_view text, ParseContext& context) {
  text.remove_prefix(1);
  if (text.empty()) return fail(kNoName, "'$' by itself is not a valid FieldPath");
  FieldPath::Base base = FieldPath::Base::kRoot;
  size_t slot = 0;
  std::vector<std::string> parts;
  std::string_view variable = "CURRENT";
  if (text[0] == '$') {
    const size_t dot = text.find('.');
    variable = text.substr(1, dot == std::string_view::npos ? dot : dot - 1);
    GM_TRY(check_variable_name(variable));
    if (dot != std::string_view::npos) {
      GM_ASSIGN(parts, parts_below(variable, text.substr(dot + 1)));
    }
  } else {
    GM_ASSIGN(parts, parts_below(variable, text));
  }
  if (const std::optional<size_t> declared = context.scope.find(variable)) {
    base = FieldPath::Base::kVariable;
    slot = *declared;
  } else if (variable == "NOW") {
    base = FieldPath::Base::kNow;
  } else if (variable == "REMOVE") {
    return make_constant(std::nullopt);
  } else if (is_other_system_variable(variable)) {
    return fail(kBuiltinNotAvailable,
                "Builtin variable '$$" + std::string(variable) + "' is not available");
  } else if (variable != "ROOT" && variable != "CURRENT") {
    return fail(kUndefinedVariable, "Use of undefined variable: " + std::string(variable));
  }
  return std::make_unique<FieldPath>(base, slot, std::move(parts));
}

Evaluated FieldPath::base_value(EvaluationContext& context) const {
  switch (base_) {
    case Base::kNow:
      return give(context, context.now);
    case Base::kVariable:
      return slot_ < context.variables.size() ? context.variables[slot_] : MaybeValue();
    case Base::kRoot:
      break;
  }
  return MaybeValue(ValueView(Type::kDocument, context.root.data(), context.root.size()));
}

Evaluated FieldPath::evaluate(EvaluationContext& context) const {
  if (base_ == Base::kRoot && !parts_.empty()) {
    if (parts_.size() == 1) return context.root.find(parts_[0]);
    return reach(context, context.root, 0);
  }
  GM_ASSIGN(const MaybeValue base, base_value(context));
  if (parts_.empty() || !base) return base;
  if (base->type() == Type::kDocument) return reach(context, base->as_document(), 0);
  if (base->type() == Type::kArray) return reach_elements(context, *base, 0);
  return MaybeValue();
}

Evaluated FieldPath::reach(EvaluationContext& context, bson::View document, size_t from) const {
  for (size_t i = from;; ++i) {
    GM_TRY(check_interruption_of(document.size() / kBytesPerStep));
    const MaybeValue value = document.find(parts_[i]);
    if (!value || i + 1 == parts_.size()) return value;
    if (value->type() == Type::kArray) return reach_elements(context, *value, i + 1);
    if (value->type() != Type::kDocument) return MaybeValue();
    document = value->as_document();
  }
}

Evaluated FieldPath::reach_elements(EvaluationContext& context, ValueView array,
                                    size_t from) const {
  ValueOutput output(context, Type::kArray);
  const ArenaAccess::Mark mark = ArenaAccess::mark(context.arena);
  for (const bson::Element element : array.as_document()) {
    // As on servers, the path does not lead into an array directly in an array.
    if (element.value.type() != Type::kDocument) continue;
    GM_ASSIGN(const MaybeValue reached, reach(context, element.value.as_document(), from));
    // The result has arrays only where the document has them, so it is not nested deeper than the
    // document.
    if (reached) GM_TRY(output.push_element(*reached));
    ArenaAccess::rewind(context.arena, mark);
  }
  return output.finish();
}

void FieldPath::add_dependencies(std::set<std::string>& paths) const {
  if (base_ == Base::kRoot) paths.insert(dotted());
}

std::optional<std::string> FieldPath::field() const {
  if (base_ != Base::kRoot || parts_.empty()) return std::nullopt;
  return dotted();
}

std::string FieldPath::dotted() const {
  std::string path;
  for (const std::string& part : parts_) {
    if (!path.empty()) path += '.';
    path += part;
  }
  return path;
}

}  // namespace gridmount::query::expressions
