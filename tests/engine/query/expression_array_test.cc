// Goal: expressions on arrays, sets, objects and variables give MongoDB's values and errors.
// Method: tables.

#include <random>
#include <set>

#include "engine/bson/builder.h"
#include "tests/engine/query/expression_cases.h"

namespace gridmount::query {
namespace {

constexpr char kArrays[] =
    "{'_id': 1, 'a': [3, 1, 2], 'e': [], 'n': null, 'i': 5, 's': 'x', 'm': [1, null, 'x'],"
    " 'o': {'x': 1, 'y': {'z': 2}}, 'd': [{'q': 2, 'r': [7]}, {'q': 1}, 5, {'q': 3, 'r': [8, 9]}],"
    " 'aa': [[1, 2], [3]], 'p': [{'k': 'a', 'v': 1}, {'k': 'b', 'v': 2}, {'k': 'a', 'v': 3}]}";

TEST(ArrayExpressionTest, Elements) {
  check_expressions(
      {{
          {"{'$arrayElemAt': ['$a', 0]}", "3"},
          {"{'$arrayElemAt': ['$a', -1]}", "2"},
          {"{'$arrayElemAt': ['$a', 3]}", "missing"},
          {"{'$arrayElemAt': ['$a', -4]}", "missing"},
          {"{'$arrayElemAt': ['$a', 1.0]}", "1"},
          {"{'$arrayElemAt': ['$n', 0]}", "null"},
          {"{'$arrayElemAt': ['$i', 0]}", "!28689"},
          {"{'$arrayElemAt': ['$a', 'x']}", "!28690"},
          {"{'$arrayElemAt': ['$a', 1.5]}", "!28691"},
          {"{'$first': '$a'}", "3"},
          {"{'$last': '$a'}", "2"},
          {"{'$first': '$e'}", "missing"},
          {"{'$last': '$none'}", "null"},
          {"{'$first': '$i'}", "!28689 $first's argument must be an array, but is int"},
          {"{'$firstN': {'n': 2, 'input': '$a'}}", "[3, 1]"},
          {"{'$lastN': {'n': L(2), 'input': '$a'}}", "[1, 2]"},
          {"{'$lastN': {'n': 9, 'input': '$a'}}", "[3, 1, 2]"},
          {"{'$minN': {'n': 2, 'input': '$a'}}", "[1, 2]"},
          {"{'$maxN': {'n': 2, 'input': '$m'}}", "['x', 1]"},
          {"{'$maxN': {'n': 0, 'input': '$a'}}", "!5787908"},
          {"{'$maxN': {'n': 's', 'input': '$a'}}", "!5787902"},
          {"{'$maxN': {'n': 1.5, 'input': '$a'}}", "!5787903"},
          {"{'$firstN': {'n': 1, 'input': '$i'}}", "!5788200"},
          {"{'$firstN': {'n': 1}}", "!5787907"},
          {"{'$firstN': {'input': 1}}", "!5787906"},
          {"{'$firstN': {'x': 1}}", "!5787901"},
          {"{'$firstN': 1}", "!5787801"},
          {"{'$maxN': 1}", "!5787900"},
          {"{'$concatArrays': ['$a', '$e', ['$i']]}", "[3, 1, 2, 5]"},
          {"{'$concatArrays': []}", "[]"},
          {"{'$concatArrays': ['$a', '$none']}", "null"},
          {"{'$concatArrays': ['$a', 1]}", "!28664"},
          {"{'$in': [1, '$a']}", "true"},
          {"{'$in': [L(1), '$a']}", "true"},
          {"{'$in': ['$i', '$a']}", "false"},
          {"{'$in': [1, '$i']}", "!40081 $in requires an array as a second argument, found: int"},
          {"{'$indexOfArray': ['$a', 2]}", "2"},
          {"{'$indexOfArray': ['$a', 2, 0, 2]}", "-1"},
          {"{'$indexOfArray': ['$a', 3, 1]}", "-1"},
          {"{'$indexOfArray': ['$n', 3]}", "null"},
          {"{'$indexOfArray': ['$i', 3]}", "!40090"},
          {"{'$indexOfArray': ['$a', 3, -1]}", "!40097"},
          {"{'$isArray': '$a'}", "true"},
          {"{'$isArray': [[1]]}", "true"},
          {"{'$isArray': '$none'}", "false"},
          {"{'$range': [0, 3]}", "[0, 1, 2]"},
          {"{'$range': [3, '$i', 2]}", "[3]"},
          {"{'$range': [3, 0, -1]}", "[3, 2, 1]"},
          {"{'$range': [3, 0]}", "[]"},
          {"{'$range': ['x', 1]}", "!34443"},
          {"{'$range': [1.5, 1]}", "!34444"},
          {"{'$range': [1, 'x']}", "!34445"},
          {"{'$range': [1, 1.5]}", "!34446"},
          {"{'$range': [1, 2, 'x']}", "!34447"},
          {"{'$range': [1, 2, 0.5]}", "!34448"},
          {"{'$range': [1, 2, 0]}", "!34449"},
          {"{'$range': [0, 2147483647]}", "!146"},
          {"{'$reverseArray': '$a'}", "[2, 1, 3]"},
          {"{'$reverseArray': '$none'}", "null"},
          {"{'$reverseArray': '$i'}", "!34435"},
          {"{'$size': '$a'}", "3"},
          {"{'$size': '$none'}",
           "!17124 The argument to $size must be an array, but was of type: missing"},
          {"{'$slice': ['$a', 2]}", "[3, 1]"},
          {"{'$slice': ['$a', -2]}", "[1, 2]"},
          {"{'$slice': ['$a', 1, 5]}", "[1, 2]"},
          {"{'$slice': ['$a', -3, 1]}", "[3]"},
          {"{'$slice': ['$a', 5, 1]}", "[]"},
          {"{'$slice': ['$a', -9]}", "[3, 1, 2]"},
          {"{'$slice': ['$n', 1]}", "null"},
          {"{'$slice': ['$i', 1]}", "!28724"},
          {"{'$slice': ['$a', 'x']}", "!28725"},
          {"{'$slice': ['$a', 1.5]}", "!28726"},
          {"{'$slice': ['$a', 1, 'x']}", "!28727"},
          {"{'$slice': ['$a', 1, 1.5]}", "!28728"},
          {"{'$slice': ['$a', 1, 0]}", "!28729 Third argument to $slice must be positive: 0"},
      }},
      kArrays);
}

TEST(ArrayExpressionTest, Shapes) {
  check_expressions(
      {{
          {"{'$zip': {'inputs': ['$a', ['x', 'y']]}}", "[[3, 'x'], [1, 'y']]"},
          {"{'$zip': {'inputs': ['$a', ['x']], 'useLongestLength': true}}",
           "[[3, 'x'], [1, null], [2, null]]"},
          {"{'$zip': {'inputs': ['$a', ['x']], 'useLongestLength': true, 'defaults': [0, '-']}}",
           "[[3, 'x'], [1, '-'], [2, '-']]"},
          {"{'$zip': {'inputs': ['$a', '$none']}}", "null"},
          {"{'$zip': {'inputs': ['$a', '$i']}}", "!34468"},
          {"{'$zip': {'inputs': 5}}", "!34461"},
          {"{'$zip': {'inputs': []}}", "!34465"},
          {"{'$zip': {'inputs': ['$a'], 'defaults': 5}}", "!34462"},
          {"{'$zip': {'inputs': ['$a'], 'defaults': [1]}}", "!34466"},
          {"{'$zip': {'inputs': ['$a'], 'defaults': [1, 2], 'useLongestLength': true}}", "!34467"},
          {"{'$zip': {'inputs': ['$a'], 'useLongestLength': 1}}", "!34463"},
          {"{'$zip': {'x': 1}}", "!34464"},
          {"{'$zip': 1}", "!34460"},
          {"{'$arrayToObject': '$p'}", "{'a': 3, 'b': 2}"},
          {"{'$arrayToObject': [[['a', 1], ['b', 2]]]}", "{'a': 1, 'b': 2}"},
          {"{'$arrayToObject': '$n'}", "null"},
          {"{'$arrayToObject': '$e'}", "{}"},
          {"{'$arrayToObject': '$i'}", "!40386"},
          {"{'$arrayToObject': '$a'}", "!40398"},
          {"{'$arrayToObject': [[['a', 1], 5]]}", "!40396"},
          {"{'$arrayToObject': [[['a', 1, 2]]]}", "!40397"},
          {"{'$arrayToObject': [[[5, 1]]]}", "!40395"},
          {"{'$arrayToObject': [[{'k': 'a', 'v': 1}, 5]]}", "!40391"},
          {"{'$arrayToObject': [[{'k': 'a'}]]}", "!40392"},
          {"{'$arrayToObject': [[{'k': 'a', 'w': 5}]]}", "!40393"},
          {"{'$arrayToObject': [[{'k': 5, 'v': 5}]]}", "!40394"},
          {"{'$objectToArray': '$o'}", "[{'k': 'x', 'v': 1}, {'k': 'y', 'v': {'z': 2}}]"},
          {"{'$objectToArray': '$none'}", "null"},
          {"{'$objectToArray': '$i'}", "!40390"},
          {"{'$sortArray': {'input': '$a', 'sortBy': 1}}", "[1, 2, 3]"},
          {"{'$sortArray': {'input': '$m', 'sortBy': -1}}", "['x', 1, null]"},
          // Arrays are compared as wholes.
          {"{'$sortArray': {'input': [{'a': [3, 1]}, {'a': [2]}], 'sortBy': {'a': 1}}}",
           "[{'a': [2]}, {'a': [3, 1]}]"},
          {"{'$sortArray': {'input': '$d', 'sortBy': {'q': -1}}}",
           "[{'q': 3, 'r': [8, 9]}, {'q': 2, 'r': [7]}, {'q': 1}, 5]"},
          {"{'$sortArray': {'input': '$n', 'sortBy': 1}}", "null"},
          {"{'$sortArray': {'input': '$i', 'sortBy': 1}}", "!2942504"},
          {"{'$sortArray': {'input': '$a', 'sortBy': 2}}", "!2942506"},
          {"{'$sortArray': {'input': '$d', 'sortBy': {'q': 1.5}}}", "!2942505"},
          {"{'$sortArray': {'input': '$a'}}", "!2942503"},
          {"{'$sortArray': {'sortBy': 1}}", "!2942502"},
          {"{'$sortArray': {'x': 1}}", "!2942501"},
          {"{'$sortArray': 1}", "!2942500"},
      }},
      kArrays);
}

TEST(ArrayExpressionTest, Sets) {
  check_expressions({{
                        {"{'$setUnion': ['$a', [1, 4]]}", "[1, 2, 3, 4]"},
                        {"{'$setUnion': []}", "[]"},
                        {"{'$setUnion': ['$a', '$n']}", "null"},
                        {"{'$setUnion': ['$a', 1]}", "!17043"},
                        {"{'$setIntersection': ['$a', [3, 1.0, 1, 4]]}", "[1, 3]"},
                        {"{'$setIntersection': []}", "[]"},
                        {"{'$setIntersection': ['$a', '$none']}", "null"},
                        {"{'$setIntersection': ['$a', 1]}", "!17047"},
                        {"{'$setDifference': [['x', 3, 3, 'y'], '$a']}", "['x', 'y']"},
                        {"{'$setDifference': ['$a', '$n']}", "null"},
                        {"{'$setDifference': [1, '$a']}", "!17048"},
                        {"{'$setDifference': ['$a', 1]}", "!17049"},
                        {"{'$setEquals': ['$a', [1, 2, 3, 3]]}", "true"},
                        {"{'$setEquals': ['$a', [1], [1]]}", "false"},
                        {"{'$setEquals': ['$a', null]}", "!17044"},
                        {"{'$setEquals': ['$a']}", "!17045"},
                        {"{'$setIsSubset': [[1, 1], '$a']}", "true"},
                        {"{'$setIsSubset': [[1, 5], '$a']}", "false"},
                        {"{'$setIsSubset': [1, '$a']}", "!17046"},
                        {"{'$setIsSubset': ['$a', 1]}", "!17042"},
                        {"{'$anyElementTrue': ['$m']}", "true"},
                        {"{'$anyElementTrue': ['$e']}", "false"},
                        {"{'$anyElementTrue': ['$i']}", "!17041"},
                        {"{'$allElementsTrue': ['$m']}", "false"},
                        {"{'$allElementsTrue': ['$e']}", "true"},
                        {"{'$allElementsTrue': ['$none']}", "!17040"},
                    }},
                    kArrays);
}

TEST(ArrayExpressionTest, Objects) {
  check_expressions(
      {{
          {"{'$mergeObjects': ['$o', {'x': 2, 'w': 3}]}", "{'x': 2, 'y': {'z': 2}, 'w': 3}"},
          {"{'$mergeObjects': ['$o', null, '$none']}", "{'x': 1, 'y': {'z': 2}}"},
          {"{'$mergeObjects': '$n'}", "{}"},
          {"{'$mergeObjects': ['$i']}", "!40400"},
          {"{'$getField': 'i'}", "5"},
          {"{'$getField': {'field': 'x', 'input': '$o'}}", "1"},
          {"{'$getField': {'field': 'none', 'input': '$o'}}", "missing"},
          {"{'$getField': {'field': 'x', 'input': '$n'}}", "null"},
          {"{'$getField': {'field': 'x', 'input': '$none'}}", "missing"},
          {"{'$getField': {'field': 'x', 'input': '$i'}}", "missing"},
          {"{'$getField': {'$concat': ['', 'i']}}", "5"},
          {"{'$getField': {'field': '$s', 'input': '$o'}}", "!5654600"},
          {"{'$getField': {'field': {'$concat': ['$s']}, 'input': '$o'}}", "!5654601"},
          {"{'$getField': 5}", "!5654602"},
          {"{'$getField': {'field': 'x'}}", "!3041703"},
          {"{'$getField': {'input': 'x'}}", "!3041702"},
          {"{'$getField': {'x': 'x'}}", "!3041701"},
          {"{'$setField': {'field': 'x', 'input': '$o', 'value': [1]}}",
           "{'x': [1], 'y': {'z': 2}}"},
          {"{'$setField': {'field': 'a.b', 'input': '$o', 'value': 1}}",
           "{'x': 1, 'y': {'z': 2}, 'a.b': 1}"},
          {"{'$setField': {'field': 'x', 'input': '$o', 'value': '$$REMOVE'}}", "{'y': {'z': 2}}"},
          {"{'$unsetField': {'field': 'x', 'input': '$o'}}", "{'y': {'z': 2}}"},
          {"{'$setField': {'field': 'x', 'input': '$none', 'value': 1}}", "null"},
          {"{'$setField': {'field': 'x', 'input': '$i', 'value': 1}}", "!4161105"},
          {"{'$setField': {'field': 'x', 'input': '$o'}}", "!4161103"},
          {"{'$setField': {'field': 'x', 'value': 1}}", "!4161109"},
          {"{'$setField': {'input': '$o', 'value': 1}}", "!4161102"},
          {"{'$setField': {'q': 1}}", "!4161101"},
          {"{'$unsetField': {'field': 'x', 'input': '$o', 'value': 1}}", "!4161101"},
          {"{'$setField': 1}", "!4161100"},
          {"{'$setField': {'field': '$s', 'input': '$o', 'value': 1}}", "!4161108"},
          {"{'$setField': {'field': 5, 'input': '$o', 'value': 1}}", "!4161107"},
      }},
      kArrays);
}

TEST(ArrayExpressionTest, Variables) {
  check_expressions(
      {{
          {"{'$let': {'vars': {'v': '$i'}, 'in': {'$add': ['$$v', 1]}}}", "6"},
          {"{'$let': {'vars': {'v': 1}, 'in': {'$let': {'vars': {'v': 2, 'w': '$$v'},"
           " 'in': ['$$v', '$$w']}}}}",
           "[2, 1]"},
          {"{'$let': {'vars': {'CURRENT': '$o'}, 'in': '$x'}}", "1"},
          {"{'$let': {'vars': {'v': '$d'}, 'in': '$$v.q'}}", "[2, 1, 3]"},
          {"{'$let': {'vars': {'v': 1}, 'in': '$$w'}}", "!17276 Use of undefined variable: w"},
          {"{'$let': {'vars': {'V': 1}, 'in': 1}}", "!9 'V' starts with an invalid character"},
          {"{'$let': {'vars': {'v-': 1}, 'in': 1}}", "!9 'v-' contains an invalid character"},
          {"{'$let': {'vars': {}, 'in': '$i'}}", "5"},
          {"{'$let': {'in': 1}}", "!16876"},
          {"{'$let': {'vars': {}}}", "!16877"},
          {"{'$let': {'x': {}}}", "!16875"},
          {"{'$let': 1}", "!16874"},
          {"{'$map': {'input': '$a', 'in': {'$multiply': ['$$this', 2]}}}", "[6, 2, 4]"},
          {"{'$map': {'input': '$a', 'as': 'e', 'in': {'x': '$$e', 'y': '$none'}}}",
           "[{'x': 3}, {'x': 1}, {'x': 2}]"},
          {"{'$map': {'input': '$d', 'in': '$$this.r'}}", "[[7], null, null, [8, 9]]"},
          {"{'$map': {'input': '$aa', 'as': 'r', 'in': {'$map': {'input': '$$r', 'as': 'c',"
           " 'in': {'$add': ['$$c', {'$size': '$$r'}]}}}}}",
           "[[3, 4], [4]]"},
          {"{'$map': {'input': '$n', 'in': 1}}", "null"},
          {"{'$map': {'input': '$i', 'in': 1}}", "!16883 input to $map must be an array not int"},
          {"{'$map': {'in': 1}}", "!16880"},
          {"{'$map': {'input': 1}}", "!16882"},
          {"{'$map': {'x': 1}}", "!16879"},
          {"{'$map': 1}", "!16878"},
          {"{'$filter': {'input': '$a', 'cond': {'$gt': ['$$this', 1]}}}", "[3, 2]"},
          {"{'$filter': {'input': '$a', 'as': 'e', 'cond': '$$e', 'limit': 1}}", "[3]"},
          {"{'$filter': {'input': '$a', 'cond': true, 'limit': 0}}", "!327392"},
          {"{'$filter': {'input': '$a', 'cond': true, 'limit': 1.5}}", "!327391"},
          {"{'$filter': {'input': '$none', 'cond': true}}", "null"},
          {"{'$filter': {'input': '$i', 'cond': true}}", "!28651"},
          {"{'$filter': {'cond': true}}", "!28648"},
          {"{'$filter': {'input': 1}}", "!28650"},
          {"{'$filter': {'x': 1}}", "!28647"},
          {"{'$filter': 1}", "!28646"},
          {"{'$reduce': {'input': '$a', 'initialValue': 0, 'in': {'$add': ['$$value', "
           "'$$this']}}}",
           "6"},
          {"{'$reduce': {'input': '$aa', 'initialValue': [], 'in': {'$concatArrays': ['$$value', "
           "'$$this']}}}",
           "[1, 2, 3]"},
          {"{'$reduce': {'input': ['a', 'b', 'c'], 'initialValue': '', 'in': {'$concat': "
           "['$$this', '$$value']}}}",
           "'cba'"},
          {"{'$reduce': {'input': '$e', 'initialValue': '$i', 'in': 1}}", "5"},
          {"{'$reduce': {'input': '$n', 'initialValue': 0, 'in': 1}}", "null"},
          {"{'$reduce': {'input': '$a', 'initialValue': 0, 'in': '$none'}}", "missing"},
          {"{'$reduce': {'input': '$a', 'initialValue': {'p': {'q': 1}}, 'in':"
           " {'$ifNull': ['$$value.p', '$$value']}}}",
           "{'q': 1}"},
          {"{'$reduce': {'input': '$i', 'initialValue': 0, 'in': 1}}", "!40080"},
          {"{'$reduce': {'initialValue': 0, 'in': 1}}", "!40077"},
          {"{'$reduce': {'input': 0, 'in': 1}}", "!40078"},
          {"{'$reduce': {'input': 0, 'initialValue': 1}}", "!40079"},
          {"{'$reduce': {'x': 0}}", "!40076"},
          {"{'$reduce': 1}", "!40075"},
      }},
      kArrays);
}

// A document {a: [...], i: begin, n: length} with the elements of an array.
struct Model {
  std::vector<int32_t> elements;
  int32_t begin;
  int32_t length;

  bson::Document document() const {
    bson::Builder builder;
    builder.append("i", begin).append("n", length).open_array("a");
    for (const int32_t element : elements) builder.push(bson::Value(element));
    return std::move(builder.close()).finish();
  }

  std::string give(const char* expression) const {
    return evaluate_to_text(*parse_json("{'x': " + std::string(expression) + "}").find("x"),
                            document());
  }
};

std::string as_text(const std::vector<int32_t>& elements) {
  bson::Builder builder;
  builder.open_array("x");
  for (const int32_t element : elements) builder.push(bson::Value(element));
  const bson::Document document = std::move(builder.close()).finish();
  std::string text = bson::to_json(*document.find("x"), bson::JsonForm::kCanonical);
  std::replace(text.begin(), text.end(), '"', '\'');
  return text;
}

TEST(ArrayExpressionTest, RandomArraysAgreeWithVectors) {
  std::mt19937_64 random(4711);
  for (int round = 0; round < 300; ++round) {
    Model model{
        {}, static_cast<int32_t>(random() % 20) - 10, static_cast<int32_t>(random() % 10) + 1};
    const size_t size = random() % 12;
    for (size_t i = 0; i < size; ++i) {
      model.elements.push_back(static_cast<int32_t>(random() % 9) - 4);
    }
    SCOPED_TRACE(as_text(model.elements) + " from " + std::to_string(model.begin) + ", " +
                 std::to_string(model.length) + " elements");
    const std::vector<int32_t>& all = model.elements;
    const auto count = static_cast<int32_t>(all.size());

    const int32_t begin = model.begin < 0 ? std::max(0, count + model.begin) : model.begin;
    std::vector<int32_t> slice;
    for (int32_t i = begin; i < std::min(count, begin + model.length); ++i) {
      slice.push_back(all[static_cast<size_t>(i)]);
    }
    EXPECT_EQ(model.give("{'$slice': ['$a', '$i', '$n']}"), as_text(slice));

    EXPECT_EQ(model.give("{'$reverseArray': '$a'}"), as_text({all.rbegin(), all.rend()}));

    std::vector<int32_t> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(model.give("{'$sortArray': {'input': '$a', 'sortBy': 1}}"), as_text(sorted));
    const auto kept = std::min(sorted.size(), static_cast<size_t>(model.length));
    EXPECT_EQ(model.give("{'$minN': {'n': '$n', 'input': '$a'}}"),
              as_text({sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(kept)}));

    const std::set<int32_t> set(all.begin(), all.end());
    EXPECT_EQ(model.give("{'$setUnion': ['$a', '$a']}"), as_text({set.begin(), set.end()}));
    EXPECT_EQ(model.give("{'$in': ['$i', '$a']}"), set.contains(model.begin) ? "true" : "false");

    std::vector<int32_t> above;
    std::copy_if(all.begin(), all.end(), std::back_inserter(above),
                 [&](int32_t element) { return element > model.begin; });
    EXPECT_EQ(model.give("{'$filter': {'input': '$a', 'cond': {'$gt': ['$$this', '$i']}}}"),
              as_text(above));

    // Converts to text and objects, and back.
    EXPECT_EQ(model.give("{'$map': {'input': {'$objectToArray': {'$arrayToObject': {'$zip': "
                         "{'inputs': [{'$map': {'input': {'$range': [0, {'$size': '$a'}]}, 'in': "
                         "{'$toString': '$$this'}}}, '$a']}}}}, 'in': '$$this.v'}}"),
              as_text(all));
  }
}

}  // namespace
}  // namespace gridmount::query
