// Goal: an invariant that does not hold ends the process, and the message names it. One that holds
// costs nothing but its condition. Method: death tests, of the assertion itself and of a rule of
// the store whose caller breaks it.
#include "engine/base/invariant.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <list>
#include <memory>
#include <string>

#include "engine/local/files/redo_file.h"

namespace gridmount {
namespace {

// A death test looks at stderr.
class Invariant : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  }
};

TEST_F(Invariant, Broken_EndsTheProcessAndIsNamed) {
  const int slots = 3;
  EXPECT_DEATH(GM_INVARIANT("D3", slots == 2, "slot " + std::to_string(slots)),
               "invariant D3 does not hold for slot 3: slots == 2 .*invariant_test.cc:[0-9]+");
}

TEST_F(Invariant, ThatHolds_EvaluatesNoText) {
  int evaluated = 0;
  const auto text = [&] { return std::to_string(++evaluated); };
  GM_INVARIANT("D3", evaluated == 0, text());
  GM_COSTLY_INVARIANT("D3", evaluated == 0, text());
  EXPECT_EQ(evaluated, 0);
}

TEST_F(Invariant, Costly_IsAssertedWithoutNdebugAlone) {
  int evaluated = 0;
  const auto condition = [&] { return ++evaluated > 0; };
  GM_COSTLY_INVARIANT("K1", condition(), "a key string");
#ifdef NDEBUG
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_EQ(evaluated, 1);
  EXPECT_DEATH(GM_COSTLY_INVARIANT("K1", evaluated == 0, "a key string"), "invariant K1");
#endif
}

// Nobody has reserved this place.
TEST_F(Invariant, RecordWithoutAPlaceInTheLog_IsNotWritten) {
  local::RedoFile file;
  std::list<local::RedoTransaction> transactions;
  transactions.push_back({7, {}});
  EXPECT_DEATH((void)file.append({}, transactions, /*syncs=*/true), "invariant D11");
}

}  // namespace
}  // namespace gridmount
