#include "engine/local/validation.h"

#include <spdlog/spdlog.h>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace gridmount::local {

Status validate(const CollectionEntry& entry, std::optional<bson::View> before, bson::View after) {
  using Options = engine::CollectionOptions;
  if (entry.validator->matches(after)) return {};
  // What was invalid before may stay so.
  if (before && entry.settings.level == Options::ValidationLevel::kModerate &&
      !entry.validator->matches(*before)) {
    return {};
  }
  const std::optional<bson::ValueView> id = after.find("_id");
  if (entry.settings.action == Options::ValidationAction::kWarn) {
    spdlog::warn("{}: the document with _id {} fails validation and is stored all the same",
                 entry.ns.full(),
                 id ? bson::to_json(*id, bson::JsonForm::kRelaxed) : std::string("(none)"));
    return {};
  }
  bson::Builder details;
  details.open_document("errInfo");
  if (id) details.append("failingDocumentId", *id);
  details.close();
  return fail(
      Error(ErrorCode::kDocumentValidationFailure, entry.ns.full() + ": Document failed validation")
          .with_details(std::move(details).finish().release()));
}

}  // namespace gridmount::local
