// Goal: updates given as pipelines do what MongoDB's manual says, and invalid ones are refused with
// MongoDB's codes.
// Method: tables.

#include <gtest/gtest.h>

#include "engine/bson/builder.h"
#include "engine/query/update/update.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

Result<Update> parse(const char* stages, const char* variables = "{}") {
  const bson::Document specification = parse_json("{'u': " + std::string(stages) + "}");
  const bson::Document values = parse_json(variables);
  UpdateParseOptions options;
  options.is_pipeline = true;
  options.variables = values;
  options.now = {1000};
  return Update::parse(specification.view()["u"].as_document(), options);
}

struct Case {
  const char* before;
  const char* stages;
  const char* after;
};

TEST(PipelineUpdateTest, Results) {
  const Case kCases[] = {
      {"{'_id': 1, 'a': 1}", "[]", "{'_id': 1, 'a': 1}"},
      {"{'_id': 1, 'a': 1, 'b': 2}", "[{'$set': {'c': {'$add': ['$a', '$b']}}}]",
       "{'_id': 1, 'a': 1, 'b': 2, 'c': 3}"},
      // Each stage sees the result of the one before. Within a stage all fields see the same input.
      {"{'_id': 1, 'a': 1}", "[{'$set': {'a': 2}}, {'$set': {'b': '$a'}}]",
       "{'_id': 1, 'a': 2, 'b': 2}"},
      {"{'_id': 1, 'a': 1, 'b': 2}", "[{'$set': {'a': '$b', 'b': '$a'}}]",
       "{'_id': 1, 'a': 2, 'b': 1}"},
      {"{'_id': 1, 'a': 1}", "[{'$addFields': {'b.c': '$a'}}]",
       "{'_id': 1, 'a': 1, 'b': {'c': 1}}"},
      {"{'_id': 1, 'a': [{'x': 1}, {'x': 2}]}", "[{'$set': {'a.y': 5}}]",
       "{'_id': 1, 'a': [{'x': 1, 'y': 5}, {'x': 2, 'y': 5}]}"},
      {"{'_id': 1, 'a': 1, 'b': 2}", "[{'$unset': 'a'}]", "{'_id': 1, 'b': 2}"},
      {"{'_id': 1, 'a': 1, 'b': {'c': 1, 'd': 2}}", "[{'$unset': ['a', 'b.c']}]",
       "{'_id': 1, 'b': {'d': 2}}"},
      {"{'_id': 1, 'a': 1, 'b': 2}", "[{'$project': {'b': 1}}]", "{'_id': 1, 'b': 2}"},
      {"{'_id': 1, 'a': 1, 'b': 2}", "[{'$project': {'b': 0}}]", "{'_id': 1, 'a': 1}"},
      // The _id stays if the stage does not mention it.
      {"{'_id': 1, 'a': 1, 'b': 2}", "[{'$project': {'_id': 0, 'b': 1}}]", "{'_id': 1, 'b': 2}"},
      {"{'_id': 1, 'a': {'b': 2}}", "[{'$replaceRoot': {'newRoot': '$a'}}]", "{'_id': 1, 'b': 2}"},
      {"{'_id': 1, 'a': {'b': 2}}", "[{'$replaceWith': {'$mergeObjects': ['$$ROOT', '$a']}}]",
       "{'_id': 1, 'a': {'b': 2}, 'b': 2}"},
      {"{'_id': 1, 'a': 1}", "[{'$set': {'_id': 1.0}}]", "{'_id': 1.0, 'a': 1}"},
      {"{'_id': 1, 'a': 1}", "[{'$set': {'a': '$$REMOVE'}}]", "{'_id': 1}"},
      {"{'_id': 1}", "[{'$set': {'t': '$$NOW'}}]",
       "{'_id': 1, 't': {'$date': {'$numberLong': '1000'}}}"},
      {"{'_id': 1, 'g': [90, 100]}",
       "[{'$set': {'avg': {'$trunc': [{'$avg': '$g'}, 0]}}}, {'$set': {'ok': {'$cond': [{'$gte': "
       "['$avg', 90]}, 'A', 'B']}}}]",
       "{'_id': 1, 'g': [90, 100], 'avg': 95.0, 'ok': 'A'}"},
  };
  for (const Case& c : kCases) {
    const Result<Update> update = parse(c.stages);
    ASSERT_TRUE(update) << c.stages << ": " << update.error().message();
    EXPECT_FALSE(update->is_replacement());
    EXPECT_FALSE(update->needs_match());
    const bson::Document before = parse_json(c.before);
    const Result<Update::Applied> applied = update->apply(before);
    ASSERT_TRUE(applied) << c.stages << ": " << applied.error().message();
    EXPECT_EQ(show(applied->document), show(parse_json(c.after))) << c.stages;
    EXPECT_EQ(applied->modified, show(before) != show(parse_json(c.after))) << c.stages;
  }
}

TEST(PipelineUpdateTest, Variables_HaveTheirValuesByName) {
  const Result<Update> update = parse(
      "[{'$set': {'a': '$$x', 'b': {'$let': {'vars': {'x': 5}, 'in': '$$x'}}}}, "
      "{'$set': {'c': {'$map': {'input': '$$list', 'in': {'$add': ['$$this', '$$x']}}}}}]",
      "{'x': {'$numberLong': '1'}, 'list': [1, 2], 'unused': null}");
  ASSERT_TRUE(update) << update.error().message();
  // The update is applied twice, to show that it keeps no state of a document.
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(show(update->apply(parse_json("{'_id': 1}"))->document),
              show(parse_json("{'_id': 1, 'a': 1, 'b': 5, 'c': [2, 3]}")));
  }
}

TEST(PipelineUpdateTest, Upserted) {
  const Case kCases[] = {
      {"{'_id': 7, 'a': 1}", "[{'$set': {'b': {'$add': ['$a', 1]}}}]",
       "{'_id': 7, 'a': 1, 'b': 2}"},
      {"{'_id': 7, 'a': {'$gt': 1}}", "[{'$set': {'b': {'$ifNull': ['$a', 0]}}}]",
       "{'_id': 7, 'b': 0}"},
      {"{'a': 1}", "[{'$replaceWith': {'_id': 3, 'x': '$a'}}]", "{'_id': 3, 'x': 1}"},
  };
  for (const Case& c : kCases) {
    const Result<Filter> filter = Filter::parse(parse_json(c.before));
    const Result<bson::Document> made = parse(c.stages)->upserted(*filter);
    ASSERT_TRUE(made) << c.stages << ": " << made.error().message();
    EXPECT_EQ(show(*made), show(parse_json(c.after))) << c.stages;
  }
}

struct Refusal {
  const char* stages;
  int code;
  const char* message;
};

void expect_refused(const char* input, const Refusal& refusal, const Error& error) {
  EXPECT_EQ(static_cast<int>(error.code()), refusal.code) << input;
  EXPECT_NE(error.message().find(refusal.message), std::string::npos)
      << input << ": " << error.message();
}

TEST(PipelineUpdateTest, RefusedWhenParsed) {
  const Refusal kRefusals[] = {
      {"[{'$match': {}}]", 72, "$match is not allowed to be used within an update"},
      {"[{'$set': {'a': 1}}, {'$group': {'_id': 1}}]", 72, "$group is not allowed"},
      {"[{'$out': 'x'}]", 72, "$out is not allowed"},
      {"[{'$lookup': {}}]", 72, "$lookup is not allowed"},
      {"[{'$x': 1}]", 40324, "Unrecognized pipeline stage name: '$x'"},
      {"[{'$set': {'a': 1}, '$unset': 'b'}]", 40323, "exactly one field"},
      {"[{}]", 40323, "exactly one field"},
      {"[5]", 14, "Each element of the 'pipeline' array must be an object"},
      {"[{'$set': 5}]", 40272, "$set specification stage must be an object, got int"},
      {"[{'$set': {'a': {'$x': 1}}}]", 168, "Unrecognized expression '$x'"},
      {"[{'$set': {'a': '$$x'}}]", 17276, "Use of undefined variable: x"},
      {"[{'$set': {'a': 1, 'a.b': 2}}]", 40176, "two conflicting paths"},
      {"[{'$unset': 5}]", 31002, "$unset specification must be a string or an array"},
  };
  for (const Refusal& refusal : kRefusals) {
    const Result<Update> update = parse(refusal.stages);
    ASSERT_FALSE(update) << refusal.stages;
    expect_refused(refusal.stages, refusal, update.error());
  }
  EXPECT_EQ(parse("[]", "{'X': 1}").error().code(), ErrorCode::kFailedToParse);
  UpdateParseOptions options;
  options.is_pipeline = true;
  const bson::Document filters = parse_json("{'0': {'i': 1}}");
  options.array_filters = filters;
  EXPECT_EQ(Update::parse(bson::View(), options).error().code(), ErrorCode::kFailedToParse);
}

TEST(PipelineUpdateTest, RefusedWhenApplied) {
  const Refusal kRefusals[] = {
      {"[{'$set': {'_id': 2}}]", 66, "the (immutable) field '_id'"},
      {"[{'$replaceWith': {'_id': 2}}]", 66, "the (immutable) field '_id'"},
      {"[{'$replaceWith': '$a'}]", 40228, "must evaluate to an object, but resulting value was: 1"},
      {"[{'$replaceRoot': {'newRoot': '$no'}}]", 40228, "resulting value was: MISSING"},
      {"[{'$set': {'a': {'$divide': [1, 0]}}}]", 2, "divide by zero"},
      {"[{'$set': {'a': {'$add': ['$s', 1]}}}]", 14, "$add only supports numeric or date types"},
  };
  for (const Refusal& refusal : kRefusals) {
    const Result<Update> update = parse(refusal.stages);
    if (!update) {
      expect_refused(refusal.stages, refusal, update.error());
      continue;
    }
    const Result<Update::Applied> applied =
        update->apply(parse_json("{'_id': 1, 'a': 1, 's': 'x'}"));
    ASSERT_FALSE(applied) << refusal.stages;
    expect_refused(refusal.stages, refusal, applied.error());
  }
}

TEST(PipelineUpdateTest, DeeperThanDocumentsMayBe_IsRefused) {
  const Result<Update> deepen = parse("[{'$set': {'a': ['$a']}}]");
  Result<Update::Applied> applied = deepen->apply(parse_json("{'_id': 1, 'a': 1}"));
  int applications = 1;
  for (; applied && applications < 300; ++applications) applied = deepen->apply(applied->document);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code(), ErrorCode::kOverflow);
  // The last accepted document has 179 nested arrays.
  EXPECT_EQ(applications, 180);
}

TEST(PipelineUpdateTest, LargerThanDocumentsMayBe_IsRefused) {
  bson::Builder builder;
  builder.append("_id", int32_t{1}).append("a", std::string(9 << 20, 'x'));
  const bson::Document document = std::move(builder).finish();
  const Result<Update::Applied> applied = parse("[{'$set': {'b': '$a'}}]")->apply(document);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code(), ErrorCode::kUpdatedDocumentTooLarge);
  // Names that exist only between two stages do not matter.
  EXPECT_TRUE(parse("[{'$set': {'b': '$a'}}, {'$unset': 'b'}]")->apply(document));
}

}  // namespace
}  // namespace gridmount::query
