#include "engine/query/pipeline/document_transform.h"

#include <string>
#include <utility>

namespace gridmount::query {
namespace {

using ParseTransform = Result<std::unique_ptr<DocumentTransform>> (*)(const StageCall& call);

constexpr std::pair<std::string_view, ParseTransform> kTransforms[] = {
    {"$addFields", parse_add_fields},     {"$project", parse_project},
    {"$replaceRoot", parse_replace_root}, {"$replaceWith", parse_replace_with},
    {"$set", parse_add_fields},           {"$unset", parse_unset},
};

}  // namespace

bool is_transform(std::string_view stage_name) {
  for (const auto& [name, parse] : kTransforms) {
    if (name == stage_name) return true;
  }
  return false;
}

Result<std::unique_ptr<DocumentTransform>> parse_transform(const StageCall& call) {
  for (const auto& [name, parse] : kTransforms) {
    if (name == call.name) return parse(call);
  }
  return fail(ErrorCode::kInternalError, std::string(call.name) + " does not change documents");
}

}  // namespace gridmount::query
