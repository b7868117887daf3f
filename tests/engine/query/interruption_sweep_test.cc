// Goal: every computation can be interrupted. Each expression, stage, filter and update that takes
// long ends within a tenth of a second of its time limit.
// Method: each computation has inputs for which it would take seconds to minutes, and may use 20 ms
// of processor time.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/query/expression/evaluation.h"
#include "engine/query/filter/filter.h"
#include "engine/query/update/update.h"
#include "tests/engine/query/fake_pipeline_storage.h"
#include "tests/engine/query/time_limit_interruption.h"
#include "tests/sanitized.h"

namespace gridmount::query {
namespace {

using std::chrono::milliseconds;

constexpr auto kLimit = milliseconds(20);
// The goal is a tenth of a second, but a busy machine needs longer for the same work. Sanitizers
// slow down the work between two checks.
constexpr auto kExceededMax = milliseconds(kSanitized ? 5000 : 250);

constexpr int32_t kElements = 200'000;
constexpr size_t kTextBytes = size_t{4} << 20;

// Maps the numbers below kElements to the same numbers in another order.
int32_t shuffled(int32_t i) {
  return static_cast<int32_t>((int64_t{i} * 7919 + 17) % kElements);
}

void append_arrays(bson::Builder& out) {
  const auto append = [&](const char* name, const std::function<void(int32_t)>& push) {
    out.open_array(name);
    for (int32_t i = 0; i < kElements; ++i) push(i);
    out.close();
  };
  append("numbers", [&](int32_t i) { out.push(bson::Value(shuffled(i)).view()); });
  append("sames", [&](int32_t i) { out.push(bson::Value(shuffled(i)).view()); });
  append("zeros", [&](int32_t) { out.push(bson::Value(0).view()); });
  append("words", [&](int32_t i) { out.push(bson::Value(std::to_string(i)).view()); });
  append("documents", [&](int32_t i) {
    out.push_open_document().append("k", shuffled(i)).append("v", i).close();
  });
  append("pairs", [&](int32_t i) {
    out.push_open_array();
    out.push(bson::Value("k" + std::to_string(i)).view()).push(bson::Value(i).view()).close();
  });
  out.open_document("fields");
  for (int32_t i = 0; i < kElements; ++i) out.append("k" + std::to_string(i), i);
  out.close();
}

// The input of all computations: a few large values.
const bson::Document& large_document() {
  static const bson::Document kDocument = [] {
    bson::Builder out;
    out.append("_id", 1);
    out.append("text", std::string(kTextBytes, 'a'));
    out.append("spaces", std::string(kTextBytes, ' '));
    out.append("token", std::string(kTextBytes / 2, 'a') + "b");
    std::string list;
    while (list.size() < kTextBytes) list += "abc,";
    out.append("list", list);
    std::string letters;
    while (letters.size() < 45'000) letters += "ac";
    out.append("letters", letters + "!");
    append_arrays(out);
    return std::move(out).finish();
  }();
  return kDocument;
}

// Runs a computation that must not reach its end.
void expect_ended(const std::string& what, const std::function<Status()>& work) {
  large_document();  // called first, because it takes time
  TimeLimitInterruption limit(kLimit);
  const InterruptionScope scope(limit);
  const Status status = work();
  const milliseconds exceeded = limit.exceeded();
  ASSERT_FALSE(status) << what << ": ended by itself, in " << exceeded.count() << " ms more";
  EXPECT_EQ(status.error().code(), ErrorCode::kMaxTimeMsExpired)
      << what << ": " << status.error().message();
  EXPECT_LT(exceeded, kExceededMax) << what;
}

Status evaluate(const std::string& expression) {
  VariableScope scope;
  const bson::Document text = parse_json("{'x': " + expression + "}");
  GM_ASSIGN(const auto parsed, parse_expression(*text.find("x"), scope));
  Arena arena;
  EvaluationContext context{large_document(), {}, arena, bson::Date{0}};
  GM_TRY(parsed->evaluate(context));
  return {};
}

TEST(InterruptionSweepTest, Expressions_End) {
  // The test evaluates each expression many times, so that even a fast one takes too long.
  const char* const kExpressions[] = {
      "{'$regexMatch': {'input': '$letters', 'regex': '(?:a|c)*!!'}}",
      "{'$regexMatch': {'input': '$text', 'regex': '(a*b|a)*+c'}}",
      "{'$regexMatch': {'input': '$text', 'regex': '(?:(?:a*b|a)*+b|a)*+c'}}",
      "{'$regexMatch': {'input': '$text', 'regex': '[ab]*c[ab]'}}",
      "{'$regexMatch': {'input': '$text', 'regex': 'a(?=.*b)'}}",
      "{'$regexMatch': {'input': '$text', 'regex': '(a+)\\\\1b'}}",
      "{'$regexFind': {'input': '$text', 'regex': 'a.*a.*b'}}",
      "{'$regexFind': {'input': '$letters', 'regex': '(?:a|c)*!!'}}",
      "{'$regexFindAll': {'input': '$letters', 'regex': '(?:a|c)*!!'}}",
      "{'$regexFindAll': {'input': '$list', 'regex': 'b(?=.*!)|q'}}",
      "{'$regexFindAll': {'input': '$letters', 'regex': 'a'}}",
      "{'$setUnion': ['$numbers', '$words']}",
      "{'$setIntersection': ['$numbers', '$sames']}",
      "{'$setDifference': ['$numbers', '$words']}",
      "{'$setEquals': ['$numbers', '$sames']}",
      "{'$setIsSubset': ['$numbers', '$sames']}",
      "{'$anyElementTrue': ['$zeros']}",
      "{'$allElementsTrue': ['$words']}",
      "{'$sortArray': {'input': '$numbers', 'sortBy': 1}}",
      "{'$sortArray': {'input': '$documents', 'sortBy': {'k': -1}}}",
      "{'$reverseArray': '$numbers'}",
      "{'$concatArrays': ['$numbers', '$words']}",
      "{'$slice': ['$numbers', 100000]}",
      "{'$in': [-1, '$numbers']}",
      "{'$indexOfArray': ['$numbers', -1]}",
      "{'$arrayElemAt': ['$numbers', -1]}",
      "{'$last': '$numbers'}",
      "{'$firstN': {'n': 100000, 'input': '$numbers'}}",
      "{'$lastN': {'n': 100000, 'input': '$numbers'}}",
      "{'$minN': {'n': 100000, 'input': '$numbers'}}",
      "{'$maxN': {'n': 100000, 'input': '$numbers'}}",
      "{'$zip': {'inputs': ['$numbers', '$words']}}",
      "{'$objectToArray': '$fields'}",
      "{'$arrayToObject': '$pairs'}",
      "{'$mergeObjects': ['$fields', '$fields']}",
      "{'$setField': {'field': 'x', 'input': '$fields', 'value': 1}}",
      "{'$getField': {'field': 'x', 'input': '$fields'}}",
      "'$fields.x'",
      "'$documents.k'",
      "{'$size': '$numbers'}",
      "{'$max': '$numbers'}",
      "{'$sum': '$numbers'}",
      "{'$avg': '$numbers'}",
      "{'$stdDevPop': '$numbers'}",
      "{'$median': {'input': '$numbers', 'method': 'approximate'}}",
      "{'$percentile': {'input': '$numbers', 'p': [0.5], 'method': 'approximate'}}",
      "{'$cmp': ['$numbers', '$sames']}",
      "{'$concat': ['$text', '$spaces']}",
      "{'$split': ['$list', ',']}",
      "{'$split': ['$text', '$token']}",
      "{'$replaceAll': {'input': '$list', 'find': ',', 'replacement': ';'}}",
      "{'$replaceAll': {'input': '$text', 'find': '$token', 'replacement': ''}}",
      "{'$replaceOne': {'input': '$text', 'find': '$token', 'replacement': ''}}",
      "{'$trim': {'input': '$spaces'}}",
      "{'$trim': {'input': '$text', 'chars': '$list'}}",
      "{'$toUpper': '$text'}",
      "{'$strcasecmp': ['$text', '$text']}",
      "{'$strLenCP': '$text'}",
      "{'$indexOfCP': ['$text', '$token']}",
      "{'$indexOfBytes': ['$text', '$token']}",
      "{'$substrCP': ['$text', 1000000, 1000]}",
      "{'$reduce': {'input': '$numbers', 'initialValue': '', 'in': {'$concat': ['$$value', 'x']}}}",
      "{'$map': {'input': '$numbers', 'in': {'$in': ['$$this', '$zeros']}}}",
      "{'$filter': {'input': '$numbers', 'cond': {'$in': ['$$this', '$zeros']}}}",
      "{'$range': [0, 1000000]}",
  };
  for (const std::string expression : kExpressions) {
    expect_ended(expression, [&] {
      return evaluate("{'$map': {'input': {'$range': [0, 100000]}, 'in': {'$type': [" + expression +
                      "]}}}");
    });
  }
}

class InterruptedPipelineStorage : public FakePipelineStorage {
 public:
  Status check_interrupt() override { return check_interruption_now(); }
};

Status run(FakePipelineStorage& storage, const std::string& stages) {
  VariableScope scope;
  const bson::Document parsed = parse_json("{'p': " + stages + "}");
  GM_ASSIGN(const Pipeline pipeline,
            Pipeline::parse(parsed.view()["p"].as_document(), scope, {true, true}));
  const PipelineContext context{storage, {"", "c"}, {1000}, {}, uint64_t{100} << 20, 1};
  std::unique_ptr<DocumentStream> source;
  if (pipeline.reads_input()) {
    GM_ASSIGN(source, storage.find({"", "c"}, FindRequest{}));
  }
  GM_ASSIGN(const std::unique_ptr<DocumentStream> stream,
            pipeline.run(std::move(source), context, Pipeline::Input::kEverything));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, stream->next());
    if (!document) return {};
  }
}

TEST(InterruptionSweepTest, Stages_End) {
  InterruptedPipelineStorage storage;
  storage.collections[{"", "c"}].push_back(large_document());
  bson::Builder few;
  few.open_array("a");
  for (int32_t i = 0; i < 3000; ++i) few.push(bson::Value(shuffled(i)).view());
  few.close();
  storage.collections[{"", "c"}].push_back(std::move(few).finish());
  for (int32_t i = 0; i < 2000; ++i) {
    bson::Builder link;
    link.append("_id", i).append("next", i + 1);
    storage.collections[{"", "links"}].push_back(std::move(link).finish());
  }
  const std::string products =
      "{'$project': {'a': '$a', 'b': '$a', 'c': '$a'}}, {'$unwind': '$a'}, {'$unwind': '$b'}, "
      "{'$unwind': '$c'}, ";
  const std::string documents = "{'$project': {'x': '$numbers', 'k': '$text'}}, ";
  const std::string kPipelines[] = {
      "[" + products + "{'$match': {'x': 1}}]",
      "[" + products + "{'$group': {'_id': '$a', 'n': {'$sum': 1}}}]",
      "[" + products + "{'$group': {'_id': 1, 'n': {'$maxN': {'n': 500000, 'input': '$a'}}}}]",
      "[" + products +
          "{'$group': {'_id': 1, 'n': {'$median': {'input': '$a', 'method': "
          "'approximate'}}}}]",
      "[" + products + "{'$bucketAuto': {'groupBy': '$a', 'buckets': 5}}]",
      "[" + products + "{'$bucket': {'groupBy': '$a', 'boundaries': [0, 10], 'default': 'x'}}]",
      "[" + products + "{'$sort': {'a': 1}}]",
      "[" + products +
          "{'$setWindowFields': {'sortBy': {'a': 1}, 'output': {'n': {'$sum': '$b', 'window': "
          "{'range': [-9, 9]}}}}}]",
      "[{'$unwind': '$a'}, {'$setWindowFields': {'sortBy': {'a': 1}, 'output': {'n': {'$push': "
      "'$a', 'window': {'documents': ['unbounded', 'unbounded']}}}}}]",
      "[" + products + "{'$densify': {'field': 'a', 'range': {'step': 0.001, 'bounds': 'full'}}}]",
      "[" + products + "{'$sortByCount': '$b'}]",
      "[" + products + "{'$count': 'n'}]",
      "[" + products + "{'$facet': {'x': [{'$count': 'n'}]}}]",
      "[" + products + "{'$sample': {'size': 5}}]",
      "[" + products + "{'$skip': 1000000000}]",
      "[" + products + "{'$redact': '$$PRUNE'}]",
      "[" + products +
          "{'$lookup': {'from': 'links', 'as': 'l', 'pipeline': []}}, {'$skip': "
          "1000000000}]",
      "[{'$lookup': {'from': 'links', 'as': 'l', 'pipeline': [{'$lookup': {'from': 'links', 'as': "
      "'m', 'let': {'i': '$_id'}, 'pipeline': [{'$match': {'$expr': {'$eq': ['$next', '$$i']}}}]}}]"
      "}}]",
      "[{'$graphLookup': {'from': 'links', 'startWith': 0, 'connectFromField': 'next', "
      "'connectToField': '_id', 'as': 'l'}}]",
      "[{'$unionWith': {'coll': 'c', 'pipeline': [" + products +
          "{'$skip': 1000000000}]}}, {'$skip': 1000000000}]",
      "[{'$addFields': {'y': {'$map': {'input': '$numbers', 'in': {'$in': ['$$this', "
      "'$zeros']}}}}}]",
  };
  for (const std::string& pipeline : kPipelines) {
    expect_ended(pipeline, [&] { return run(storage, pipeline); });
  }
}

// Builds an array of `count` values.
template <typename Make>
bson::Document array_of(int32_t count, const Make& make) {
  bson::Builder out;
  out.open_array("x");
  for (int32_t i = 0; i < count; ++i) make(out, i);
  out.close();
  return std::move(out).finish();
}

Status match(bson::View specification) {
  GM_ASSIGN(const Filter filter, Filter::parse(specification));
  GM_TRY(filter.evaluate(large_document()));
  return {};
}

Status match(const std::string& text) {
  return match(parse_json(text));
}

TEST(InterruptionSweepTest, Filters_End) {
  for (const char* const filter : {
           "{'letters': {'$regex': '(?:a|c)*!!'}}",
           "{'letters': {'$not': {'$regex': '(?:a|c)*!!'}}}",
           "{'$nor': [{'letters': {'$regex': '(?:a|c)*!!'}}, {'letters': {'$regex': '(c|a)*!'}}]}",
           "{'$jsonSchema': {'properties': {'letters': {'pattern': '(?:a|c)*!!'}}}}",
           "{'$jsonSchema': {'patternProperties': {'^(([a-z]+)+)+[0-9]$': {}}, 'properties': "
           "{'documents': {'uniqueItems': true}}}}",
           "{'text': {'$regex': '[ab]*c[ab]'}}",
           "{'$expr': {'$regexMatch': {'input': '$letters', 'regex': '(?:a|c)*!!'}}}",
       }) {
    expect_ended(filter, [&] { return match(filter); });
  }
  const auto list = array_of(3000, [](bson::Builder& out, int32_t i) {
    bson::Builder regex;
    regex.append_regex("r", "(x|" + std::to_string(i) + ")*y", "");
    out.push(std::move(regex).finish().view()["r"]);
  });
  bson::Builder in;
  in.open_document("words").append("$in", list.view()["x"]).close();
  const bson::Document filter = std::move(in).finish();
  expect_ended("$in with regular expressions", [&] { return match(filter); });
  const auto branches = array_of(20'000, [](bson::Builder& out, int32_t i) {
    out.push_open_document().open_document("numbers").append("$gt", kElements + i).close().close();
  });
  bson::Builder any;
  any.append("$or", branches.view()["x"]);
  const bson::Document disjunction = std::move(any).finish();
  expect_ended("$or of many", [&] { return match(disjunction); });
  bson::Builder element;
  element.open_document("documents")
      .open_document("$elemMatch")
      .append("$or", branches.view()["x"])
      .close()
      .close();
  const bson::Document matched = std::move(element).finish();
  expect_ended("$elemMatch", [&] { return match(matched); });
}

TEST(InterruptionSweepTest, Parsing_Ends) {
  const auto words = array_of(300'000, [](bson::Builder& out, int32_t i) {
    out.push(bson::Value("word " + std::to_string(int64_t{i} * 7919 % 300'007)).view());
  });
  bson::Builder in;
  in.open_document("a").append("$in", words.view()["x"]).close();
  const bson::Document long_list = std::move(in).finish();
  expect_ended("$in", [&] { return match(long_list); });
  const auto branches = array_of(100'000, [](bson::Builder& out, int32_t i) {
    out.push_open_document().append("a" + std::to_string(i), i).close();
  });
  bson::Builder any;
  any.append("$or", branches.view()["x"]);
  const bson::Document disjunction = std::move(any).finish();
  expect_ended("$or", [&] { return match(disjunction); });
  bson::Builder add;
  add.open_document("$addToSet").open_document("a").append("$each", words.view()["x"]);
  add.close().close();
  const bson::Document addition = std::move(add).finish();
  expect_ended("$addToSet", [&]() -> Status {
    GM_TRY(Update::parse(addition));
    return {};
  });
}

TEST(InterruptionSweepTest, Updates_End) {
  for (const char* const update : {
           "{'$push': {'words': {'$each': [], '$sort': -1}}}",
           "{'$push': {'documents': {'$each': [], '$sort': {'k': 1}}}}",
           "{'$pull': {'words': {'$regex': '(x|y)*z'}}}",
           "{'$pull': {'documents': {'k': {'$in': [-1, -2]}}}}",
           "{'$set': {'numbers.$[e]': 1}}",
       }) {
    expect_ended(update, [&]() -> Status {
      const bson::Document specification = parse_json(update);
      const bson::Document filters = parse_json("{'f': [{'e': {'$gt': 100000000}}]}");
      UpdateParseOptions options;
      if (std::string(update).find("$[e]") != std::string::npos) {
        options.array_filters = filters.view()["f"].as_document();
      }
      GM_ASSIGN(const Update parsed, Update::parse(specification, options));
      for (int i = 0; i < 1000; ++i) GM_TRY(parsed.apply(large_document()));
      return {};
    });
  }
}

}  // namespace
}  // namespace gridmount::query
