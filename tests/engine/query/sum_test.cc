// Goal: $sum, $avg and the standard deviations give what MongoDB 6.0 gives, digit by digit and type
// by type, wherever they are used.
// Method: a table of arrays with the server's results, and random arrays. $project, $group and an
// update compute the sums of each array.

#include <gtest/gtest.h>

#include <random>

#include "engine/bson/builder.h"
#include "engine/query/update/update.h"
#include "tests/engine/query/expression_cases.h"
#include "tests/engine/query/pipeline_run.h"

namespace gridmount::query {
namespace {

constexpr char kFields[] =
    "'s': {'$sum': '$a'}, 'a': {'$avg': '$a'}, 'p': {'$stdDevPop': '$a'}, 'q': {'$stdDevSamp': "
    "'$a'}";

std::string canonical(bson::View document) {
  return bson::to_json(document, bson::JsonForm::kCanonical);
}

class SumTest : public ::testing::Test {
 protected:
  // Returns {s, a, p, q}, the results of the four operators, for an array of numbers.
  std::string by_stages(const std::string& stages, const std::string& array) {
    storage_.set("c", "[{'_id': 1, 'a': " + array + "}]");
    const bson::Document parsed = PipelineRun::parse_stages(stages);
    const auto results = run_.run(parsed.view()["p"].as_document(), Pipeline::Input::kEverything);
    EXPECT_TRUE(results) << array;
    if (!results) return results.error().message();
    return canonical(results->front());
  }
  std::string by_project(const std::string& array) {
    return by_stages("[{'$project': {'_id': 0, " + std::string(kFields) + "}}]", array);
  }
  std::string by_group(const std::string& array) {
    return by_stages(
        "[{'$unwind': {'path': '$a', 'preserveNullAndEmptyArrays': true}}, {'$group': {'_id': 1, " +
            std::string(kFields) + "}}, {'$unset': '_id'}]",
        array);
  }
  std::string by_update(const std::string& array) {
    const bson::Document stages =
        PipelineRun::parse_stages("[{'$replaceWith': {" + std::string(kFields) + "}}]");
    UpdateParseOptions options;
    options.is_pipeline = true;
    const auto update = Update::parse(stages.view()["p"].as_document(), options);
    EXPECT_TRUE(update);
    const auto applied = update->apply(parse_json("{'a': " + array + "}"));
    EXPECT_TRUE(applied) << array;
    return canonical(applied->document);
  }

 private:
  FakePipelineStorage storage_;
  PipelineRun run_{storage_};
};

TEST_F(SumTest, Servers) {
  const std::pair<const char*, const char*> kCases[] = {
      {"[]", "[0, null, null, null]"},
      {"['x', null, true, {'b': 1}]", "[0, null, null, null]"},
      {"[5, 'x', 7]", "[12, 6.0, 1.0, 1.4142135623730951]"},
      {"[2147483647, 1]", "[L(2147483648), 1073741824.0, 1073741823.0, 1518500248.5738113]"},
      {"[-2147483648, -1]", "[L(-2147483649), -1073741824.5, 1073741823.5, 1518500249.2809181]"},
      {"[L(9223372036854775807), 1]",
       "[9.223372036854776e+18, 4.611686018427388e+18, 4.611686018427388e+18, "
       "6.521908912666392e+18]"},
      {"[L(9223372036854775807), 1, -1]",
       "[L(9223372036854775807), 3.0744573456182584e+18, 4.3479392751109274e+18, "
       "5.325116328314172e+18]"},
      {"[L(-9223372036854775808), L(-9223372036854775808)]",
       "[-1.8446744073709552e+19, -9.223372036854776e+18, 0.0, 0.0]"},
      {"[L(5), 1]", "[L(6), 3.0, 2.0, 2.8284271247461903]"},
      {"[0.1, 0.2, 0.3]", "[0.6, 0.19999999999999998, 0.08164965809277258, 0.09999999999999998]"},
      {"[1e+16, 1.0, 1.0]",
       "[1.0000000000000002e+16, 3333333333333334.0, 4714045207910317.0, 5773502691896257.0]"},
      {"[1e+300, 1, -1e+300]",
       "[0.0, 0.0, {'$numberDouble': 'Infinity'}, {'$numberDouble': 'Infinity'}]"},
      {"[L(9007199254740992), 1, 1.5]",
       "[9007199254740994.0, 3002399751580331.5, 4246034448350514.0, 5200308914369307.0]"},
      {"[L(9007199254740993), 0.5, L(9007199254740993)]",
       "[1.8014398509481984e+16, 6004799503160661.0, 4246034448350515.0, 5200308914369308.0]"},
      {"[1e+308, 1e+308, -1e+308]",
       "[{'$numberDouble': 'Infinity'}, {'$numberDouble': 'Infinity'}, {'$numberDouble': 'NaN'}, "
       "{'$numberDouble': 'NaN'}]"},
      {"[{'$numberDouble': 'Infinity'}, 1]",
       "[{'$numberDouble': 'Infinity'}, {'$numberDouble': 'Infinity'}, {'$numberDouble': 'NaN'}, "
       "{'$numberDouble': 'NaN'}]"},
      {"[{'$numberDouble': 'Infinity'}, {'$numberDouble': '-Infinity'}]",
       "[{'$numberDouble': 'NaN'}, {'$numberDouble': 'NaN'}, {'$numberDouble': 'NaN'}, "
       "{'$numberDouble': 'NaN'}]"},
      {"[{'$numberDouble': 'NaN'}, 1]",
       "[{'$numberDouble': 'NaN'}, {'$numberDouble': 'NaN'}, {'$numberDouble': 'NaN'}, "
       "{'$numberDouble': 'NaN'}]"},
      {"[-0.0]", "[0.0, 0.0, 0.0, null]"},
      {"[D(0.1), 0.2]",
       "[D(0.3000000000000000111022302462515654), D(0.1500000000000000055511151231257827), "
       "0.049999999999999996, 0.07071067811865475]"},
      {"[D(0.1), 1, L(2)]",
       "[D(3.1), D(1.033333333333333333333333333333333), 0.7760297817881876, 0.9504384952922168]"},
      {"[0.1, D(1.50), 0.2]",
       "[D(1.800000000000000016653345369377348), D(0.6000000000000000055511151231257827), "
       "0.6377042156569663, 0.7810249675906654]"},
      {"[D(1E+3), 1e-20]",
       "[D(1000.000000000000000000010000000000), D(500.000000000000000000005000000000), 500.0, "
       "707.1067811865476]"},
      {"[D(NaN), 1]", "[D(NaN), D(NaN), {'$numberDouble': 'NaN'}, {'$numberDouble': 'NaN'}]"},
      {"[D(Infinity), {'$numberDouble': '-Infinity'}]",
       "[D(NaN), D(NaN), {'$numberDouble': 'NaN'}, {'$numberDouble': 'NaN'}]"},
      {"[1e+22, 0.1, D(-0.00)]",
       "[D(10000000000000000000000.10000000000), D(3333333333333333333333.366666666667), "
       "4.7140452079103173e+21, 5.773502691896258e+21]"},
      {"[D(9.999999999999999999999999999999999E+6144), "
       "D(9.000000000000000000000000000000000E+6144)]",
       "[D(Infinity), D(Infinity), {'$numberDouble': 'NaN'}, {'$numberDouble': 'NaN'}]"},
      {"[3, 3.5, L(4), D(4.25)]", "[D(14.75), D(3.6875), 0.480071609241788, 0.5543389456520863]"},
  };
  for (const auto& [array, sums] : kCases) {
    const std::string given = with_short_forms(array);
    const bson::Document results = parse_json(with_short_forms("{'r': " + std::string(sums) + "}"));
    bson::Builder expected;
    const char* name = "sapq";
    for (const bson::Element result : results.view()["r"].as_document()) {
      expected.append(std::string(1, *name++), result.value);
    }
    const std::string shown = canonical(std::move(expected).finish());
    EXPECT_EQ(by_project(given), shown) << array;
    EXPECT_EQ(by_group(given), shown) << array;
    EXPECT_EQ(by_update(given), shown) << array;
  }
}

TEST_F(SumTest, EachPlace_GivesTheSame) {
  std::mt19937 random(20261126);
  const std::vector<std::string> kNumbers = {"0.1",
                                             "-7",
                                             "1e22",
                                             "1e300",
                                             "-1e300",
                                             "2147483647",
                                             "L(9223372036854775807)",
                                             "L(-9223372036854775808)",
                                             "D(0.1)",
                                             "D(-12.50)",
                                             "D(1E+30)",
                                             "3.25",
                                             "5e-324",
                                             "1e16",
                                             "{'$numberDouble': 'Infinity'}",
                                             "{'$numberDouble': 'NaN'}",
                                             "D(NaN)",
                                             "'x'",
                                             "null"};
  for (int i = 0; i < 500; ++i) {
    // The last five kinds are used rarely.
    const size_t kinds = random() % 8 == 0 ? kNumbers.size() : kNumbers.size() - 5;
    std::string array = "[";
    for (unsigned n = random() % 8; n > 0; --n) {
      array += (array.size() > 1 ? ", " : "") + kNumbers[random() % kinds];
    }
    array = with_short_forms(array + "]");
    const std::string projected = by_project(array);
    EXPECT_EQ(by_group(array), projected) << array;
    EXPECT_EQ(by_update(array), projected) << array;
  }
}

}  // namespace
}  // namespace gridmount::query
