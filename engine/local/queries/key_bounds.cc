#include "engine/local/queries/key_bounds.h"

#include "engine/local/format/index_key_encoding.h"
#include "engine/local/format/index_key_spec.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/planner.h"

namespace gridmount::local {
namespace {

constexpr ErrorCode kNoHint{51173};
constexpr ErrorCode kOtherIndex{51174};
constexpr ErrorCode kMinNotBeforeMax{51175};

Result<std::optional<std::string>> encode(const IndexMetadata& index, bson::View limit,
                                          const query::Collator* collator) {
  if (limit.empty()) return std::optional<std::string>();
  std::string encoded;
  if (index.rules.text != nullptr) {
    return fail(kOtherIndex, "min and max cannot be keys of a text index");
  }
  const bool collated = !query::same_collation(index.rules.collator.get(), collator);
  auto field = limit.begin();
  for (const IndexPart& part : index.rules.parts) {
    if (field == limit.end() || (*field).key != part.path.dotted() ||
        (collated && query::depends_on_strings((*field).value.type()))) {
      return fail(kOtherIndex, "The index chosen is not compatible with min/max");
    }
    append_part(encoded, part, (*field).value);
    ++field;
  }
  if (field != limit.end()) {
    return fail(kOtherIndex, "The index chosen is not compatible with min/max");
  }
  if (is_truncated(encoded)) {
    return fail(ErrorCode::kBadValue,
                "min and max may have at most " + std::to_string(kEncodedBytesMax) +
                    " bytes as keys of the index '" + index.definition.name + "'");
  }
  return std::optional(std::move(encoded));
}

}  // namespace

Result<LimitedPlan> limited_plan(const CollectionMetadata& metadata, bson::View min, bson::View max,
                                 const std::optional<bson::Value>& hint, const query::Sort* sort,
                                 const query::Collator* collator) {
  const auto no_hint = [] {
    return fail(kNoHint, "When using min()/max() a hint of which index to use must be provided");
  };
  if (!hint) return no_hint();
  GM_ASSIGN(const query::Filter everything, query::Filter::parse(bson::View()));
  GM_ASSIGN(query::Plan plan, query::make_plan(everything, sort, metadata.definitions,
                                               metadata.multikey, hint, collator));
  if (plan.kind != query::Plan::Kind::kIndexScan) return no_hint();
  // The filter of the query is not part of the bounds.
  plan.bounds_are_exact = false;
  LimitedPlan limited{std::move(plan), {}};
  const IndexMetadata& index = metadata.indexes[limited.plan.index];
  GM_ASSIGN(limited.limits.low, encode(index, min, collator));
  GM_ASSIGN(limited.limits.high, encode(index, max, collator));
  const KeyBounds& limits = limited.limits;
  if (limits.low && limits.high && *limits.low >= *limits.high) {
    return fail(kMinNotBeforeMax,
                "The value provided for min() does not come before the value provided for max()");
  }
  return limited;
}

}  // namespace gridmount::local
