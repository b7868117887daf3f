// The table of operators of a field: {path: {$gt: 1, ...}}.

#include <algorithm>

#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr OperatorEntry kFieldOperators[] = {
    {"$eq", parse_eq},
    {"$ne", parse_ne},
    {"$gt", parse_gt},
    {"$gte", parse_gte},
    {"$lt", parse_lt},
    {"$lte", parse_lte},
    {"$in", parse_in},
    {"$nin", parse_nin},
    {"$exists", parse_exists},
    {"$type", parse_type},
    {"$regex", parse_regex},
    {"$options", parse_options},
    {"$mod", parse_mod},
    {"$size", parse_size},
    {"$all", parse_all},
    {"$elemMatch", parse_elem_match},
    {"$not", parse_not},
    {"$bitsAllSet", parse_bits_all_set},
    {"$bitsAnySet", parse_bits_any_set},
    {"$bitsAllClear", parse_bits_all_clear},
    {"$bitsAnyClear", parse_bits_any_clear},
    {"$geoWithin", refuse_geometry},
    {"$within", refuse_geometry},
    {"$geoIntersects", refuse_geometry},
    {"$near", refuse_nearness},
    {"$nearSphere", refuse_nearness},
    {"$geoNear", refuse_nearness},
};

}  // namespace

bool has_reference_field(bson::View document) {
  return std::any_of(document.begin(), document.end(), [](const bson::Element& element) {
    return bson::is_reference_field(element.key);
  });
}

bool is_operator_document(ValueView value) {
  if (value.type() != Type::kDocument) return false;
  const bson::View document = value.as_document();
  if (document.empty() || !(*document.begin()).key.starts_with('$')) return false;
  return !document.find("$ref") || !document.find("$id");
}

bool is_field_operator(std::string_view name) {
  return std::any_of(std::begin(kFieldOperators), std::end(kFieldOperators),
                     [&](const OperatorEntry& entry) { return entry.name == name; });
}

bool is_logical_operator(std::string_view name) {
  return name == "$and" || name == "$or" || name == "$nor";
}

Status check_depth(int depth) {
  if (depth <= kMaxFilterDepth) return {};
  return fail(ErrorCode::kBadValue,
              "exceeded maximum query tree depth of " + std::to_string(kMaxFilterDepth));
}

Result<std::vector<TestGroup>> parse_operators(std::string_view path, bson::View operators,
                                               const FilterPosition& place) {
  GM_TRY(check_depth(place.depth));
  std::vector<TestGroup> groups;
  for (const bson::Element element : operators) {
    const bool is_list = element.value.type() == Type::kArray;
    GM_TRY(place.memory.take(FilterMemory::kConditionBytes + path.size() +
                             (is_list ? 0 : element.value.size())));
    const OperatorEntry* found = nullptr;
    for (const OperatorEntry& entry : kFieldOperators) {
      if (entry.name == element.key) found = &entry;
    }
    if (found == nullptr) {
      if (element.key == "$where") {
        return fail(ErrorCode::kBadValue, "$where cannot be applied to a field");
      }
      return fail(ErrorCode::kBadValue, "unknown operator: " + std::string(element.key));
    }
    GM_ASSIGN(TestGroup group, found->parse({path, element.key, element.value, operators, place}));
    if (!group.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

Result<std::unique_ptr<ValueTest>> parse_implicit(ValueView value, const FilterPosition& place) {
  if (value.type() == Type::kRegex) return parse_regex_value(value, place.memory);
  return parse_equality(value, place.options.collator);
}

Result<TestGroup> parse_not(const OperatorCall& call) {
  if (call.operand.type() == Type::kRegex) {
    GM_ASSIGN(std::unique_ptr<ValueTest> test, parse_regex_value(call.operand, call.place.memory));
    return one_test(std::move(test), true);
  }
  if (call.operand.type() != Type::kDocument) {
    return fail(ErrorCode::kBadValue, "$not needs a regex or a document");
  }
  if (call.operand.as_document().empty()) {
    return fail(ErrorCode::kBadValue, "$not cannot be empty");
  }
  GM_ASSIGN(std::vector<TestGroup> groups,
            parse_operators(call.path, call.operand.as_document(), call.place.below()));
  // A double negation is kept, because servers report no position for it, and an upsert takes no
  // value from it.
  if (groups.size() == 1 && !groups[0].negated) {
    groups[0].negated = true;
    return std::move(groups[0]);
  }
  TestGroup group;
  group.groups = std::move(groups);
  group.negated = true;
  return group;
}

// On servers, these operators need a geospatial index. The message is the message of servers for a
// missing index.
Result<TestGroup> refuse_nearness(const OperatorCall& call) {
  constexpr ErrorCode kNoQueryExecutionPlans{291};
  return fail(kNoQueryExecutionPlans,
              "unable to find index for $geoNear query: " + std::string(call.name) +
                  " needs a geospatial index, and geospatial indexes are not supported");
}

Result<TestGroup> refuse_geometry(const OperatorCall& call) {
  return fail(ErrorCode::kCommandNotSupported,
              std::string(call.name) + " is not supported, like all geospatial queries");
}

}  // namespace gridmount::query
