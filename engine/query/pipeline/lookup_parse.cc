#include <algorithm>
#include <string>
#include <utility>

#include "engine/query/pipeline/given_once.h"
#include "engine/query/pipeline/lookup_stage.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

struct LookupArguments {
  std::optional<ValueView> pipeline;
  std::optional<bson::View> let;
  std::string from;
  std::string as;
  std::string local_field;
  std::string foreign_field;
};

Status parse_from(ValueView value, std::string& from) {
  if (value.type() == Type::kString) {
    from = value.as_string();
    return {};
  }
  if (value.type() != Type::kDocument) {
    return fail(ErrorCode::kFailedToParse,
                "$lookup 'from' field must be a string, but found " + type_name(value));
  }
  const auto part = [&](std::string_view name) {
    const std::optional<ValueView> found = value.as_document().find(name);
    return found && found->type() == Type::kString ? std::string(found->as_string())
                                                   : std::string();
  };
  return fail(ErrorCode::kFailedToParse,
              "$lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: " +
                  part("db") + " and coll: " + part("coll"));
}

Status parse_argument(const bson::Element& argument, LookupArguments& arguments) {
  const std::string name(argument.key);
  if (name == "pipeline") {
    if (argument.value.type() != Type::kArray) {
      return fail(ErrorCode::kTypeMismatch, "'pipeline' option must be specified as an array");
    }
    arguments.pipeline = argument.value;
    return {};
  }
  if (name == "let") {
    if (argument.value.type() != Type::kDocument) {
      return fail(ErrorCode::kFailedToParse, "$lookup argument 'let: " + shown(argument.value) +
                                                 "' must be an object, is type " +
                                                 type_name(argument.value));
    }
    arguments.let = argument.value.as_document();
    return {};
  }
  if (name == "from") return parse_from(argument.value, arguments.from);
  if (argument.value.type() != Type::kString) {
    return fail(ErrorCode::kFailedToParse,
                "$lookup argument '" + name + "' must be a string, found " + name + ": " +
                    shown(argument.value) + ": " + type_name(argument.value));
  }
  const std::pair<std::string_view, std::string*> kNames[] = {
      {"as", &arguments.as},
      {"localField", &arguments.local_field},
      {"foreignField", &arguments.foreign_field},
  };
  for (const auto& [known, to] : kNames) {
    if (known != name) continue;
    *to = argument.value.as_string();
    return {};
  }
  return fail(ErrorCode::kFailedToParse, "unknown argument to $lookup: " + name);
}

Status check_arguments(const LookupArguments& arguments) {
  if (arguments.from.empty()) {
    if (!arguments.pipeline) {
      return fail(ErrorCode::kFailedToParse, "must specify 'pipeline' when 'from' is empty");
    }
    const bson::View stages = arguments.pipeline->as_document();
    const bool has_documents = !stages.empty() &&
                               (*stages.begin()).value.type() == Type::kDocument &&
                               (*stages.begin()).value.as_document().find("$documents");
    if (!has_documents) {
      return fail(ErrorCode::kFailedToParse,
                  "$lookup stage without explicit collection must have a pipeline with $documents "
                  "as first stage");
    }
  }
  if (arguments.as.empty()) {
    return fail(ErrorCode::kFailedToParse, "must specify 'as' field for a $lookup");
  }
  const bool has_both = !arguments.local_field.empty() && !arguments.foreign_field.empty();
  const bool has_none = arguments.local_field.empty() && arguments.foreign_field.empty();
  if (arguments.pipeline) {
    if (has_both || has_none) return {};
    return fail(
        ErrorCode::kFailedToParse,
        "$lookup requires both or neither of 'localField' and 'foreignField' to be specified");
  }
  if (!has_both) {
    return fail(ErrorCode::kFailedToParse,
                "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be "
                "specified");
  }
  if (arguments.let) {
    return fail(ErrorCode::kFailedToParse,
                "$lookup with a 'let' argument must also specify 'pipeline'");
  }
  return {};
}

// Returns whether a document or array has $sample, $sampleRate or $rand at any level.
bool mentions_random(bson::View specification) {
  return std::any_of(specification.begin(), specification.end(), [](const bson::Element& element) {
    if (element.key == "$sample" || element.key == "$sampleRate" || element.key == "$rand") {
      return true;
    }
    const Type type = element.value.type();
    return (type == Type::kDocument || type == Type::kArray) &&
           mentions_random(element.value.as_document());
  });
}

// The pipeline may use the variables of `let`. Their expressions are evaluated on the outer
// document, so they are parsed before the variables are declared.
Status parse_pipeline(const LookupArguments& arguments, const StageCall& call,
                      LookupOptions& options) {
  const bson::View let = arguments.let.value_or(bson::View());
  for (const bson::Element variable : let) {
    GM_ASSIGN(std::unique_ptr<Expression> value, parse_expression(variable.value, call.scope));
    options.variables.push_back({0, std::move(value)});
  }
  size_t declared = 0;
  Status status;
  for (const bson::Element variable : let) {
    const Result<size_t> slot = call.scope.declare(variable.key);
    if (!slot) {
      status = fail(slot.error());
      break;
    }
    options.variables[declared++].slot = *slot;
  }
  if (status) {
    const bson::Value none = bson::Value::array(bson::View());
    Result<Pipeline> pipeline = parse_sub_pipeline(arguments.pipeline.value_or(none.view()), call,
                                                   PipelineLevel::kLookup, !arguments.from.empty());
    if (pipeline) {
      options.pipeline.emplace(*std::move(pipeline));
    } else {
      status = fail(std::move(pipeline).error());
    }
  }
  for (; declared > 0; --declared) call.scope.undeclare();
  return status;
}

}  // namespace

Status parse_lookup(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(
        ErrorCode::kFailedToParse,
        "the $lookup stage specification must be an object, but found " + type_name(call.value));
  }
  GM_TRY(check_given_once("$lookup", call.value.as_document()));
  LookupArguments arguments;
  for (const bson::Element argument : call.value.as_document()) {
    GM_TRY(parse_argument(argument, arguments));
  }
  GM_TRY(check_arguments(arguments));
  LookupOptions options;
  options.from.collection = arguments.from;
  GM_ASSIGN(options.as, split_field_path(arguments.as));
  if (!arguments.local_field.empty()) {
    GM_ASSIGN(options.local_field, split_field_path(arguments.local_field));
    GM_ASSIGN(options.foreign_field, split_field_path(arguments.foreign_field));
  }
  GM_TRY(parse_pipeline(arguments, call, options));
  options.is_random = arguments.pipeline && mentions_random(arguments.pipeline->as_document());
  stages.push_back(std::make_unique<LookupStage>(std::move(options)));
  return {};
}

}  // namespace gridmount::query
