// Goal: the optimizations of a pipeline (stages dropped, moved or left to the source) do not change
// its result.
// Method: random pipelines run over random documents, in every way in which a source may serve
// them. The reference runs one stage after the other, each over all results of the one before.

#include <gtest/gtest.h>

#include "tests/engine/bson/random_bson.h"
#include "tests/engine/query/pipeline_run.h"
#include "tests/sanitized.h"

namespace gridmount::query {
namespace {

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  size_t index(size_t limit) { return random_.index(limit); }

  FakePipelineStorage::Documents documents() {
    FakePipelineStorage::Documents documents;
    for (int32_t i = 0; i < 12; ++i) {
      bson::Builder builder;
      builder.append("_id", i);
      for (const char* field : {"a", "b", "c"}) {
        if (!random_.chance(5)) builder.append(field, value(2));
      }
      documents.push_back(std::move(builder).finish());
    }
    return documents;
  }

  std::vector<std::string> stages() {
    std::vector<std::string> stages;
    for (size_t count = 1 + index(5); count > 0; --count) stages.push_back(stage());
    return stages;
  }

 private:
  template <size_t kSize>
  std::string one_of(const char* const (&choices)[kSize]) {
    return choices[index(kSize)];
  }

  bson::Value value(int depth) {
    const size_t kind = index(depth > 0 ? 6 : 3);
    if (kind == 0) return bson::Value();
    if (kind < 3) return bson::Value(static_cast<int32_t>(index(4)));
    bson::Builder builder;
    builder.open_array("v");
    for (size_t left = index(3); left > 0; --left) builder.push(value(depth - 1));
    builder.close();
    builder.open_document("w");
    for (const char* field : {"x", "y"}) {
      if (!random_.chance(3)) builder.append(field, value(depth - 1));
    }
    builder.close();
    const bson::Document holder = std::move(builder).finish();
    return bson::Value(*holder.find(kind == 3 ? "v" : "w"));
  }

  std::string path() {
    return one_of(
        {"_id", "a", "b", "c", "a.x", "a.y", "b.x", "b.y.x", "c.x", "n", "n.x", "a.0", "b.1.x"});
  }
  std::string target() { return one_of({"a", "b", "c", "n", "a.x", "b.y", "n.x"}); }
  std::string number() { return std::to_string(index(4)); }

  std::string expression() {
    switch (index(7)) {
      case 0:
        return "{'$ifNull': ['$" + path() + "', " + number() + "]}";
      case 1:
        return "{'$type': '$" + path() + "'}";
      case 2:
        return "{'k': '$" + path() + "', 'l': '$" + path() + "'}";
      case 3:
        return "{'$gt': ['$" + path() + "', " + number() + "]}";
      case 4:
        return "{'$literal': " + number() + "}";
      default:
        return "'$" + path() + "'";
    }
  }

  std::string filter() {
    const std::string field = "'" + path() + "': ";
    switch (index(6)) {
      case 0:
        return field + number();
      case 1:
        return field + "{'$gte': " + number() + "}";
      case 2:
        return field + "null";
      case 3:
        return "'$or': [{" + field + number() + "}, {'$expr': " + expression() + "}]";
      case 4:
        return "'$expr': " + expression();
      default:
        return field + "{'$exists': " + one_of({"true", "false"}) + "}";
    }
  }

  std::string sort() { return "{'" + path() + "': " + one_of({"1", "-1"}) + ", 'zz': 1}"; }

  std::string accumulator() {
    switch (index(6)) {
      case 0:
        return "{'$first': " + expression() + "}";
      case 1:
        return "{'$max': '$" + path() + "'}";
      case 2:
        return "{'$push': '$" + path() + "'}";
      case 3:
        return "{'$topN': {'n': 2, 'output': '$" + path() + "', 'sortBy': " + sort() + "}}";
      case 4:
        return "{'$addToSet': '$" + path() + "'}";
      default:
        return "{'$sum': '$" + path() + "'}";
    }
  }

  std::string stage() {
    switch (index(20)) {
      case 0:
      case 1:
        return "{'$match': {" + filter() + "}}";
      case 2:
        return "{'$project': {'" + target() + "': 1, '" + path() + "': " + one_of({"1", "true"}) +
               "}}";
      case 3:
        return "{'$project': {'" + target() + "': 0}}";
      case 4:
        return "{'$project': {'" + target() + "': " + expression() + ", '" + target() + "': 1}}";
      case 5:
        return "{'$set': {'" + target() + "': " + expression() + "}}";
      case 6:
        return "{'$unset': '" + target() + "'}";
      case 7:
        return "{'$replaceWith': {'$mergeObjects': [{'m': " + expression() + "}, '$$ROOT']}}";
      case 8:
        return "{'$sort': " + sort() + "}";
      case 9:
        return "{'$limit': " + std::to_string(1 + index(8)) + "}";
      case 10:
        return "{'$skip': " + number() + "}";
      case 11:
        return "{'$unwind': '$" + one_of({"a", "b", "a.x", "n"}) + "'}";
      case 12:
        return "{'$unwind': {'path': '$" + one_of({"a", "b", "b.y", "n"}) +
               "', 'preserveNullAndEmptyArrays': true, 'includeArrayIndex': '" + target() + "'}}";
      case 13:
        return "{'$group': {'_id': " + expression() + ", 'a': " + accumulator() +
               ", 'b': " + accumulator() + "}}";
      case 14:
        return "{'$lookup': {'from': 'f', 'localField': '" + path() + "', 'foreignField': '" +
               path() + "', 'as': '" + one_of({"a", "n", "n.x"}) + "'}}";
      case 15:
        return "{'$lookup': {'from': 'f', 'let': {'v': " + expression() +
               "}, 'pipeline': [{'$match': {" + filter() + "}}, {'$project': {'x': '$$v', '" +
               target() + "': 1}}], 'as': '" + one_of({"a", "n"}) + "'}}";
      case 16:
        return "{'$unionWith': {'coll': 'f', 'pipeline': [{'$match': {" + filter() + "}}]}}";
      case 17:
        return "{'$facet': {'a': [{'$match': {" + filter() + "}}], 'b': [{'$sort': " + sort() +
               "}, {'$project': {'" + target() + "': 1}}]}}";
      case 18:
        return "{'$graphLookup': {'from': 'f', 'startWith': " + expression() +
               ", 'connectFromField': '" + path() + "', 'connectToField': '" + path() +
               "', 'as': '" + one_of({"a", "n", "n.x"}) + "', 'depthField': '" + target() +
               "', 'restrictSearchWithMatch': {" + filter() + "}}}";
      default:
        return "{'$redact': {'$cond': [{'$gt': ['$x', " + number() +
               "]}, '$$PRUNE', '$$DESCEND']}}";
    }
  }

  bson::RandomBson random_;
};

TEST(PipelineModel, RandomPipelines) {
  const uint64_t seed = bson::test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  Generator random(seed);
  FakePipelineStorage storage;
  size_t with_results = 0;
  for (int i = 0; i < random_rounds(3000) && !testing::Test::HasFailure(); ++i) {
    if (i % 10 == 0) {
      storage.collections[{"", "c"}] = random.documents();
      storage.collections[{"", "f"}] = random.documents();
    }
    const PipelineRun run{storage};
    const std::vector<std::string> stages = random.stages();
    std::string whole;
    FakePipelineStorage::Documents step = storage.collections[{"", "c"}];
    bool refused = false;
    for (const std::string& stage : stages) {
      whole += (whole.empty() ? "[" : ", ") + stage;
      if (refused) continue;
      storage.minimal = false;
      storage.collections[{"", "step"}] = std::move(step);
      const PipelineRun one{storage, "step"};
      const bson::Document parsed = PipelineRun::parse_stages("[" + stage + "]");
      Result<FakePipelineStorage::Documents> results =
          one.run(parsed.view()["p"].as_document(), Pipeline::Input::kEverything);
      refused = !results;
      step = std::move(results).value_or(FakePipelineStorage::Documents());
    }
    whole += "]";
    const std::string shown = run.shown(whole);
    // If a stage alone is refused, the whole pipeline may never compute the failing expression
    // ($limit).
    if (refused) continue;
    EXPECT_EQ(shown, FakePipelineStorage::show_all(step)) << whole;
    with_results += step.empty() ? 0 : 1;
  }
  EXPECT_GT(with_results, random_rounds(500U));
}

}  // namespace
}  // namespace gridmount::query
