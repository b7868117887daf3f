// $size, $all and $elemMatch. Source: MongoDB manual, "Array Query Operators".

#include <algorithm>
#include <limits>

#include "engine/query/filter/filter_number.h"
#include "engine/query/filter/predicate.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

class SizeTest : public ValueTest {
 public:
  explicit SizeTest(int64_t size) : size_(size) {}

  bool test(ValueView value, MatchContext&) const override {
    if (value.type() != Type::kArray) return false;
    const bson::View elements = value.as_document();
    return std::distance(elements.begin(), elements.end()) == size_;
  }
  bool tests_elements() const override { return false; }

 private:
  int64_t size_;
};

class NeverTest : public ValueTest {
 public:
  bool test(ValueView, MatchContext&) const override { return false; }
};

// {$elemMatch: ...}: some element of an array matches.
class ElementTest : public ValueTest {
 public:
  bool test(ValueView value, MatchContext& context) const override {
    return find(value, context).has_value();
  }
  bool tests_elements() const override { return false; }
  std::optional<size_t> matching_element(ValueView value) const override {
    MatchContext context;
    return find(value, context);
  }

 private:
  virtual bool fits(ValueView element, MatchContext& context) const = 0;

  std::optional<size_t> find(ValueView value, MatchContext& context) const {
    if (value.type() != Type::kArray) return std::nullopt;
    size_t position = 0;
    for (const bson::Element element : value.as_document()) {
      if (context.has_ended(element.value.size())) return std::nullopt;
      if (fits(element.value, context)) return position;
      ++position;
    }
    return std::nullopt;
  }
};

// {$elemMatch: {$gt: 1, $lt: 5}}: one element matches all operators.
class ElementValueTest : public ElementTest {
 public:
  explicit ElementValueTest(std::vector<TestGroup> groups) : groups_(std::move(groups)) {}

 private:
  bool fits(ValueView element, MatchContext& context) const override {
    return std::all_of(groups_.begin(), groups_.end(),
                       [&](const TestGroup& group) { return group.test(element, context); });
  }

  std::vector<TestGroup> groups_;
};

// {$elemMatch: {price: 5, amount: {$gt: 1}}}: one element is a document that matches the filter.
class ElementDocumentTest : public ElementTest {
 public:
  explicit ElementDocumentTest(Filter filter) : filter_(std::move(filter)) {}

 private:
  bool fits(ValueView element, MatchContext& context) const override {
    // An array within the array counts as a document whose field names are positions.
    return (element.type() == Type::kDocument || element.type() == Type::kArray) &&
           filter_.test(element.as_document(), context);
  }

  Filter filter_;
};

Result<std::unique_ptr<ValueTest>> parse_element_match(std::string_view path, ValueView operand,
                                                       const FilterPosition& parent) {
  if (operand.type() != Type::kDocument) {
    return fail(ErrorCode::kBadValue, "$elemMatch needs an Object");
  }
  const bson::View conditions = operand.as_document();
  const FilterPosition place{parent.options, parent.memory, parent.depth + 1, true};
  const std::string_view first = conditions.empty() ? "" : (*conditions.begin()).key;
  if (first.starts_with('$') && !is_document_operator(first) && !has_reference_field(conditions)) {
    GM_ASSIGN(std::vector<TestGroup> groups, parse_operators(path, conditions, place));
    return std::unique_ptr<ValueTest>(std::make_unique<ElementValueTest>(std::move(groups)));
  }
  GM_ASSIGN(Filter filter, parse_filter(conditions, place));
  return std::unique_ptr<ValueTest>(std::make_unique<ElementDocumentTest>(std::move(filter)));
}

}  // namespace

Result<TestGroup> parse_size(const OperatorCall& call) {
  Result<int64_t> size = non_negative_integer(call.name, call.operand);
  if (size && *size > std::numeric_limits<int32_t>::max()) {
    size = fail(ErrorCode::kBadValue,
                "Cannot represent in an int: " + show_operand(call.name, call.operand));
  }
  if (!size) {
    return fail(ErrorCode::kBadValue, "Failed to parse $size. " + size.error().message());
  }
  return one_test(std::make_unique<SizeTest>(*size));
}

Result<TestGroup> parse_elem_match(const OperatorCall& call) {
  GM_ASSIGN(std::unique_ptr<ValueTest> test,
            parse_element_match(call.path, call.operand, call.place));
  return one_test(std::move(test));
}

Result<TestGroup> parse_all(const OperatorCall& call) {
  if (call.operand.type() != Type::kArray) {
    return fail(ErrorCode::kBadValue, "$all needs an array");
  }
  TestGroup group;
  std::optional<bool> element_matches;
  for (const bson::Element element : call.operand.as_document()) {
    const bool is_element_match = element.value.type() == Type::kDocument &&
                                  !element.value.as_document().empty() &&
                                  (*element.value.as_document().begin()).key == "$elemMatch";
    if (element_matches.value_or(is_element_match) != is_element_match) {
      return fail(ErrorCode::kBadValue, "$all/$elemMatch has to be consistent");
    }
    element_matches = is_element_match;
    std::unique_ptr<ValueTest> test;
    if (is_element_match) {
      GM_ASSIGN(test, parse_element_match(call.path, (*element.value.as_document().begin()).value,
                                          call.place));
    } else if (is_operator_document(element.value) &&
               is_field_operator((*element.value.as_document().begin()).key)) {
      return fail(ErrorCode::kBadValue, "no $ expressions in $all");
    } else {
      GM_TRY(call.place.memory.take(FilterMemory::kConditionBytes + element.value.size()));
      GM_ASSIGN(test, parse_implicit(element.value, call.place));
    }
    group.tests.push_back(std::move(test));
  }
  if (group.tests.empty()) group.tests.push_back(std::make_unique<NeverTest>());
  return group;
}

}  // namespace gridmount::query
