// Goal: an endless evaluation can be interrupted, and its memory stays within the limit.
#include "engine/query/interruption.h"

#include <gtest/gtest.h>

#include "engine/bson/json.h"
#include "engine/query/expression/evaluation.h"
#include "tests/engine/query/expression_cases.h"

namespace gridmount::query {
namespace {

// Interrupts at the n-th check.
class CountdownInterruption final : public Interruption {
 public:
  explicit CountdownInterruption(int checks_until_end) : left_(checks_until_end) {}
  Status check() override {
    ++asked;
    if (--left_ > 0) return {};
    return fail(ErrorCode::kMaxTimeMsExpired, "enough");
  }
  int asked = 0;

 private:
  int left_;
};

std::string evaluate(const std::string& expression) {
  return evaluate_to_text(*parse_json("{'x': " + expression + "}").find("x"), bson::View());
}

// Returns an expression with a loop of a million rounds.
std::string rounds(const std::string& loop, const std::string& body) {
  return "{'" + loop + "': {'input': {'$range': [0, 1000000]}, " + body + "}}";
}

TEST(Interruption, EachLoop_Ends) {
  const std::string inner = rounds("$reduce", "'initialValue': 0, 'in': '$$this'");
  for (const std::string& expression :
       {rounds("$reduce", "'initialValue': 0, 'in': " + inner), rounds("$map", "'in': " + inner),
        rounds("$filter", "'cond': " + inner)}) {
    CountdownInterruption countdown(3);
    const InterruptionScope scope(countdown);
    EXPECT_EQ(evaluate(expression), "!50 enough") << expression;
    EXPECT_EQ(countdown.asked, 3);
  }
}

TEST(Interruption, ScopesAround_AreAskedToo) {
  CountdownInterruption outer(2);
  const InterruptionScope around(outer);
  const std::string loop = rounds("$reduce", "'initialValue': 0, 'in': '$$this'");
  {
    CountdownInterruption inner(1000);
    const InterruptionScope scope(inner);
    EXPECT_EQ(evaluate(loop), "!50 enough");
    EXPECT_EQ(inner.asked, 2);
  }
  CountdownInterruption inner(1);
  const InterruptionScope scope(inner);
  EXPECT_EQ(evaluate(loop), "!50 enough");
  EXPECT_EQ(outer.asked, 2);
}

TEST(Interruption, WithoutScope_NothingEnds) {
  EXPECT_EQ(evaluate(rounds("$reduce", "'initialValue': 0, 'in': '$$this'")),
            "{ '$numberInt' : '999999' }");
}

// A value that grows step by step needs a block of its own for each of its sizes.
TEST(ArenaTest, WhatGrows_TakesTheMemoryOfItsLastSize) {
  Arena arena(uint64_t{64} << 20);
  for (size_t bytes = 1000; bytes < size_t{8} << 20; bytes += 10'000) {
    const auto mark = expressions::ArenaAccess::mark(arena);
    ASSERT_TRUE(expressions::ArenaAccess::allocate(arena, 100));
    ASSERT_TRUE(expressions::ArenaAccess::allocate(arena, bytes));
    ASSERT_LT(expressions::ArenaAccess::capacity(arena), (uint64_t{4} << 20) + 2 * bytes);
    expressions::ArenaAccess::rewind(arena, mark);
  }
}

// Builds a long array whose last element is another such array, and so on. Each outer array is
// unfinished while the inner one is built.
TEST(ArenaTest, WhatIsBegun_CountsWithWhatIsWithin) {
  const auto nested = [](int depth) {
    std::string expression = "1";
    for (int i = 0; i < depth; ++i) {
      expression =
          "{'$map': {'input': {'$range': [0, 1000]}, 'in': {'$cond': [{'$lt': ['$$this', 999]}, '" +
          std::string(100, 'x') + "', " + expression + "]}}}";
    }
    return expression;
  };
  const auto evaluate_within = [](const std::string& text, uint64_t bytes) {
    VariableScope scope;
    const bson::Document document = parse_json("{'x': " + text + "}");
    const auto expression = parse_expression(*document.find("x"), scope);
    if (!expression) return expression.error().code();
    Arena arena(bytes);
    EvaluationContext context{bson::View(), {}, arena, kTestNow};
    const auto value = (*expression)->evaluate(context);
    return value ? ErrorCode{0} : value.error().code();
  };
  // One such array takes 120 KB.
  EXPECT_EQ(evaluate_within(nested(1), 400'000), ErrorCode{0});
  EXPECT_EQ(evaluate_within(nested(2), 600'000), ErrorCode{0});
  EXPECT_EQ(evaluate_within(nested(10), 600'000), ErrorCode{146});
  // After clear(), the evaluation's memory is not counted.
  VariableScope scope;
  const bson::Document document = parse_json("{'x': " + nested(2) + "}");
  const auto expression = parse_expression(*document.find("x"), scope);
  ASSERT_TRUE(expression);
  Arena arena(600'000);
  for (int i = 0; i < 5; ++i) {
    EvaluationContext context{bson::View(), {}, arena, kTestNow};
    EXPECT_TRUE((*expression)->evaluate(context));
    arena.clear();
    EXPECT_EQ(arena.bytes_left(), 600'000);
  }
}

}  // namespace
}  // namespace gridmount::query
