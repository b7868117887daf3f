#include "http/preconditions.h"

#include <optional>

#include "http/entity_tag.h"
#include "http/http_date.h"

namespace gridmount::http {

Verdict evaluate_conditions(const Request& request, const Validators& validators) {
  if (const auto match = request.field("If-Match")) {
    if (!has_tag(*match, validators.tag, TagComparison::kStrong)) return Verdict::kFailed;
  } else if (const auto unmodified = request.field("If-Unmodified-Since")) {
    const std::optional<int64_t> date = parse_http_date(*unmodified);
    if (date && validators.modified_seconds > *date) return Verdict::kFailed;
  }
  if (const auto none = request.field("If-None-Match")) {
    return has_tag(*none, validators.tag, TagComparison::kWeak) ? Verdict::kNotModified
                                                                : Verdict::kPerform;
  }
  if (const auto modified = request.field("If-Modified-Since")) {
    const std::optional<int64_t> date = parse_http_date(*modified);
    if (date && validators.modified_seconds <= *date) return Verdict::kNotModified;
  }
  return Verdict::kPerform;
}

bool may_change(const Request& request, const std::optional<Validators>& present) {
  if (const auto match = request.field("If-Match")) {
    if (!present || !has_tag(*match, present->tag, TagComparison::kStrong)) return false;
  } else if (const auto unmodified = request.field("If-Unmodified-Since"); unmodified && present) {
    const std::optional<int64_t> date = parse_http_date(*unmodified);
    if (date && present->modified_seconds > *date) return false;
  }
  const auto none = request.field("If-None-Match");
  return !none || !present || !has_tag(*none, present->tag, TagComparison::kWeak);
}

bool is_range_wanted(const Request& request, const Validators& validators) {
  const auto condition = request.field("If-Range");
  if (!condition) return true;
  return trimmed(*condition) != "*" && has_tag(*condition, validators.tag, TagComparison::kStrong);
}

}  // namespace gridmount::http
