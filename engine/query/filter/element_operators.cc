// $exists and $type. Source: MongoDB manual, "Element Query Operators".

#include <algorithm>
#include <cstdio>

#include "engine/bson/text.h"
#include "engine/query/expression/expression.h"
#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr Type kAllTypes[] = {
    Type::kDouble,    Type::kString,    Type::kDocument, Type::kArray,      Type::kBinary,
    Type::kUndefined, Type::kObjectId,  Type::kBool,     Type::kDate,       Type::kNull,
    Type::kRegex,     Type::kDbPointer, Type::kCode,     Type::kSymbol,     Type::kCodeWithScope,
    Type::kInt32,     Type::kTimestamp, Type::kInt64,    Type::kDecimal128, Type::kMaxKey,
    Type::kMinKey};

class ExistsTest : public ValueTest {
 public:
  bool test(ValueView, MatchContext&) const override { return true; }
  bool tests_elements() const override { return false; }
  Predicate::Kind kind() const override { return Predicate::Kind::kExists; }
};

class TypeTest : public ValueTest {
 public:
  explicit TypeTest(std::vector<Type> types) : types_(std::move(types)) {
    for (const Type type : types_) numbers_.emplace_back(static_cast<int32_t>(type));
    operands_.assign(numbers_.begin(), numbers_.end());
  }

  bool test(ValueView value, MatchContext&) const override {
    return std::find(types_.begin(), types_.end(), value.type()) != types_.end();
  }
  Predicate::Kind kind() const override { return Predicate::Kind::kType; }
  const std::vector<ValueView>* operands() const override { return &operands_; }

 private:
  std::vector<Type> types_;
  std::vector<bson::Value> numbers_;
  std::vector<ValueView> operands_;  // views of numbers_
};

// Returns the number with six digits, as servers show it: 1.5, 1.09951e+12, inf.
std::string shown_number(ValueView number) {
  char text[32];
  snprintf(text, sizeof text, "%g", number.number().value_or(0));
  return text;
}

Status add_type(ValueView name, std::vector<Type>& types) {
  if (name.type() == Type::kString) return add_types(name.as_string(), types);
  if (!name.is_number()) {
    return fail(ErrorCode::kTypeMismatch, "type must be represented as a number or a string");
  }
  const std::optional<int64_t> code = name.integral();
  for (const Type type : kAllTypes) {
    const int64_t expected = type == Type::kMinKey ? -1 : static_cast<int64_t>(type);
    if (code == expected) {
      types.push_back(type);
      return {};
    }
  }
  if (code == 0) {
    return fail(ErrorCode::kBadValue,
                "Invalid numerical type code: 0. Instead use {$exists:false}.");
  }
  return fail(ErrorCode::kBadValue, "Invalid numerical type code: " + shown_number(name));
}

}  // namespace

Status add_types(std::string_view alias, std::vector<Type>& types) {
  if (alias == "number") {
    types.insert(types.end(), {Type::kDouble, Type::kInt32, Type::kInt64, Type::kDecimal128});
    return {};
  }
  if (alias == "missing") {
    return fail(ErrorCode::kBadValue,
                "'missing' is not a legal type name. To query for non-existence of a field, use "
                "{$exists:false}.");
  }
  for (const Type type : kAllTypes) {
    if (bson::type_alias(type) == alias) {
      types.push_back(type);
      return {};
    }
  }
  return fail(ErrorCode::kBadValue, "Unknown type name alias: " + std::string(alias));
}

Result<TestGroup> parse_exists(const OperatorCall& call) {
  return one_test(std::make_unique<ExistsTest>(), !is_true(call.operand));
}

Result<TestGroup> parse_type(const OperatorCall& call) {
  std::vector<Type> types;
  if (call.operand.type() == Type::kArray) {
    for (const bson::Element element : call.operand.as_document()) {
      GM_TRY(add_type(element.value, types));
    }
    if (types.empty()) {
      return fail(ErrorCode::kFailedToParse,
                  std::string(call.path) + " must match at least one type");
    }
  } else {
    GM_TRY(add_type(call.operand, types));
  }
  return one_test(std::make_unique<TypeTest>(std::move(types)));
}

}  // namespace gridmount::query
