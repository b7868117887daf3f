#include "engine/wire/commands/api_version.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace gridmount::wire {
namespace {

using bson::Type;

constexpr std::array<std::string_view, 10> kUnstableFindFields = {
    "returnKey", "showRecordId",        "tailable", "oplogReplay", "noCursorTimeout",
    "awaitData", "allowPartialResults", "min",      "max",         "requestResumeToken"};

constexpr std::array<std::string_view, 6> kUnstableStages = {"$currentOp",         "$indexStats",
                                                             "$listLocalSessions", "$listSessions",
                                                             "$planCacheStats",    "$search"};

// The engine refuses pipelines that are nested deeper.
constexpr int kNestedPipelinesMax = 20;

template <typename Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Status check_coll_stats(bson::ValueView value) {
  if (value.type() != Type::kDocument) return {};
  for (const bson::Element option : value.as_document()) {
    if (option.key == "count") continue;
    return fail(ErrorCode::kApiStrictError,
                "only the 'count' option to $collStats is supported in API Version 1");
  }
  return {};
}

Status check_stages(bson::View stages, int depth);

Status check_nested(bson::ValueView value, int depth) {
  if (value.type() != Type::kArray) return {};
  return check_stages(value.as_document(), depth + 1);
}

Status check_stage(const bson::Element& stage, int depth) {
  if (is_one_of(kUnstableStages, stage.key)) {
    return fail(ErrorCode::kApiStrictError,
                std::string(stage.key) + " is not allowed with 'apiStrict: true' in API Version 1");
  }
  if (stage.key == "$collStats") return check_coll_stats(stage.value);
  if (stage.value.type() != Type::kDocument) return {};
  const bool is_facet = stage.key == "$facet";
  if (!is_facet && stage.key != "$lookup" && stage.key != "$unionWith") return {};
  for (const bson::Element field : stage.value.as_document()) {
    if (is_facet || field.key == "pipeline") GM_TRY(check_nested(field.value, depth));
  }
  return {};
}

Status check_stages(bson::View stages, int depth) {
  if (depth > kNestedPipelinesMax) return {};
  for (const bson::Element element : stages) {
    if (element.value.type() != Type::kDocument || element.value.as_document().empty()) continue;
    GM_TRY(check_stage(*element.value.as_document().begin(), depth));
  }
  return {};
}

}  // namespace

Status check_find_is_stable(bson::View command) {
  for (const bson::Element field : command) {
    if (!is_one_of(kUnstableFindFields, field.key)) continue;
    return fail(ErrorCode::kApiStrictError, "BSON field 'find." + std::string(field.key) +
                                                "' is not allowed with apiStrict:true.");
  }
  return {};
}

Status check_pipeline_is_stable(bson::View stages) {
  return check_stages(stages, 0);
}

}  // namespace gridmount::wire
