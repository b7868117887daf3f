#include <algorithm>
#include <string>
#include <utility>

#include "engine/query/pipeline/given_once.h"
#include "engine/query/pipeline/merge_stage.h"
#include "engine/query/pipeline/stage_table.h"
#include "engine/query/pipeline/write_target.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;
using WhenMatched = MergeOptions::WhenMatched;
using WhenNotMatched = MergeOptions::WhenNotMatched;

constexpr std::pair<std::string_view, WhenMatched> kWhenMatched[] = {
    {"replace", WhenMatched::kReplace},   {"keepExisting", WhenMatched::kKeepExisting},
    {"merge", WhenMatched::kMerge},       {"fail", WhenMatched::kFail},
    {"pipeline", WhenMatched::kPipeline},
};
constexpr std::pair<std::string_view, WhenNotMatched> kWhenNotMatched[] = {
    {"insert", WhenNotMatched::kInsert},
    {"discard", WhenNotMatched::kDiscard},
    {"fail", WhenNotMatched::kFail},
};

template <typename Mode, size_t kSize>
std::string name_of(const std::pair<std::string_view, Mode> (&names)[kSize], Mode mode) {
  for (const auto& [name, known] : names) {
    if (known == mode) return std::string(name);
  }
  return {};
}

Status wrong_type(std::string_view field, ValueView value, std::string_view expected) {
  return fail(ErrorCode::kTypeMismatch, "BSON field '$merge." + std::string(field) +
                                            "' is the wrong type '" + type_name(value) +
                                            "', expected type '" + std::string(expected) + "'");
}

class MergeParser {
 public:
  explicit MergeParser(const StageCall& call) : call_(call) {}

  Result<MergeOptions> parse() {
    if (call_.value.type() == Type::kString) {
      GM_ASSIGN(options_.into, parse_target("$merge", "", call_.value));
    } else if (call_.value.type() == Type::kDocument) {
      GM_TRY(check_given_once("$merge", call_.value.as_document()));
      for (const bson::Element option : call_.value.as_document()) GM_TRY(parse_option(option));
      if (!has_into_) {
        return fail(ErrorCode{40414}, "BSON field '$merge.into' is missing but a required field");
      }
    } else {
      return fail(
          ErrorCode::kTypeMismatch,
          "$merge requires a string or object argument, but found " + type_name(call_.value));
    }
    GM_TRY(check_target("$merge", options_.into, ErrorCode{31319}, ErrorCode{31320}));
    GM_TRY(check_modes());
    if (options_.on.empty()) options_.on.emplace_back("_id");
    if (options_.when_matched == WhenMatched::kPipeline) {
      GM_TRY(parse_pipeline());
    } else if (let_) {
      return fail(ErrorCode{51199}, "Cannot use 'let' variables with 'whenMatched: " +
                                        name_of(kWhenMatched, options_.when_matched) + "' mode");
    }
    return std::move(options_);
  }

 private:
  Status parse_option(const bson::Element& option) {
    if (option.key == "into") return parse_into(option.value);
    if (option.key == "on") {
      options_.names_on = true;
      return parse_on(option.value);
    }
    if (option.key == "whenMatched") return parse_when_matched(option.value);
    if (option.key == "whenNotMatched") return parse_when_not_matched(option.value);
    if (option.key != "let") {
      return fail(ErrorCode::kUnknownField,
                  "BSON field '$merge." + std::string(option.key) + "' is an unknown field.");
    }
    if (option.value.type() != Type::kDocument) return wrong_type("let", option.value, "object");
    let_ = option.value.as_document();
    return {};
  }

  Status parse_into(ValueView value) {
    if (value.type() != Type::kString && value.type() != Type::kDocument) {
      return fail(ErrorCode{51178},
                  "$merge 'into' field  must be either a string or an object, but found " +
                      type_name(value));
    }
    has_into_ = true;
    if (value.type() == Type::kString && value.as_string().empty()) {
      return fail(ErrorCode{5786800}, "$merge 'into' field cannot be an empty string");
    }
    if (value.type() == Type::kDocument) {
      const std::optional<ValueView> name = value.as_document().find("coll");
      if (!name || bson::is_nullish(name->type()) ||
          (name->type() == Type::kString && name->as_string().empty())) {
        return fail(ErrorCode{5786801},
                    "$merge 'into' field must specify a 'coll' that is not empty, null or "
                    "undefined");
      }
    }
    GM_ASSIGN(options_.into, parse_target("$merge", "into", value));
    return {};
  }

  Status add_on(ValueView value) {
    if (value.type() != Type::kString) {
      return fail(ErrorCode{51134},
                  "$merge 'on' array elements must be strings, but found " + type_name(value));
    }
    GM_TRY(check_field_path(value.as_string()));
    const std::string field(value.as_string());
    const bool known = std::any_of(options_.on.begin(), options_.on.end(),
                                   [&](const bson::Path& path) { return path.dotted() == field; });
    if (known) return fail(ErrorCode{31465}, "Found a duplicate field '" + field + "'");
    options_.on.emplace_back(field);
    return {};
  }

  Status parse_on(ValueView value) {
    if (value.type() == Type::kString) return add_on(value);
    if (value.type() != Type::kArray) {
      return fail(ErrorCode{51186},
                  "$merge 'on' field  must be either a string or an array of strings, but found " +
                      type_name(value));
    }
    if (value.as_document().empty()) {
      return fail(ErrorCode{51187},
                  "If explicitly specifying $merge 'on', must include at least one field");
    }
    for (const bson::Element element : value.as_document()) GM_TRY(add_on(element.value));
    return {};
  }

  Status parse_when_matched(ValueView value) {
    if (value.type() == Type::kArray) {
      options_.when_matched = WhenMatched::kPipeline;
      pipeline_ = value.as_document();
      return {};
    }
    if (value.type() != Type::kString) {
      return fail(ErrorCode{51191},
                  "$merge 'whenMatched' field  must be either a string or an array, but found " +
                      type_name(value));
    }
    for (const auto& [name, mode] : kWhenMatched) {
      if (name != value.as_string() || mode == WhenMatched::kPipeline) continue;
      options_.when_matched = mode;
      return {};
    }
    return fail(ErrorCode::kBadValue, "Enumeration value '" + std::string(value.as_string()) +
                                          "' for field 'whenMatched' is not a valid value.");
  }

  Status parse_when_not_matched(ValueView value) {
    if (value.type() != Type::kString) return wrong_type("whenNotMatched", value, "string");
    for (const auto& [name, mode] : kWhenNotMatched) {
      if (name != value.as_string()) continue;
      options_.when_not_matched = mode;
      return {};
    }
    return fail(ErrorCode::kBadValue,
                "Enumeration value '" + std::string(value.as_string()) +
                    "' for field '$merge.whenNotMatched' is not a valid value.");
  }

  Status check_modes() const {
    const bool inserts_only = options_.when_matched == WhenMatched::kFail ||
                              options_.when_matched == WhenMatched::kKeepExisting;
    if (!inserts_only || options_.when_not_matched == WhenNotMatched::kInsert) return {};
    return fail(ErrorCode{51181},
                "Combination of $merge modes 'whenMatched: " +
                    name_of(kWhenMatched, options_.when_matched) + "' and 'whenNotMatched: " +
                    name_of(kWhenNotMatched, options_.when_not_matched) + "' is not supported");
  }

  // Parses the pipeline of whenMatched. Its variable $$new is the document of the input. The
  // variable is not declared if `let` is given and unmatched documents are not inserted.
  Status parse_pipeline() {
    const Value root("$$ROOT");
    std::vector<std::pair<std::string, ValueView>> let;
    bool has_new = false;
    for (const bson::Element variable : let_.value_or(bson::View())) {
      if (variable.key == "new") {
        has_new = true;
        if (variable.value.type() != Type::kString || variable.value.as_string() != "$$ROOT") {
          return fail(ErrorCode{51273},
                      "'let' may not define a value for the reserved 'new' variable other than "
                      "'$$ROOT'");
        }
      }
      let.emplace_back(variable.key, variable.value);
    }
    if (!has_new && (!let_ || options_.when_not_matched == WhenNotMatched::kInsert)) {
      let.emplace_back("new", root.view());
    }
    for (const auto& [name, value] : let) {
      GM_ASSIGN(std::unique_ptr<Expression> expression, parse_expression(value, call_.scope));
      options_.variables.push_back({0, std::move(expression)});
    }
    size_t declared = 0;
    Status status;
    for (const auto& [name, value] : let) {
      const Result<size_t> slot = call_.scope.declare(name);
      if (!slot) {
        status = fail(slot.error());
        break;
      }
      options_.variables[declared++].slot = *slot;
    }
    if (status) {
      Result<UpdateStages> pipeline = UpdateStages::parse(pipeline_, call_.scope);
      if (pipeline) {
        options_.pipeline.emplace(*std::move(pipeline));
      } else {
        status = fail(std::move(pipeline).error());
      }
    }
    for (; declared > 0; --declared) call_.scope.undeclare();
    return status;
  }

  const StageCall& call_;
  MergeOptions options_;
  bool has_into_ = false;
  bson::View pipeline_;
  std::optional<bson::View> let_;
};

}  // namespace

Status parse_merge(const StageCall& call, ParsedStages& stages) {
  GM_ASSIGN(MergeOptions options, MergeParser(call).parse());
  stages.push_back(std::make_unique<MergeStage>(std::move(options)));
  return {};
}

}  // namespace gridmount::query
