// $eq, $ne, $lt, $lte, $gt, $gte, $in, $nin. Source: MongoDB manual, "Comparison Query Operators",
// including type bracketing: a condition matches only values of the type of its operand. But null
// also stands for undefined and missing values, and comparisons with MinKey and MaxKey match values
// of all types.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/bson/compare.h"
#include "engine/query/filter/predicate.h"
#include "engine/query/interruptible_sort.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

bool is_nan(ValueView value) {
  const std::optional<double> number = value.number();
  return number && std::isnan(*number);
}

Status check_operand(ValueView operand) {
  if (operand.type() != Type::kUndefined) return {};
  return fail(ErrorCode::kBadValue, "cannot compare to undefined");
}

class EqualTest : public ValueTest {
 public:
  EqualTest(ValueView operand, const SharedCollator& collator)
      : operand_(operand), collator_(depends_on_strings(operand.type()) ? collator : nullptr) {}

  bool test(ValueView value, MatchContext&) const override {
    const ValueView operand = operand_;
    if (value.type() == operand.type()) {
      if (value.size() == operand.size() &&
          (value.size() == 0 || std::memcmp(value.data(), operand.data(), value.size()) == 0)) {
        return true;
      }
      if (collator_ == nullptr &&
          (value.type() == Type::kString || value.type() == Type::kObjectId)) {
        return false;
      }
    }
    if (bson::is_nullish(operand.type())) return bson::is_nullish(value.type());
    return bson::compare(value, operand, collator_.get()) == 0;
  }
  bool test_missing() const override { return bson::is_nullish(operand_.type()); }
  Predicate::Kind kind() const override { return Predicate::Kind::kEqual; }
  const Value* operand() const override { return &operand_; }
  bool is_collated() const override { return collator_ != nullptr; }

 private:
  Value operand_;
  SharedCollator collator_;  // null if it does not matter for the operand
};

class OrderTest : public ValueTest {
 public:
  OrderTest(Predicate::Kind kind, ValueView operand, const SharedCollator& collator)
      : kind_(kind),
        operand_(operand),
        collator_(depends_on_strings(operand.type()) ? collator : nullptr),
        order_(bson::canonical_order(operand.type())),
        nan_(is_nan(operand)),
        all_below_(operand.type() == Type::kMaxKey && is_less()),
        all_above_(operand.type() == Type::kMinKey && !is_less()) {}

  bool test(ValueView value, MatchContext&) const override {
    if (bson::is_nullish(operand_.type())) return or_equal() && bson::is_nullish(value.type());
    if (bson::canonical_order(value.type()) != order_) return all_below_ || all_above_;
    // NaN is neither less nor greater than any number.
    const bool value_is_nan = is_nan(value);
    if (nan_ || value_is_nan) return or_equal() && nan_ && value_is_nan;
    const std::weak_ordering order = bson::compare(value, operand_, collator_.get());
    if (order == 0) return or_equal();
    return is_less() ? order < 0 : order > 0;
  }
  // A missing value also lies between MinKey and MaxKey.
  bool test_missing() const override {
    return all_below_ || all_above_ || (or_equal() && bson::is_nullish(operand_.type()));
  }
  Predicate::Kind kind() const override { return kind_; }
  const Value* operand() const override { return &operand_; }
  bool is_collated() const override { return collator_ != nullptr; }

 private:
  bool or_equal() const {
    return kind_ == Predicate::Kind::kLessEqual || kind_ == Predicate::Kind::kGreaterEqual;
  }
  bool is_less() const {
    return kind_ == Predicate::Kind::kLess || kind_ == Predicate::Kind::kLessEqual;
  }

  Predicate::Kind kind_;
  Value operand_;
  SharedCollator collator_;  // null if it does not matter for the operand
  int order_;
  bool nan_;
  bool all_below_;  // less than MaxKey: matches values of every other type
  bool all_above_;  // greater than MinKey: the same
};

// Sorted unique values in one block of memory, because a list may have a million values.
class ValueList {
 public:
  static Result<ValueList> of(std::vector<ValueView> values, SharedCollator collator) {
    const IsBefore is_before{collator.get()};
    if (!std::is_sorted(values.begin(), values.end(), is_before)) {
      GM_TRY(sort_interruptibly(values, is_before));
    }
    const auto same = [&](ValueView a, ValueView b) {
      return bson::compare(a, b, collator.get()) == 0;
    };
    values.erase(std::unique(values.begin(), values.end(), same), values.end());
    ValueList list;
    list.collator_ = std::move(collator);
    size_t bytes = 0;
    for (const ValueView value : values) bytes += value.size();
    list.bytes_.reserve(bytes);
    list.values_.reserve(values.size());
    for (const ValueView value : values) {
      const uint8_t* const copy = list.bytes_.data() + list.bytes_.size();
      list.bytes_.insert(list.bytes_.end(), value.data(), value.data() + value.size());
      list.values_.emplace_back(value.type(), copy, value.size());
    }
    return list;
  }

  const std::vector<ValueView>& values() const { return values_; }
  bool holds(ValueView value) const {
    return std::binary_search(values_.begin(), values_.end(), value, IsBefore{collator_.get()});
  }
  bool is_collated() const {
    return collator_ != nullptr && std::ranges::any_of(values_, [](ValueView value) {
             return depends_on_strings(value.type());
           });
  }

 private:
  struct IsBefore {
    const bson::StringOrder* strings;
    bool operator()(ValueView a, ValueView b) const { return bson::compare(a, b, strings) < 0; }
  };

  SharedCollator collator_;
  std::vector<uint8_t> bytes_;
  std::vector<ValueView> values_;  // views of bytes_; still valid if the list is moved
};

class InTest : public ValueTest {
 public:
  InTest(ValueList values, std::vector<std::unique_ptr<ValueTest>> regexes)
      : values_(std::move(values)), regexes_(std::move(regexes)) {
    has_null_ = std::any_of(values_.values().begin(), values_.values().end(),
                            [](ValueView value) { return bson::is_nullish(value.type()); });
    for (const auto& regex : regexes_) prefixes_.emplace_back(regex->literal_prefix());
  }

  bool test(ValueView value, MatchContext& context) const override {
    if (has_null_ && bson::is_nullish(value.type())) return true;
    if (values_.holds(value)) return true;
    return std::any_of(regexes_.begin(), regexes_.end(), [&](const auto& regex) {
      return context.has_ended(value.size()) || regex->test(value, context);
    });
  }
  bool test_missing() const override { return has_null_; }
  Predicate::Kind kind() const override { return Predicate::Kind::kIn; }
  const std::vector<ValueView>* operands() const override { return &values_.values(); }
  const std::vector<std::string>* literal_prefixes() const override { return &prefixes_; }
  bool is_collated() const override { return values_.is_collated(); }

 private:
  const ValueList values_;
  const std::vector<std::unique_ptr<ValueTest>> regexes_;
  std::vector<std::string> prefixes_;  // the literal prefix of each regular expression
  bool has_null_ = false;
};

Result<TestGroup> parse_order(Predicate::Kind kind, const OperatorCall& call) {
  GM_TRY(check_operand(call.operand));
  if (call.operand.type() == Type::kRegex) {
    return fail(ErrorCode::kBadValue, "Can't have RegEx as arg to predicate over field '" +
                                          std::string(call.path) + "'.");
  }
  return one_test(order_test(kind, call.operand, call.place.options.collator));
}

Result<std::unique_ptr<ValueTest>> parse_in_list(const OperatorCall& call) {
  if (call.operand.type() != Type::kArray) {
    return fail(ErrorCode::kBadValue, std::string(call.name) + " needs an array");
  }
  std::vector<ValueView> values;
  std::vector<std::unique_ptr<ValueTest>> regexes;
  for (const bson::Element element : call.operand.as_document()) {
    GM_TRY(check_operand(element.value));
    if (is_operator_document(element.value)) {
      return fail(ErrorCode::kBadValue, "cannot nest $ under " + std::string(call.name));
    }
    if (element.value.type() == Type::kRegex) {
      GM_ASSIGN(std::unique_ptr<ValueTest> regex,
                parse_regex_value(element.value, call.place.memory));
      regexes.push_back(std::move(regex));
    } else {
      GM_TRY(call.place.memory.take(sizeof(ValueView) + element.value.size()));
      values.push_back(element.value);
    }
  }
  GM_ASSIGN(ValueList list, ValueList::of(std::move(values), call.place.options.collator));
  // A list of one value is an equality, also for upserts and the planner.
  if (list.values().size() == 1 && regexes.empty()) {
    return parse_equality(list.values()[0], call.place.options.collator);
  }
  if (list.values().empty() && regexes.size() == 1) return std::move(regexes[0]);
  return std::unique_ptr<ValueTest>(std::make_unique<InTest>(std::move(list), std::move(regexes)));
}

}  // namespace

std::unique_ptr<ValueTest> order_test(Predicate::Kind kind, ValueView operand,
                                      const SharedCollator& collator) {
  return std::make_unique<OrderTest>(kind, operand, collator);
}

Result<std::unique_ptr<ValueTest>> parse_equality(ValueView operand,
                                                  const SharedCollator& collator) {
  GM_TRY(check_operand(operand));
  return std::unique_ptr<ValueTest>(std::make_unique<EqualTest>(operand, collator));
}

Result<TestGroup> parse_eq(const OperatorCall& call) {
  GM_ASSIGN(std::unique_ptr<ValueTest> test,
            parse_equality(call.operand, call.place.options.collator));
  return one_test(std::move(test));
}

Result<TestGroup> parse_ne(const OperatorCall& call) {
  if (call.operand.type() == Type::kRegex) {
    return fail(ErrorCode::kBadValue, "Can't have regex as arg to $ne.");
  }
  GM_ASSIGN(std::unique_ptr<ValueTest> test,
            parse_equality(call.operand, call.place.options.collator));
  return one_test(std::move(test), true);
}

Result<TestGroup> parse_lt(const OperatorCall& call) {
  return parse_order(Predicate::Kind::kLess, call);
}

Result<TestGroup> parse_lte(const OperatorCall& call) {
  return parse_order(Predicate::Kind::kLessEqual, call);
}

Result<TestGroup> parse_gt(const OperatorCall& call) {
  return parse_order(Predicate::Kind::kGreater, call);
}

Result<TestGroup> parse_gte(const OperatorCall& call) {
  return parse_order(Predicate::Kind::kGreaterEqual, call);
}

Result<TestGroup> parse_in(const OperatorCall& call) {
  GM_ASSIGN(std::unique_ptr<ValueTest> test, parse_in_list(call));
  return one_test(std::move(test));
}

Result<TestGroup> parse_nin(const OperatorCall& call) {
  GM_ASSIGN(std::unique_ptr<ValueTest> test, parse_in_list(call));
  return one_test(std::move(test), true);
}

}  // namespace gridmount::query
