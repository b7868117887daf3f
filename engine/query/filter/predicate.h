// How predicates are made: a ValueTest says whether one value fits, a PathPredicate applies it to
// what a path reaches in a document. Internal to this folder.
//
// Operators of a field are parsed to groups of tests by one function each; field_operators.cc has
// the table. Source of the traversal: MongoDB manual, "Query an Array", and the server's behaviour.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/filter/filter.h"

namespace gridmount::query {

class ValueTest {
 public:
  virtual ~ValueTest() = default;

  virtual bool test(bson::ValueView value, MatchContext& context) const = 0;
  // The same where an error is no match.
  bool test(bson::ValueView value) const;
  // For a document that has no value at the path.
  virtual bool test_missing() const { return false; }
  // Whether an array fits also if one of its elements does.
  virtual bool tests_elements() const { return true; }
  // For a test of whole arrays that looks for one element, and an array that fits: which it is.
  virtual std::optional<size_t> matching_element(bson::ValueView) const { return std::nullopt; }

  // As Predicate's.
  virtual Predicate::Kind kind() const { return Predicate::Kind::kOther; }
  virtual const bson::Value* operand() const { return nullptr; }
  virtual const std::vector<bson::ValueView>* operands() const { return nullptr; }
  virtual const std::vector<std::string>* literal_prefixes() const { return nullptr; }
  virtual std::string_view literal_prefix() const { return {}; }
};

class PathPredicate : public Predicate {
 public:
  PathPredicate(bson::Path path, std::unique_ptr<ValueTest> test)
      : path_(std::move(path)), test_(std::move(test)) {}

  bool test(bson::View document, MatchContext& context) const override;
  std::optional<size_t> matched_position(bson::View document) const override;
  Kind kind() const override { return test_->kind(); }
  const bson::Path& path() const override { return path_; }
  const bson::Value* operand() const override { return test_->operand(); }
  const std::vector<bson::ValueView>* operands() const override { return test_->operands(); }
  const std::vector<std::string>* literal_prefixes() const override {
    return test_->literal_prefixes();
  }
  std::string_view literal_prefix() const override { return test_->literal_prefix(); }

 private:
  bson::Path path_;
  std::unique_ptr<ValueTest> test_;
};

// A condition on the document itself.
class DocumentPredicate : public Predicate {
 public:
  Kind kind() const override { return Kind::kOther; }
  // Of a name that BSON cannot hold, so that it is no index's and no other condition's.
  const bson::Path& path() const override;
};

// What one operator asks: all of the tests and groups, or with `negated` not all of them.
struct TestGroup {
  std::vector<std::unique_ptr<ValueTest>> tests;
  std::vector<TestGroup> groups;
  bool negated = false;

  bool empty() const { return tests.empty() && groups.empty(); }

  // For one value, which is not searched if it is an array.
  bool test(bson::ValueView value, MatchContext& context) const;
};

inline TestGroup one_test(std::unique_ptr<ValueTest> test, bool negated = false) {
  TestGroup group;
  group.tests.push_back(std::move(test));
  group.negated = negated;
  return group;
}

// What a filter that is being parsed may still take.
class FilterMemory {
 public:
  // Of a condition, beside its values.
  static constexpr size_t kConditionBytes = 400;

  // To be called for each condition and value; asks the interruption as well.
  Status take(size_t bytes);
  // What the filter is to keep for as long as it lives; null for small ones.
  std::unique_ptr<FilterReservation> release();

 private:
  size_t left_ = kFilterBytesMax;
  std::unique_ptr<FilterReservation> reservation_;  // once it is no small one
};

// Where in a filter something stands.
struct FilterPosition {
  const FilterOptions& options;
  FilterMemory& memory;
  int depth = 0;  // of the tree
  bool in_subdocument =
      false;  // what is matched is an element of an array, not the user's document

  FilterPosition below() const { return {options, memory, depth + 1, in_subdocument}; }
};

// One element of an operator document: {$regex: ..., $options: ...}.
struct OperatorCall {
  std::string_view path;  // for messages
  std::string_view name;
  bson::ValueView operand;
  bson::View siblings;  // the whole operator document
  FilterPosition place;
};

using ParseOperator = Result<TestGroup> (*)(const OperatorCall& call);

struct OperatorEntry {
  std::string_view name;
  ParseOperator parse;
};

// Whether {path: value} holds operators ({$gt: 1}) and not a value to be equal to. {$ref: ..., $id:
// ...} is a value.
bool is_operator_document(bson::ValueView value);
// Whether the document has $ref, $id or $db, which $elemMatch takes for fields.
bool has_reference_field(bson::View document);

// The operators of a document instead of a field: {$expr: ...}. Null if the name is none of them or
// if it asks nothing ($comment); FilterParser knows $and, $or and $nor.
bool is_document_operator(std::string_view name);
Result<std::unique_ptr<Predicate>> parse_document_operator(const bson::Element& element,
                                                           const FilterPosition& place);
// {$expr: ...}.
Result<std::unique_ptr<Predicate>> parse_expression_predicate(const bson::Element& element,
                                                              const FilterPosition& place);

// Trees are read, matched and destroyed by recursion.
inline constexpr int kMaxFilterDepth = static_cast<int>(bson::kMaxDepth);
Status check_depth(int depth);

// As Filter::parse, somewhere in a tree.
Result<Filter> parse_filter(bson::View specification, const FilterPosition& place);

// The operators of {path: {$gt: 1, $lt: 5}}. BadValue for one that is not known.
Result<std::vector<TestGroup>> parse_operators(std::string_view path, bson::View operators,
                                               const FilterPosition& place);

// {path: value}: equality, or a regular expression.
Result<std::unique_ptr<ValueTest>> parse_implicit(bson::ValueView value, FilterMemory& memory);

// --- The operators, by family.
Result<std::unique_ptr<ValueTest>> parse_equality(bson::ValueView operand);
Result<TestGroup> parse_eq(const OperatorCall& call);
Result<TestGroup> parse_ne(const OperatorCall& call);
Result<TestGroup> parse_lt(const OperatorCall& call);
Result<TestGroup> parse_lte(const OperatorCall& call);
Result<TestGroup> parse_gt(const OperatorCall& call);
Result<TestGroup> parse_gte(const OperatorCall& call);
Result<TestGroup> parse_in(const OperatorCall& call);
Result<TestGroup> parse_nin(const OperatorCall& call);

// {$lte: operand} and its like, of a kind that compares.
std::unique_ptr<ValueTest> order_test(Predicate::Kind kind, bson::ValueView operand);

Result<TestGroup> parse_exists(const OperatorCall& call);
Result<TestGroup> parse_type(const OperatorCall& call);
// The types of an alias of $type, "number" for four of them. BadValue if it is none.
Status add_types(std::string_view alias, std::vector<bson::Type>& types);

Result<std::unique_ptr<ValueTest>> parse_regex_value(bson::ValueView regex, FilterMemory& memory);
Result<TestGroup> parse_regex(const OperatorCall& call);
Result<TestGroup> parse_options(const OperatorCall& call);
Result<TestGroup> parse_mod(const OperatorCall& call);

Result<TestGroup> parse_bits_all_set(const OperatorCall& call);
Result<TestGroup> parse_bits_any_set(const OperatorCall& call);
Result<TestGroup> parse_bits_all_clear(const OperatorCall& call);
Result<TestGroup> parse_bits_any_clear(const OperatorCall& call);

Result<TestGroup> parse_size(const OperatorCall& call);
Result<TestGroup> parse_all(const OperatorCall& call);
Result<TestGroup> parse_elem_match(const OperatorCall& call);

Result<TestGroup> parse_not(const OperatorCall& call);

// For operators that are known and not supported.
Result<TestGroup> refuse_geometry(const OperatorCall& call);
Result<TestGroup> refuse_nearness(const OperatorCall& call);

}  // namespace gridmount::query
