// The operators of a field: {path: {$gt: 1, ...}}.

#include "engine/query/predicate.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr OperatorEntry kOperators[] = {
    {"$eq", parse_eq},         {"$ne", parse_ne},
    {"$gt", parse_gt},         {"$gte", parse_gte},
    {"$lt", parse_lt},         {"$lte", parse_lte},
    {"$in", parse_in},         {"$nin", parse_nin},
    {"$exists", parse_exists}, {"$type", parse_type},
    {"$regex", parse_regex},   {"$options", parse_options},
    {"$mod", parse_mod},       {"$size", parse_size},
    {"$all", parse_all},       {"$elemMatch", parse_elem_match},
    {"$not", parse_not},
};

}  // namespace

bool is_operator_document(ValueView value) {
  if (value.type() != Type::kDocument) return false;
  const bson::View document = value.as_document();
  if (document.empty()) return false;
  const std::string_view first = (*document.begin()).key;
  return first.starts_with('$') && first != "$ref" && first != "$id" && first != "$db";
}

Status check_depth(int depth) {
  if (depth <= kMaxFilterDepth) return {};
  return fail(ErrorCode::kBadValue,
              "exceeded maximum query tree depth of " + std::to_string(kMaxFilterDepth));
}

Result<std::vector<TestGroup>> parse_operators(std::string_view path, bson::View operators,
                                               int depth) {
  GM_TRY(check_depth(depth));
  std::vector<TestGroup> groups;
  for (const bson::Element element : operators) {
    const OperatorEntry* found = nullptr;
    for (const OperatorEntry& entry : kOperators) {
      if (entry.name == element.key) found = &entry;
    }
    if (found == nullptr) {
      return fail(ErrorCode::kBadValue, "unknown operator: " + std::string(element.key));
    }
    GM_ASSIGN(TestGroup group, found->parse({path, element.key, element.value, operators, depth}));
    if (!group.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

Result<std::unique_ptr<ValueTest>> parse_implicit(std::string_view path, ValueView value) {
  return value.type() == Type::kRegex ? parse_regex_value(value) : parse_equality(path, value);
}

Result<TestGroup> parse_not(const OperatorCall& call) {
  if (call.operand.type() == Type::kRegex) {
    GM_ASSIGN(std::unique_ptr<ValueTest> test, parse_regex_value(call.operand));
    return one_test(std::move(test), true);
  }
  if (call.operand.type() != Type::kDocument) {
    return fail(ErrorCode::kBadValue, "$not needs a regex or a document");
  }
  if (call.operand.as_document().empty()) {
    return fail(ErrorCode::kBadValue, "$not cannot be empty");
  }
  if (!is_operator_document(call.operand)) {
    return fail(ErrorCode::kBadValue,
                "unknown operator: " + std::string((*call.operand.as_document().begin()).key));
  }
  GM_ASSIGN(std::vector<TestGroup> groups,
            parse_operators(call.path, call.operand.as_document(), call.depth + 1));
  if (groups.size() == 1) {
    groups[0].negated = !groups[0].negated;
    return std::move(groups[0]);
  }
  TestGroup group;
  group.groups = std::move(groups);
  group.negated = true;
  return group;
}

}  // namespace gridmount::query
