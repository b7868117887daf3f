// Goal: $out and $merge write what MongoDB's manual says.
// Method: tables of the target's contents before and after.

#include <gtest/gtest.h>

#include "tests/engine/query/pipeline_run.h"

namespace gridmount::query {
namespace {

class PipelineWriteTest : public testing::Test {
 protected:
  // Writes from c to t. Returns the contents of t, or "code: message".
  std::string written(const std::string& stages) {
    const bson::Document parsed = PipelineRun::parse_stages(stages);
    const Result<FakePipelineStorage::Documents> results =
        run.run(parsed.view()["p"].as_document(), Pipeline::Input::kEverything);
    if (!results) {
      return std::to_string(static_cast<int>(results.error().code())) + ": " +
             results.error().message();
    }
    EXPECT_TRUE(results->empty());
    return storage.shown("t");
  }

  struct Merge {
    const char* options;  // in addition to `into`
    const char* after;
  };
  void expect_merged(const char* source, const char* target, const std::vector<Merge>& merges) {
    for (const Merge& merge : merges) {
      storage.set("c", source);
      storage.set("t", target);
      const std::string shown =
          written("[{'$merge': {'into': 't'" + std::string(merge.options) + "}}]");
      if (merge.after[0] == '[') {
        EXPECT_EQ(shown, show_expected(merge.after)) << merge.options;
      } else {
        EXPECT_NE(shown.find(merge.after), std::string::npos) << merge.options << ": " << shown;
      }
    }
  }

  FakePipelineStorage storage;
  PipelineRun run{storage};
};

TEST_F(PipelineWriteTest, Out) {
  storage.set("c", "[{'_id': 1, 'a': 2}, {'_id': 2, 'a': 4}]");
  storage.set("t", "[{'_id': 9}]");
  EXPECT_EQ(written("[{'$match': {'a': 4}}, {'$out': 't'}]"),
            show_expected("[{'_id': 2, 'a': 4}]"));
  EXPECT_EQ(written("[{'$project': {'a': 1}}, {'$out': 't'}]"),
            show_expected("[{'_id': 1, 'a': 2}, {'_id': 2, 'a': 4}]"));
  // After an error the collection is unchanged.
  EXPECT_EQ(
      written("[{'$set': {'x': {'$divide': [1, {'$subtract': ['$_id', 2]}]}}}, {'$out': 't'}]")
          .substr(0, 2),
      "2:");
  EXPECT_EQ(storage.shown("t"), show_expected("[{'_id': 1, 'a': 2}, {'_id': 2, 'a': 4}]"));
  EXPECT_EQ(written("[{'$match': {'a': 9}}, {'$out': 't'}]"), "");
  written("[{'$out': {'db': 'other', 'coll': 't'}}]");
  EXPECT_EQ((storage.collections[{"other", "t"}].size()), 2U);
  VariableScope scope;
  const Result<Pipeline> pipeline =
      Pipeline::parse(parse_json("{'0': {'$lookup': {'from': 'f', 'pipeline': [{'$unionWith': "
                                 "'g'}], 'as': 'x'}}, '1': {'$out': 't'}}"),
                      scope);
  EXPECT_TRUE(pipeline->writes());
  EXPECT_EQ(pipeline->target(), (CollectionName{"", "t"}));
  EXPECT_EQ(pipeline->other_collections(), (std::set<CollectionName>{{"", "f"}, {"", "g"}}));
  EXPECT_EQ(
      Pipeline::parse(parse_json("{'0': {'$out': 't'}}"), scope, {true, false}).error().code(),
      ErrorCode::kIllegalOperation);
}

TEST_F(PipelineWriteTest, Out_Refused) {
  storage.set("c", "[]");
  expect_refused(
      run,
      {
          {"[{'$out': 5}]", 16990, "$out only supports a string or object argument, but found int"},
          {"[{'$out': {'coll': 't'}}]", 40414,
           "BSON field '$out.db' is missing but a required field"},
          {"[{'$out': {'db': 't'}}]", 40414,
           "BSON field '$out.coll' is missing but a required field"},
          {"[{'$out': {'db': 'd', 'coll': 't', 'x': 1}}]", 40415,
           "BSON field '$out.x' is an unknown field."},
          {"[{'$out': {'db': 5, 'coll': 't'}}]", 14,
           "BSON field '$out.db' is the wrong type 'int'"},
          {"[{'$out': ''}]", 73, "Invalid $out target namespace"},
          {"[{'$out': {'db': '', 'coll': 't'}}]", 73, "Invalid $out target namespace: '.t'"},
          {"[{'$out': 'a$b'}]", 73, "Invalid $out target namespace"},
          {"[{'$out': 'system.x'}]", 17385, "Cannot $out to special collection: system.x"},
          {"[{'$out': {'db': 'admin', 'coll': 't'}}]", 31321,
           "Cannot $out to internal database: admin"},
          {"[{'$out': 't'}, {'$match': {}}]", 40601,
           "$out can only be the final stage in the pipeline"},
          {"[{'$merge': 't'}, {'$out': 't'}]", 40601,
           "$merge can only be the final stage in the pipeline"},
      });
}

TEST_F(PipelineWriteTest, Merge_Modes) {
  const char* const kSource = "[{'_id': 1, 'a': 2, 'n': {'x': 1}}, {'_id': 2, 'a': 4}]";
  const char* const kTarget = "[{'_id': 2, 'a': 0, 'b': 1, 'n': {'y': 1}}, {'_id': 3}]";
  expect_merged(
      kSource, kTarget,
      {
          {"",
           "[{'_id': 2, 'a': 4, 'b': 1, 'n': {'y': 1}}, {'_id': 3}, {'_id': 1, 'a': 2, 'n': {'x': "
           "1}}]"},
          {", 'on': '_id', 'whenMatched': 'merge', 'whenNotMatched': 'insert'",
           "[{'_id': 2, 'a': 4, 'b': 1, 'n': {'y': 1}}, {'_id': 3}, {'_id': 1, 'a': 2, 'n': {'x': "
           "1}}]"},
          {", 'whenMatched': 'merge', 'whenNotMatched': 'discard'",
           "[{'_id': 2, 'a': 4, 'b': 1, 'n': {'y': 1}}, {'_id': 3}]"},
          {", 'whenMatched': 'replace'",
           "[{'_id': 2, 'a': 4}, {'_id': 3}, {'_id': 1, 'a': 2, 'n': {'x': 1}}]"},
          {", 'whenMatched': 'replace', 'whenNotMatched': 'discard'",
           "[{'_id': 2, 'a': 4}, {'_id': 3}]"},
          {", 'whenMatched': 'keepExisting'",
           "[{'_id': 2, 'a': 0, 'b': 1, 'n': {'y': 1}}, {'_id': 3}, {'_id': 1, 'a': 2, 'n': {'x': "
           "1}}]"},
          {", 'whenMatched': 'fail'", "11000: "},
          {", 'whenMatched': 'merge', 'whenNotMatched': 'fail'",
           "13113: $merge could not find a matching document in the target collection"},
          {", 'whenMatched': 'replace', 'whenNotMatched': 'fail'", "13113: "},
          {", 'whenMatched': [{'$set': {'a': {'$add': ['$a', '$$new.a']}, 'c': '$$new.n'}}]",
           "[{'_id': 2, 'a': 4, 'b': 1, 'n': {'y': 1}}, {'_id': 3}, {'_id': 1, 'a': 2, 'n': {'x': "
           "1}}]"},
          {", 'let': {'k': {'$add': ['$a', 1]}}, 'whenMatched': [{'$set': {'a': '$$k', 'o': "
           "'$$new.a'}}]",
           "[{'_id': 2, 'a': 5, 'b': 1, 'n': {'y': 1}, 'o': 4}, {'_id': 3}, {'_id': 1, 'a': 2, "
           "'n': {'x': 1}}]"},
          {", 'whenMatched': [{'$replaceWith': {'z': 1}}], 'whenNotMatched': 'discard'",
           "[{'_id': 2, 'z': 1}, {'_id': 3}]"},
          {", 'whenMatched': [], 'whenNotMatched': 'discard'",
           "[{'_id': 2, 'a': 0, 'b': 1, 'n': {'y': 1}}, {'_id': 3}]"},
          {", 'whenMatched': [{'$set': {'_id': 7}}]", "66: "},
      });
  storage.set("c", kSource);
  storage.set("t", "[]");
  EXPECT_EQ(written("[{'$merge': 't'}]"), storage.shown("c"));
  // A document without an _id gets one.
  storage.set("t", "[]");
  written("[{'$limit': 1}, {'$project': {'_id': 0, 'a': 1}}, {'$merge': 't'}]");
  EXPECT_EQ((storage.collections[{"", "t"}][0].find("_id")->type()), bson::Type::kObjectId);
}

TEST_F(PipelineWriteTest, Merge_OnOtherFields) {
  storage.unique = {{"k"}, {"k", "n.l"}};
  expect_merged(
      "[{'_id': 1, 'k': 'x', 'v': 1}, {'_id': 2, 'k': 'z', 'v': 2}]",
      "[{'_id': 7, 'k': 'x', 'w': 3}]",
      {
          // A different _id for the same key.
          {", 'on': 'k'", "66: "},
          {", 'on': 'k', 'whenMatched': 'replace'", "66: "},
          {", 'on': 'k', 'whenMatched': 'keepExisting'",
           "[{'_id': 7, 'k': 'x', 'w': 3}, {'_id': 2, 'k': 'z', 'v': 2}]"},
          {", 'on': ['k'], 'whenMatched': [{'$set': {'v': '$$new.v'}}]",
           "[{'_id': 7, 'k': 'x', 'w': 3, 'v': 1}, {'_id': 2, 'k': 'z', 'v': 2}]"},
          {", 'on': 'v'", "51183: Cannot find index to verify that join fields will be unique"},
          {", 'on': ['k', 'n.l']",
           "51132: $merge write error: 'on' field 'n.l' cannot be missing, null or undefined"},
      });
  storage.set("c", "[{'k': 'x', 'v': 1}]");
  storage.set("t", "[{'_id': 7, 'k': 'x', 'w': 3}]");
  EXPECT_EQ(written("[{'$merge': {'into': 't', 'on': 'k'}}]"),
            show_expected("[{'_id': 7, 'k': 'x', 'w': 3, 'v': 1}]"));
  EXPECT_EQ(written("[{'$merge': {'into': 't', 'on': 'k', 'whenMatched': 'replace'}}]"),
            show_expected("[{'_id': 7, 'k': 'x', 'v': 1}]"));
  storage.set("c", "[{'_id': 1, 'k': [1]}]");
  EXPECT_EQ(written("[{'$merge': {'into': 't', 'on': 'k'}}]"),
            "51185: $merge write error: 'on' field 'k' is an array");
}

TEST_F(PipelineWriteTest, Merge_Refused) {
  storage.set("c", "[]");
  expect_refused(
      run,
      {
          {"[{'$merge': 5}]", 14, "$merge requires a string or object argument, but found int"},
          {"[{'$merge': {}}]", 40414, "BSON field '$merge.into' is missing but a required field"},
          {"[{'$merge': {'into': ''}}]", 5786800, "cannot be an empty string"},
          {"[{'$merge': {'into': {}}}]", 5786801, "must specify a 'coll'"},
          {"[{'$merge': {'into': {'coll': null}}}]", 5786801, "must specify a 'coll'"},
          {"[{'$merge': {'into': 5}}]", 51178,
           "must be either a string or an object, but found int"},
          {"[{'$merge': {'into': 't', 'x': 5}}]", 40415,
           "BSON field '$merge.x' is an unknown field."},
          {"[{'$merge': {'into': 't', 'on': 5}}]", 51186,
           "must be either a string or an array of strings"},
          {"[{'$merge': {'into': 't', 'on': []}}]", 51187, "must include at least one field"},
          {"[{'$merge': {'into': 't', 'on': [5]}}]", 51134,
           "array elements must be strings, but found int"},
          {"[{'$merge': {'into': 't', 'on': ['a', 'a']}}]", 31465, "Found a duplicate field 'a'"},
          {"[{'$merge': {'into': 't', 'whenMatched': 5}}]", 51191,
           "must be either a string or an array"},
          {"[{'$merge': {'into': 't', 'whenMatched': 'pipeline'}}]", 2,
           "Enumeration value 'pipeline' for field 'whenMatched'"},
          {"[{'$merge': {'into': 't', 'whenNotMatched': 'x'}}]", 2,
           "Enumeration value 'x' for field '$merge.whenNotMatched'"},
          {"[{'$merge': {'into': 't', 'whenNotMatched': 5}}]", 14,
           "'$merge.whenNotMatched' is the wrong type 'int'"},
          {"[{'$merge': {'into': 't', 'let': 5}}]", 14, "'$merge.let' is the wrong type 'int'"},
          {"[{'$merge': {'into': 't', 'let': {'x': 1}}}]", 51199,
           "Cannot use 'let' variables with 'whenMatched: merge' mode"},
          {"[{'$merge': {'into': 't', 'let': {'new': 1}, 'whenMatched': []}}]", 51273,
           "reserved 'new' variable"},
          {"[{'$merge': {'into': 't', 'whenMatched': 'fail', 'whenNotMatched': 'discard'}}]", 51181,
           "is not supported"},
          {"[{'$merge': {'into': 't', 'whenMatched': 'keepExisting', 'whenNotMatched': 'fail'}}]",
           51181, "is not supported"},
          {"[{'$merge': {'into': 't', 'whenMatched': [{'$match': {}}]}}]", 72,
           "$match is not allowed to be used within an update"},
          {"[{'$merge': {'into': 't', 'whenMatched': [{'$set': {'a': '$$x'}}]}}]", 17276,
           "undefined variable: x"},
          {"[{'$merge': {'into': {'coll': 'system.t', 'db': 'd'}}}]", 31319, "special collection"},
          {"[{'$merge': {'into': {'coll': 't', 'db': 'config'}}}]", 31320, "internal database"},
          {"[{'$merge': {'into': 't'}}, {'$limit': 1}]", 40601,
           "$merge can only be the final stage"},
      });
}

}  // namespace
}  // namespace gridmount::query
