// $regex with $options, and $mod. Source: MongoDB manual, "Evaluation Query Operators".

#include <cmath>

#include "engine/query/decimal_arithmetic.h"
#include "engine/query/filter/predicate.h"
#include "engine/query/regex.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

class RegexTest : public ValueTest {
 public:
  explicit RegexTest(Regex regex) : regex_(std::move(regex)) {}

  bool test(ValueView value, MatchContext& context) const override {
    switch (value.type()) {
      case Type::kString:
      case Type::kSymbol:
        return matches(value.as_string(), context);
      case Type::kRegex: {
        // A stored regular expression matches itself.
        const bson::Regex stored = value.as_regex();
        return stored.pattern == regex_.pattern() && stored.options == regex_.options();
      }
      default:
        return false;
    }
  }
  Predicate::Kind kind() const override { return Predicate::Kind::kRegex; }
  std::string_view literal_prefix() const override { return regex_.literal_prefix(); }

 private:
  bool matches(std::string_view text, MatchContext& context) const {
    Result<bool> matches = regex_.try_match(text);
    if (matches) return *matches;
    context.fail(std::move(matches).error());
    // The result true ends the search for a value that matches.
    return true;
  }

  Regex regex_;
};

// Returns the number truncated towards zero, as on servers. Returns nullopt for NaN and for a
// number out of range.
std::optional<int64_t> truncated(ValueView value) {
  if (const std::optional<int64_t> integer = value.integral()) return integer;
  if (value.type() == Type::kDecimal128) return cut_decimal_to_int64(value.as_decimal128());
  const std::optional<double> number = value.number();
  if (!number || !(*number >= -0x1p63 && *number < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(*number);
}

class ModTest : public ValueTest {
 public:
  ModTest(int64_t divisor, int64_t remainder) : divisor_(divisor), remainder_(remainder) {}

  bool test(ValueView value, MatchContext&) const override {
    const std::optional<int64_t> number = truncated(value);
    if (!number) return false;
    // The quotient of the least int64 and -1 overflows.
    return (divisor_ == -1 ? 0 : *number % divisor_) == remainder_;
  }

 private:
  int64_t divisor_;
  int64_t remainder_;
};

Result<std::unique_ptr<ValueTest>> make_regex(std::string_view pattern, std::string_view options,
                                              FilterMemory& memory) {
  GM_ASSIGN(Regex regex, Regex::compile(pattern, options));
  GM_TRY(memory.take(sizeof(RegexTest) + regex.bytes()));
  return std::unique_ptr<ValueTest>(std::make_unique<RegexTest>(std::move(regex)));
}

}  // namespace

Result<std::unique_ptr<ValueTest>> parse_regex_value(ValueView value, FilterMemory& memory) {
  const bson::Regex regex = value.as_regex();
  return make_regex(regex.pattern, regex.options, memory);
}

Result<TestGroup> parse_regex(const OperatorCall& call) {
  std::string_view pattern;
  std::string_view options;
  if (call.operand.type() == Type::kRegex) {
    pattern = call.operand.as_regex().pattern;
    options = call.operand.as_regex().options;
  } else if (call.operand.type() == Type::kString) {
    pattern = call.operand.as_string();
    if (pattern.find('\0') != std::string_view::npos) {
      return fail(ErrorCode::kBadValue, "Regular expression cannot contain an embedded null byte");
    }
  } else {
    return fail(ErrorCode::kBadValue, "$regex has to be a string");
  }
  if (const std::optional<ValueView> given = call.siblings.find("$options")) {
    if (given->type() != Type::kString) {
      return fail(ErrorCode::kBadValue, "$options has to be a string");
    }
    if (!options.empty()) {
      const bool options_first = (*call.siblings.begin()).key == "$options";
      const ErrorCode options_in_both{options_first ? 51074 : 51075};
      return fail(options_in_both, "options set in both $regex and $options");
    }
    options = given->as_string();
  }
  GM_ASSIGN(std::unique_ptr<ValueTest> test, make_regex(pattern, options, call.place.memory));
  return one_test(std::move(test));
}

Result<TestGroup> parse_options(const OperatorCall& call) {
  if (!call.siblings.find("$regex")) {
    return fail(ErrorCode::kBadValue, "$options needs a $regex");
  }
  return TestGroup();  // parse_regex() reads the options
}

Result<TestGroup> parse_mod(const OperatorCall& call) {
  const auto refuse = [](std::string_view why) {
    return fail(ErrorCode::kBadValue, "malformed mod, " + std::string(why));
  };
  if (call.operand.type() != Type::kArray) return refuse("needs to be an array");
  std::vector<int64_t> numbers;
  for (const bson::Element element : call.operand.as_document()) {
    const std::string name = numbers.empty() ? "divisor" : "remainder";
    if (numbers.size() == 2) return refuse("too many elements");
    if (!element.value.is_number()) return refuse(name + " not a number");
    const std::optional<int64_t> number = truncated(element.value);
    if (!number) {
      return refuse(name + " value is invalid :: caused by :: " +
                    (std::isfinite(element.value.number().value_or(0))
                         ? "Out of bounds coercing to integral value"
                         : "Unable to coerce NaN/Inf to integral type"));
    }
    numbers.push_back(*number);
  }
  if (numbers.size() < 2) return refuse("not enough elements");
  if (numbers[0] == 0) return fail(ErrorCode::kBadValue, "divisor cannot be 0");
  return one_test(std::make_unique<ModTest>(numbers[0], numbers[1]));
}

}  // namespace gridmount::query
