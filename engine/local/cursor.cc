#include "engine/local/cursor.h"

namespace gridmount::local {

Result<std::optional<bson::View>> FindCursor::next() {
  GM_ASSIGN(const std::optional<Match> match, matches_->next());
  if (!match) return std::optional<bson::View>();
  if (!projection_) return std::optional(match->document);
  GM_ASSIGN(projected_, projection_->apply(match->document));
  return std::optional(projected_.view());
}

}  // namespace gridmount::local
