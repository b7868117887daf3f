#include "engine/wire/commands/read_arguments.h"

#include <string>

#include "engine/query/filter/variables.h"

namespace gridmount::wire {

using bson::Type;

Result<std::optional<bson::Value>> read_hint(Arguments& arguments) {
  if (!arguments.has("hint")) return std::optional<bson::Value>();
  const std::optional<bson::ValueView> hint = arguments.any("hint");
  if (hint && hint->type() == Type::kDocument) {
    if (hint->as_document().empty()) return std::optional<bson::Value>();
    return std::optional(bson::Value(*hint));
  }
  if (hint && hint->type() == Type::kString) return std::optional(bson::Value(*hint));
  return fail(ErrorCode::kFailedToParse, "Hint must be a string or an object");
}

Result<bson::Document> read_let(Arguments& arguments, bson::View collation) {
  GM_ASSIGN(const bson::View let, arguments.document_or_empty("let"));
  if (let.empty()) return bson::Document();
  GM_ASSIGN(const query::SharedCollator collator, query::Collator::parse(collation));
  return query::evaluate_let(let, bson::Date::now(), collator);
}

Status refuse_option(Arguments& arguments, std::string_view name) {
  const std::optional<bson::ValueView> value = arguments.any(name);
  if (!value) return {};
  const bool is_off = (value->type() == Type::kBool && !value->as_bool()) ||
                      (value->type() == Type::kDocument && value->as_document().empty()) ||
                      (value->is_number() && value->number().value_or(1) == 0);
  if (is_off) return {};
  return fail(ErrorCode::kCommandNotSupported, std::string(arguments.path()) + ": the option '" +
                                                   std::string(name) + "' is not supported");
}

Status check_documents(const Arguments& arguments, std::string_view name, bson::View array) {
  for (const bson::Element element : array) {
    if (element.value.type() == Type::kDocument) continue;
    return arguments.wrong_type(std::string(name) + "." + std::string(element.key), element.value,
                                "type 'object'");
  }
  return {};
}

}  // namespace gridmount::wire
