// The classes of which predicates consist, and the parsers of operators. A ValueTest decides
// whether one value matches. A PathPredicate applies a ValueTest to the values at a path of a
// document. Internal to engine/query.
//
// For each field operator, one function parses the operand into TestGroups. field_operators.cc has
// the table of these functions. Source for the treatment of arrays: MongoDB manual, "Query an
// Array", and the server's behaviour.
//
// Thread-safety: parsed tests and predicates are immutable, so thread-safe. FilterMemory is not
// thread-safe.
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
  // Like test(value, context), but treats an error as no match.
  bool test(bson::ValueView value) const;
  // Returns whether a document without a value at the path matches.
  virtual bool test_missing() const { return false; }
  // Returns whether an array also matches if one of its elements matches.
  virtual bool tests_elements() const { return true; }
  // If the test searches an array for one element, returns the position of this element. The array
  // must match.
  virtual std::optional<size_t> matching_element(bson::ValueView) const { return std::nullopt; }

  // See Predicate.
  virtual Predicate::Kind kind() const { return Predicate::Kind::kOther; }
  virtual const bson::Value* operand() const { return nullptr; }
  virtual const std::vector<bson::ValueView>* operands() const { return nullptr; }
  virtual const std::vector<std::string>* literal_prefixes() const { return nullptr; }
  virtual std::string_view literal_prefix() const { return {}; }
  virtual bool is_collated() const { return false; }
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
  bool is_collated() const override { return test_->is_collated(); }

 private:
  bson::Path path_;
  std::unique_ptr<ValueTest> test_;
};

// A condition on the whole document.
class DocumentPredicate : public Predicate {
 public:
  Kind kind() const override { return Kind::kOther; }
  // Returns a path that no BSON document can have, so that it differs from the paths of indexes and
  // of other conditions.
  const bson::Path& path() const override;
};

// The conditions of one operator. A group matches if all its tests and groups match. A group with
// `negated` matches if at least one of its tests or groups does not match.
struct TestGroup {
  std::vector<std::unique_ptr<ValueTest>> tests;
  std::vector<TestGroup> groups;
  bool negated = false;

  bool empty() const { return tests.empty() && groups.empty(); }

  // Tests one value. Does not search an array.
  bool test(bson::ValueView value, MatchContext& context) const;
};

inline TestGroup one_test(std::unique_ptr<ValueTest> test, bool negated = false) {
  TestGroup group;
  group.tests.push_back(std::move(test));
  group.negated = negated;
  return group;
}

// The memory that is left for a filter while it is parsed.
class FilterMemory {
 public:
  // The bytes for a condition without its values.
  static constexpr size_t kConditionBytes = 400;

  // Must be called with the size of each condition and value. Fails with ExceededMemoryLimit (146)
  // if the filter needs too much memory, and as check_interruption() does.
  Status take(size_t bytes);
  // Returns the reservation that the filter must keep during its lifetime, or null for a small
  // filter.
  std::unique_ptr<FilterReservation> release();

 private:
  size_t left_ = kFilterBytesMax;
  std::unique_ptr<FilterReservation> reservation_;  // set when the filter is no longer small
};

// The position of a condition in a filter.
struct FilterPosition {
  const FilterOptions& options;
  FilterMemory& memory;
  int depth = 0;  // the depth in the tree of conditions
  // True if the condition is matched against an element of an array, and not against the user's
  // document.
  bool in_subdocument = false;

  FilterPosition below() const { return {options, memory, depth + 1, in_subdocument}; }
};

// One element of an operator document, such as $regex in {$regex: ..., $options: ...}.
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

// Returns whether the value in {path: value} has operators ({$gt: 1}). If not, the field must be
// equal to the value. {$ref: ..., $id: ...} has no operators.
bool is_operator_document(bson::ValueView value);
// Returns whether the name is an operator of a field ($gt), even if the operator is not supported.
bool is_field_operator(std::string_view name);
// Returns whether the name is $and, $or or $nor, whose operand is a list of filters.
bool is_logical_operator(std::string_view name);
// Returns whether the document has $ref, $id or $db, which $elemMatch treats as fields.
bool has_reference_field(bson::View document);

// Document operators replace a field name: {$expr: ...}. is_document_operator() returns whether the
// name is one of them, including $and, $or and $nor. parse_document_operator() returns null for
// $comment, which has no condition. It fails with BadValue for an unknown name, and for $and, $or
// and $nor, which FilterParser parses.
bool is_document_operator(std::string_view name);
Result<std::unique_ptr<Predicate>> parse_document_operator(const bson::Element& element,
                                                           const FilterPosition& place);
// Parses {$expr: ...}.
Result<std::unique_ptr<Predicate>> parse_expression_predicate(const bson::Element& element,
                                                              const FilterPosition& place);

// The limit for the depth of a filter. Filters are parsed, matched and destroyed recursively.
inline constexpr int kMaxFilterDepth = static_cast<int>(bson::kMaxDepth);
Status check_depth(int depth);

// Like Filter::parse(), but for a filter inside a larger one.
Result<Filter> parse_filter(bson::View specification, const FilterPosition& place);

// Parses the operators of {path: {$gt: 1, $lt: 5}}. Fails with BadValue for an unknown operator.
Result<std::vector<TestGroup>> parse_operators(std::string_view path, bson::View operators,
                                               const FilterPosition& place);

// Parses {path: value}, which is an equality or a regular expression.
Result<std::unique_ptr<ValueTest>> parse_implicit(bson::ValueView value,
                                                  const FilterPosition& place);

// --- The operators, by family.
Result<std::unique_ptr<ValueTest>> parse_equality(bson::ValueView operand,
                                                  const SharedCollator& collator);
Result<TestGroup> parse_eq(const OperatorCall& call);
Result<TestGroup> parse_ne(const OperatorCall& call);
Result<TestGroup> parse_lt(const OperatorCall& call);
Result<TestGroup> parse_lte(const OperatorCall& call);
Result<TestGroup> parse_gt(const OperatorCall& call);
Result<TestGroup> parse_gte(const OperatorCall& call);
Result<TestGroup> parse_in(const OperatorCall& call);
Result<TestGroup> parse_nin(const OperatorCall& call);

// Returns the test of {$lte: operand} and similar operators. `kind` is a comparison.
std::unique_ptr<ValueTest> order_test(Predicate::Kind kind, bson::ValueView operand,
                                      const SharedCollator& collator);

Result<TestGroup> parse_exists(const OperatorCall& call);
Result<TestGroup> parse_type(const OperatorCall& call);
// Adds the types of an alias of $type. The alias "number" means four types. Fails with BadValue for
// an unknown alias.
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

// The parsers of operators that are not supported. They fail with an error that says so.
Result<TestGroup> refuse_geometry(const OperatorCall& call);
Result<TestGroup> refuse_nearness(const OperatorCall& call);

}  // namespace gridmount::query
