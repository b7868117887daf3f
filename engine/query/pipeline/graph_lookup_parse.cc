#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/query/pipeline/given_once.h"
#include "engine/query/pipeline/graph_lookup_stage.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

struct GraphLookupArguments {
  std::optional<ValueView> start_with;
  std::optional<ValueView> max_depth;
  std::optional<ValueView> restriction;
  std::string from;
  std::string as;
  std::string connect_from;
  std::string connect_to;
  std::optional<std::string> depth_field;
};

Status parse_argument(const bson::Element& argument, GraphLookupArguments& arguments) {
  const auto text = [&]() -> Result<std::string> {
    if (argument.value.type() != Type::kString) {
      return fail(ErrorCode{40103}, "expected string as argument for " + std::string(argument.key) +
                                        ", found: " + shown(argument.value));
    }
    return std::string(argument.value.as_string());
  };
  if (argument.key == "startWith") {
    arguments.start_with = argument.value;
  } else if (argument.key == "maxDepth") {
    arguments.max_depth = argument.value;
  } else if (argument.key == "restrictSearchWithMatch") {
    arguments.restriction = argument.value;
  } else if (argument.key == "from") {
    if (argument.value.type() != Type::kString) {
      return fail(
          ErrorCode::kFailedToParse,
          "$graphLookup 'from' field must be a string, but found " + type_name(argument.value));
    }
    GM_ASSIGN(arguments.from, text());
  } else if (argument.key == "as") {
    GM_ASSIGN(arguments.as, text());
  } else if (argument.key == "connectFromField") {
    GM_ASSIGN(arguments.connect_from, text());
  } else if (argument.key == "connectToField") {
    GM_ASSIGN(arguments.connect_to, text());
  } else if (argument.key == "depthField") {
    GM_ASSIGN(arguments.depth_field, text());
  } else {
    return fail(ErrorCode{40104}, "Unknown argument to $graphLookup: " + std::string(argument.key));
  }
  return {};
}

Result<int64_t> parse_max_depth(ValueView value) {
  if (!value.is_number()) {
    return fail(ErrorCode{40100}, "maxDepth must be numeric, found type: " + type_name(value));
  }
  const std::optional<int64_t> depth = value.integral();
  if (!depth) {
    return fail(ErrorCode{40102},
                "maxDepth could not be represented as a long long: " + shown(value));
  }
  if (*depth < 0) {
    return fail(ErrorCode{40101},
                "maxDepth requires a nonnegative argument, found: " + std::to_string(*depth));
  }
  return *depth;
}

Result<Pipeline> parse_restriction(const std::optional<ValueView>& restriction,
                                   const StageCall& call) {
  bson::Builder stages;
  stages.open_array("stages");
  if (restriction) {
    if (restriction->type() != Type::kDocument) {
      return fail(ErrorCode{40185},
                  "restrictSearchWithMatch must be an object, found " + type_name(*restriction));
    }
    stages.push_open_document().append("$match", *restriction).close();
  }
  stages.close();
  const bson::Document parent = std::move(stages).finish();
  Result<Pipeline> pipeline =
      parse_sub_pipeline(parent.view()["stages"], call, PipelineLevel::kLookup, true);
  if (pipeline) return pipeline;
  return fail(std::move(pipeline).error().with_context(
      "Failed to parse 'restrictSearchWithMatch' option to $graphLookup :: caused by :"));
}

}  // namespace

Status parse_graph_lookup(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode::kFailedToParse,
                "the $graphLookup stage specification must be an object, but found " +
                    type_name(call.value));
  }
  if (!call.value.as_document().find("from")) {
    return fail(ErrorCode::kFailedToParse,
                "missing 'from' option to $graphLookup stage specification: " + shown(call.value));
  }
  GM_TRY(check_given_once("$graphLookup", call.value.as_document()));
  GraphLookupArguments arguments;
  for (const bson::Element argument : call.value.as_document()) {
    GM_TRY(parse_argument(argument, arguments));
  }
  if (arguments.from.empty() || arguments.as.empty() || !arguments.start_with ||
      arguments.connect_from.empty() || arguments.connect_to.empty()) {
    return fail(ErrorCode{40105},
                "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and "
                "'connectToField' to be specified.");
  }
  GraphLookupOptions options;
  options.from.collection = arguments.from;
  GM_ASSIGN(options.start_with, parse_expression(*arguments.start_with, call.scope));
  GM_ASSIGN(options.as, split_field_path(arguments.as));
  GM_ASSIGN(options.connect_from, split_field_path(arguments.connect_from));
  GM_ASSIGN(options.connect_to, split_field_path(arguments.connect_to));
  if (arguments.depth_field) {
    GM_ASSIGN(options.depth_field, split_field_path(*arguments.depth_field));
  }
  if (arguments.max_depth) {
    GM_ASSIGN(options.max_depth, parse_max_depth(*arguments.max_depth));
  }
  GM_ASSIGN(options.restriction, parse_restriction(arguments.restriction, call));
  stages.push_back(std::make_unique<GraphLookupStage>(std::move(options)));
  return {};
}

}  // namespace gridmount::query
