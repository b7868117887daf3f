#include "engine/local/validation.h"

#include "engine/base/log.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/query/interruption.h"

namespace gridmount::local {

namespace {

// Servers write at most this much of a document into a line of their log.
constexpr size_t kLoggedBytesMax = 10 * 1024;

std::string logged(bson::View document) {
  std::string text = bson::to_json(document, bson::JsonForm::kRelaxed);
  if (text.size() > kLoggedBytesMax) text = text.substr(0, kLoggedBytesMax) + "...";
  return text;
}

}  // namespace

Status validate(const CollectionMetadata& metadata, std::optional<bson::View> before,
                bson::View after) {
  const Result<bool> is_valid = metadata.validator->evaluate(after);
  if (is_valid.value_or(false)) return {};
  // If the match was interrupted, its result means nothing.
  if (!is_valid) GM_TRY(query::check_interruption_now());
  // With the level `moderate`, a document that was invalid before may stay invalid.
  if (before && metadata.settings.level == engine::CollectionOptions::ValidationLevel::kModerate) {
    const Result<bool> was_valid = metadata.validator->evaluate(*before);
    if (!was_valid) GM_TRY(query::check_interruption_now());
    if (!was_valid.value_or(false)) return {};
  }
  const std::optional<bson::ValueView> id = after.find("_id");
  if (metadata.settings.action == engine::CollectionOptions::ValidationAction::kWarn) {
    log::warn("{}: stored a document that fails validation: {}", metadata.ns.full(), logged(after));
    return {};
  }
  bson::Builder details;
  details.open_document("errInfo");
  if (id) details.append("failingDocumentId", *id);
  details.append("details", metadata.validator->explain_failure(after));
  details.close();
  return fail(Error(ErrorCode::kDocumentValidationFailure, "Document failed validation")
                  .with_details(std::move(details).finish().release()));
}

}  // namespace gridmount::local
