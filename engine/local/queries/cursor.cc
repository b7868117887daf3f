#include "engine/local/queries/cursor.h"

#include "engine/bson/builder.h"
#include "engine/local/format/index_key_encoding.h"

namespace gridmount::local {

void FindCursor::set_returns_keys(std::shared_ptr<const CollectionMetadata> metadata,
                                  const IndexMetadata* index) {
  returns_keys_ = true;
  metadata_ = std::move(metadata);
  index_ = index;
}

// Returns {path: value, ...}, with null for a missing field, and with the hash of a hashed field.
bson::Document FindCursor::key_of(bson::View document) const {
  bson::Builder key;
  if (index_ == nullptr) return std::move(key).finish();
  for (const IndexPart& part : index_->rules.parts) {
    const std::optional<bson::ValueView> value = part.path.resolve(document);
    if (part.hashed) {
      std::string encoded;
      if (value) {
        bson::append_key_string(encoded, *value, false, part.collator.get());
      } else {
        append_encoded_missing(encoded, false);
      }
      key.append(part.path.dotted(), hash_of_encoded(encoded));
    } else if (value) {
      key.append(part.path.dotted(), *value);
    } else {
      key.append_null(part.path.dotted());
    }
  }
  return std::move(key).finish();
}

Result<std::optional<bson::View>> FindCursor::next() {
  GM_ASSIGN(const std::optional<Match> match, matches_->next());
  if (!match) return std::optional<bson::View>();
  text_score_ = match->text_score;
  if (returns_keys_) {
    made_ = key_of(match->document);
    return std::optional(made_.view());
  }
  bson::View document = match->document;
  if (projection_) {
    GM_ASSIGN(document, projection_->apply(document, text_score_));
  }
  if (!shows_record_ids_) return std::optional(document);
  bson::Builder with_id;
  with_id.append_all(document);
  with_id.append("$recordId", static_cast<int64_t>(match->id));
  made_ = std::move(with_id).finish();
  return std::optional(made_.view());
}

}  // namespace gridmount::local
