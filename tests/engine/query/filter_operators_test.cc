// Goal: the edge cases of each operator (arrays, null, missing fields, unsuitable types), and each
// refusal with MongoDB's code and message.
// Method: tables as in filter_test.cc, which has the rules that operators share.

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/bson/builder.h"
#include "tests/engine/query/filter_cases.h"

namespace gridmount::query {
namespace {

// {'$binary': ...} of some bytes in base64.
std::string binary(const std::string& base64) {
  return "{'$binary': {'base64': '" + base64 + "', 'subType': '00'}}";
}

std::string field(const std::string& value) {
  return "{'a': " + value + "}";
}

TEST(FilterOperatorsTest, Bits) {
  const std::string kMinusOne = field("-1");
  const std::string kBytes36 = field(binary("Ng=="));  // 0b00110110
  check_filters({
      {"{'a': {'$bitsAllSet': [1, 5]}}",
       {"{'a': 54}", kMinusOne, kBytes36, "{'a': [0, 54]}", "{'a': 54.0}",
        "{'a': {'$numberLong': '54'}}", "{'a': {'$numberDecimal': '54'}}"},
       {"{'a': 20}", "{}", "{'a': null}", "{'a': '54'}", "{'a': 54.5}", "{'a': true}",
        "{'a': {'$numberDouble': 'NaN'}}", "{'a': {'$numberDouble': 'Infinity'}}",
        "{'a': {'$numberDecimal': '54.5'}}", "{'a': 1e300}", "{'a': [2, 32]}"}},
      // Old binary data begins with its length.
      {field("{'$bitsAllSet': [0, 1]}"),
       {"{'a': {'$binary': {'base64': 'AQIE', 'subType': '02'}}}"},
       {"{'a': {'$binary': {'base64': 'AQIE', 'subType': '00'}}}"}},
      {"{'a': {'$bitsAllSet': 50}}", {"{'a': 54}", "{'a': 50}", kBytes36}, {"{'a': 18}"}},
      {field("{'$bitsAllSet': " + binary("MA==") + "}"), {"{'a': 54}", kBytes36}, {"{'a': 32}"}},
      {"{'a': {'$bitsAnySet': [1, 5]}}", {"{'a': 2}", "{'a': 32}", kMinusOne}, {"{'a': 21}", "{}"}},
      {"{'a': {'$bitsAllClear': [1, 5]}}",
       {"{'a': 20}", "{'a': 0}", "{'a': 0.0}", "{'a': [54, 20]}"},
       {"{'a': 54}", "{'a': 2}", "{}", "{'a': null}", kMinusOne, "{'a': 20.5}"}},
      {"{'a': {'$bitsAnyClear': [1, 5]}}", {"{'a': 2}", "{'a': 20}"}, {"{'a': 54}", kMinusOne}},
      // Beyond its 64 bits a number continues with its sign bit, and binary data with zeros.
      {"{'a': {'$bitsAllSet': [63, 64, 2147483647]}}", {kMinusOne}, {"{'a': 1}", kBytes36}},
      {"{'a': {'$bitsAllClear': [63, 64, 2147483647]}}", {"{'a': 1}", kBytes36}, {kMinusOne}},
      {field("{'$bitsAllSet': " + binary("AAAAAAAAAAAB") + "}"), {kMinusOne}, {"{'a': 1}"}},
      {"{'a': {'$bitsAllSet': [8]}}", {field(binary("AAE="))}, {field(binary("AQA="))}},
      // An empty list of bits matches every number.
      {"{'a': {'$bitsAllSet': []}}", {"{'a': 0}"}, {"{'a': 'x'}", "{}"}},
      {"{'a': {'$bitsAnySet': 0}}", {}, {"{'a': 1}"}},
      {"{'a': {'$bitsAllClear': 0}}", {"{'a': 1}"}, {"{'a': 'x'}"}},
      {"{'a': {'$bitsAnyClear': []}}", {}, {"{'a': 1}"}},
      {"{'a': {'$not': {'$bitsAllSet': 1}}}", {"{'a': 2}", "{}", "{'a': 'x'}"}, {"{'a': 1}"}},
      {"{'a': {'$elemMatch': {'$bitsAllSet': 1, '$gt': 5}}}", {"{'a': [7]}"}, {"{'a': [1, 6]}"}},
      {field("{'$bitsAllSet': {'$numberLong': '9223372036854775807'}}"),
       {kMinusOne, "{'a': {'$numberLong': '9223372036854775807'}}"},
       {"{'a': {'$numberLong': '-9223372036854775808'}}"}},
  });
}

TEST(FilterOperatorsTest, Mod) {
  check_filters({
      {"{'a': {'$mod': [4, 1]}}",
       {"{'a': 5}", "{'a': 5.9}", "{'a': {'$numberDecimal': '5.9'}}", "{'a': ['x', 9]}"},
       {"{'a': -3}", "{'a': '5'}", "{'a': null}", "{}", "{'a': {'$numberDouble': 'NaN'}}",
        "{'a': {'$numberDouble': '-Infinity'}}", "{'a': 1e300}",
        "{'a': {'$numberDecimal': '1E+30'}}"}},
      {"{'a': {'$mod': [4, -3]}}", {"{'a': -3}", "{'a': -7.5}"}, {"{'a': 1}"}},
      {"{'a': {'$mod': [-4, 1]}}", {"{'a': 5}"}, {"{'a': -5}"}},
      {"{'a': {'$mod': [4.9, 1.2]}}", {"{'a': 5}"}, {"{'a': 6}"}},
      {"{'a': {'$mod': [10, 3]}}", {"{'a': {'$numberDecimal': '9007199254740993.5'}}"}, {}},
      {"{'a': {'$mod': [{'$numberDecimal': '4.5'}, {'$numberLong': '0'}]}}", {"{'a': 8}"}, {}},
      {"{'a': {'$not': {'$mod': [4, 0]}}}", {"{}", "{'a': 'x'}", "{'a': 5}"}, {"{'a': [5, 8]}"}},
  });
}

TEST(FilterOperatorsTest, RegularExpressions) {
  const auto regex = [](const std::string& pattern, const std::string& options) {
    return "{'$regularExpression': {'pattern': '" + pattern + "', 'options': '" + options + "'}}";
  };
  check_filters({
      // $eq compares with the regular expression itself. Without $eq it is a pattern.
      {field("{'$eq': " + regex("^x", "") + "}"), {field(regex("^x", ""))}, {"{'a': 'x'}"}},
      {field(regex("^x", "")), {field(regex("^x", "")), "{'a': 'x'}"}, {field(regex("^x", "i"))}},
      {field("{'$in': [" + regex("^x", "") + ", " + regex("y$", "i") + ", 5]}"),
       {"{'a': 'x'}", "{'a': 'aY'}", "{'a': 5}", "{'a': [1, 'y']}"},
       {"{'a': 'Xb'}", "{'a': null}", "{}", "{'a': 6}"}},
      {field("{'$nin': [" + regex("^x", "") + ", 5]}"),
       {"{}", "{'a': 'y'}", "{'a': [1, 2]}"},
       {"{'a': 'xy'}", "{'a': [1, 'x']}", "{'a': 5}"}},
      {field("{'$all': [" + regex("^x", "") + ", " + regex("y$", "") + "]}"),
       {"{'a': 'xy'}", "{'a': ['x', 'y']}"},
       {"{'a': ['x']}", "{}"}},
      {field("{'$elemMatch': {'~regex': '^x', '$ne': 'xx'}}"),
       {"{'a': ['xy']}"},
       {"{'a': ['xx']}"}},
      {field("{'$not': " + regex("^x", "") + "}"), {"{}", "{'a': 1}"}, {"{'a': ['y', 'x']}"}},
      {field("{'$not': {'~regex': '^x', '$gte': 'xb'}}"), {"{'a': 'xa'}", "{}"}, {"{'a': 'xb'}"}},
  });
}

TEST(FilterOperatorsTest, Arrays) {
  check_filters({
      {"{'a': {'$size': 0}}", {"{'a': []}"}, {"{}", "{'a': null}", "{'a': [[]]}", "{'a': {}}"}},
      {"{'a': {'$size': 2.0}}", {"{'a': [1, [2]]}"}, {"{'a': [1]}"}},
      {"{'a.b': {'$size': 1}}", {"{'a': [{'b': 1}, {'b': [1]}]}"}, {"{'a': [{'b': 1}]}"}},
      {"{'a': {'$all': [null]}}", {"{}", "{'a': null}", "{'a': [1, null]}"}, {"{'a': [1]}"}},
      // A document whose name is not an operator is a value, as for mongod 6.0.5.
      {"{'a': {'$all': [{'$unknown': 1}]}}", {"{'a': {'$unknown': 1}}"}, {"{'a': 1}"}},
      {"{'a': {'$all': [[]]}}", {"{'a': []}", "{'a': [[], 1]}"}, {"{'a': [1]}", "{}"}},
      {"{'a.b': {'$all': [1, 2]}}", {"{'a': [{'b': 1}, {'b': 2}]}"}, {"{'a': [{'b': 1}]}"}},
      {"{'a': {'$all': [{'b': 1}, {'c': 1}]}}",
       {"{'a': [{'b': 1}, {'c': 1}]}"},
       {"{'a': {'b': 1}}"}},
      {"{'a': {'$all': [{'$elemMatch': {'$gt': 1, '$lt': 3}}, {'$elemMatch': {'$gt': 5}}]}}",
       {"{'a': [2, 6]}"},
       {"{'a': [2, 4]}", "{'a': 2}"}},
      {"{'a': {'$not': {'$all': [1, 2]}}}", {"{'a': [1]}", "{}"}, {"{'a': [1, 2]}"}},
      {"{'a': {'$elemMatch': {}}}",
       {"{'a': [{}]}", "{'a': [{'b': 1}]}"},
       {"{'a': [1]}", "{'a': []}"}},
      {"{'a': {'$elemMatch': {'$exists': true}}}", {"{'a': [null]}"}, {"{'a': []}", "{}"}},
      {"{'a': {'$elemMatch': {'$exists': false}}}", {}, {"{'a': [1]}", "{'a': []}", "{}"}},
      {"{'a': {'$elemMatch': {'$not': {'$gt': 1}}}}", {"{'a': [1, 2]}"}, {"{'a': [2]}"}},
      {"{'a': {'$elemMatch': {'$in': [1, 2], '$nin': [2]}}}", {"{'a': [1]}"}, {"{'a': [2, 3]}"}},
      {"{'a': {'$elemMatch': {'$elemMatch': {'$gt': 1}}}}", {"{'a': [[2]]}"}, {"{'a': [2]}"}},
      {"{'a': {'$elemMatch': {'0': 1}}}", {"{'a': [[1]]}", "{'a': [{'0': 1}]}"}, {"{'a': [1]}"}},
      {"{'a': {'$elemMatch': {'b': {'$exists': false}}}}",
       {"{'a': [{'c': 1}]}"},
       {"{'a': [{'b': 1}]}"}},
      {"{'a': {'$elemMatch': {'$and': [{'b': 1}, {'c': 1}]}}}",
       {"{'a': [{'b': 1, 'c': 1}]}"},
       {"{'a': [{'b': 1}, {'c': 1}]}"}},
      {"{'a': {'$elemMatch': {'$nor': [{'b': 1}]}}}", {"{'a': [{'b': 2}]}"}, {"{'a': [{'b': 1}]}"}},
      {"{'a': {'$elemMatch': {'$jsonSchema': {'required': ['b']}}}}",
       {"{'a': [{'b': 1}]}"},
       {"{'a': [{'c': 1}]}", "{'a': {'b': 1}}"}},
      {"{'a.b': {'$elemMatch': {'$gt': 1}}}", {"{'a': [{'b': [2]}]}"}, {"{'a': [{'b': 2}]}"}},
  });
}

TEST(FilterOperatorsTest, ElementsAndTypes) {
  check_filters({
      {"{'a': {'$exists': null}}", {"{}"}, {"{'a': 1}"}},
      {"{'a': {'$exists': 0.0}}", {"{}"}, {"{'a': 1}"}},
      {"{'a': {'$exists': 'no'}}", {"{'a': 1}"}, {"{}"}},
      {"{'a.0': {'$exists': true}}", {"{'a': [1]}", "{'a': {'0': 1}}"}, {"{'a': []}"}},
      {"{'a': {'~type': 'null'}}", {"{'a': null}", "{'a': [null]}"}, {"{}", "{'a': []}"}},
      {"{'a': {'~type': 'array'}}", {"{'a': []}", "{'a': [[1]]}"}, {"{'a': {}}"}},
      {"{'a': {'~type': 'object'}}", {"{'a': {}}", "{'a': [{}]}"}, {"{'a': []}"}},
      {"{'a': {'~type': 'number'}}", {"{'a': {'$numberDecimal': '1'}}"}, {"{'a': true}"}},
      {"{'a': {'~type': ['bool', 'date']}}", {"{'a': false}", "{'a': {'$date': 0}}"}, {"{'a': 0}"}},
      {"{'a': {'$not': {'~type': 'int'}}}", {"{}", "{'a': 'x'}"}, {"{'a': 1}", "{'a': ['x', 1]}"}},
  });
  const std::pair<const char*, const char*> kTypeNames[] = {
      {"double", "1.5"},
      {"string", "'x'"},
      {"object", "{}"},
      {"array", "[]"},
      {"binData", "{'$binary': {'base64': '', 'subType': '00'}}"},
      {"undefined", "{'$undefined': true}"},
      {"objectId", "{'$oid': '0123456789abcdef01234567'}"},
      {"bool", "true"},
      {"date", "{'$date': {'$numberLong': '1'}}"},
      {"null", "null"},
      {"regex", "{'$regularExpression': {'pattern': 'x', 'options': ''}}"},
      {"dbPointer", "{'$dbPointer': {'$ref': 'c', '$id': {'$oid': '0123456789abcdef01234567'}}}"},
      {"javascript", "{'$code': 'f'}"},
      {"symbol", "{'$symbol': 'x'}"},
      {"javascriptWithScope", "{'$code': 'f', '$scope': {}}"},
      {"int", "{'$numberInt': '1'}"},
      {"timestamp", "{'$timestamp': {'t': 1, 'i': 1}}"},
      {"long", "{'$numberLong': '1'}"},
      {"decimal", "{'$numberDecimal': '1'}"},
      {"minKey", "{'$minKey': 1}"},
      {"maxKey", "{'$maxKey': 1}"},
  };
  for (const auto& [asked, ignored] : kTypeNames) {
    const Filter filter = parse_filter_json("{'a': {'~type': '" + std::string(asked) + "'}}");
    for (const auto& [type, value] : kTypeNames) {
      EXPECT_EQ(filter.matches(parse_json(field(value))), asked == type)
          << asked << " of " << value;
    }
  }
}

TEST(FilterOperatorsTest, WholeDocuments) {
  check_filters({
      {"{'$alwaysTrue': 1}", {"{}", "{'a': 1}"}, {}},
      {"{'$alwaysFalse': 1}", {}, {"{}", "{'a': 1}"}},
      {"{'$nor': [{'$alwaysFalse': 1.0}]}", {"{}"}, {}},
      {"{'$or': [{'$alwaysFalse': 1}, {'a': 1}]}", {"{'a': 1}"}, {"{}"}},
      {"{'$sampleRate': 1}", {"{}"}, {}},
      {"{'$sampleRate': 0.0}", {}, {"{}"}},
      {"{'$comment': {'any': ['thing']}, 'a': 1}", {"{'a': 1}"}, {"{}"}},
      // References to documents of other collections are plain values.
      {"{'a': {'$ref': 'c', '$id': 1}}",
       {"{'a': {'$ref': 'c', '$id': 1}}"},
       {"{'a': {'$ref': 'c'}}"}},
      {"{'a.$id': 1}", {"{'a': {'$ref': 'c', '$id': 1}}"}, {"{'a': {'$ref': 'c', '$id': 2}}"}},
      {"{'a': {'$elemMatch': {'$ref': 'c', '$id': 1}}}",
       {"{'a': [{'$ref': 'c', '$id': 1}]}"},
       {"{'a': [{}]}"}},
      {"{'a': {'$elemMatch': {'$id': 1}}}", {"{'a': [{'$ref': 'c', '$id': 1}]}"}, {"{'a': [1]}"}},
  });
}

TEST(FilterOperatorsTest, SampleRate_LetsThroughAboutThatMany) {
  const Filter filter = parse_filter_json("{'$sampleRate': 0.25}");
  const bson::Document document;
  int matching = 0;
  for (int i = 0; i < 40'000; ++i) matching += filter.matches(document) ? 1 : 0;
  EXPECT_GT(matching, 8'000);
  EXPECT_LT(matching, 12'000);
}

TEST(FilterOperatorsTest, Refused) {
  const std::string kConsider =
      ". If you have a field name that starts with a '$' symbol, consider using $getField or "
      "$setField.";
  check_refused({
      {"{'$where': '1'}", 2, "no globalScriptEngine in $where parsing..."},
      {"{'a': {'$where': '1'}}", 2, "$where cannot be applied to a field"},
      {"{'$text': {'$search': 'x'}}", 27, "text index required for $text query"},
      {"{'$foo': 1}", 2, "unknown top level operator: $foo" + kConsider},
      {"{'$gt': 1}", 2, "unknown top level operator: $gt" + kConsider},
      {"{'a': {'$foo': 1}}", 2, "unknown operator: $foo"},
      {"{'a': {'$gt': 1, 'b': 2}}", 2, "unknown operator: b"},
      {"{'a': {'$comment': 'x'}}", 2, "unknown operator: $comment"},
      {"{'a': {'$near': [1, 1]}}", 291, "unable to find index for $geoNear query..."},
      {"{'a': {'$geoWithin': {}}}", 115, "$geoWithin is not supported..."},
      {"{'a': {'$geoIntersects': {}}}", 115, "$geoIntersects is not supported..."},
      {"{'$and': {}}", 2, "$and must be an array"},
      {"{'$or': []}", 2, "$and/$or/$nor must be a nonempty array"},
      {"{'$nor': [1]}", 2, "$or/$and/$nor entries need to be full objects"},
      {"{'a': {'$in': 1}}", 2, "$in needs an array"},
      {"{'a': {'$nin': 1}}", 2, "$nin needs an array"},
      {"{'a': {'$in': [{'$gt': 1}]}}", 2, "cannot nest $ under $in"},
      {"{'a': {'$in': [{'$undefined': true}]}}", 2, "cannot compare to undefined"},
      {"{'a': {'$undefined': true}}", 2, "cannot compare to undefined"},
      {"{'a': {'$gt': {'$undefined': true}}}", 2, "cannot compare to undefined"},
      {"{'a': {'$gt': {'$regularExpression': {'pattern': 'a', 'options': ''}}}}", 2,
       "Can't have RegEx as arg to predicate over field 'a'."},
      {"{'a': {'$ne': {'$regularExpression': {'pattern': 'a', 'options': ''}}}}", 2,
       "Can't have regex as arg to $ne."},
      {"{'a': {'$not': 1}}", 2, "$not needs a regex or a document"},
      {"{'a': {'$not': {}}}", 2, "$not cannot be empty"},
      {"{'a': {'$not': {'b': 1}}}", 2, "unknown operator: b"},
      {"{'$not': {'a': 1}}", 2, "unknown top level operator: $not" + kConsider},
      {"{'a': {'$size': -1}}", 2,
       "Failed to parse $size. Expected a non-negative number in: $size: -1"},
      {"{'a': {'$size': 1.5}}", 2, "Failed to parse $size. Expected an integer: $size: 1.5"},
      {"{'a': {'$size': 'x'}}", 2, "Failed to parse $size. Expected a number in: $size: \"x\""},
      {"{'a': {'$size': 3000000000}}", 2,
       "Failed to parse $size. Cannot represent in an int: $size: 3000000000"},
      {"{'a': {'$all': 1}}", 2, "$all needs an array"},
      {"{'a': {'$all': [{'$gt': 1}]}}", 2, "no $ expressions in $all"},
      {"{'a': {'$all': [{'$elemMatch': {'b': 1}}, 2]}}", 2, "$all/$elemMatch has to be consistent"},
      {"{'a': {'$elemMatch': 1}}", 2, "$elemMatch needs an Object"},
      {"{'a': {'$elemMatch': {'$foo': 1}}}", 2, "unknown operator: $foo"},
      {"{'a': {'$elemMatch': {'$expr': true}}}", 2,
       "$expr can only be applied to the top-level document"},
      {"{'a': {'$elemMatch': {'b': 1, '$text': {}}}}", 2,
       "$text can only be applied to the top-level document"},
      {"{'a': {'$mod': 1}}", 2, "malformed mod, needs to be an array"},
      {"{'a': {'$mod': []}}", 2, "malformed mod, not enough elements"},
      {"{'a': {'$mod': [1]}}", 2, "malformed mod, not enough elements"},
      {"{'a': {'$mod': [1, 2, 3]}}", 2, "malformed mod, too many elements"},
      {"{'a': {'$mod': ['x', 2]}}", 2, "malformed mod, divisor not a number"},
      {"{'a': {'$mod': [2, 'x']}}", 2, "malformed mod, remainder not a number"},
      {"{'a': {'$mod': [0, 1]}}", 2, "divisor cannot be 0"},
      {"{'a': {'$mod': [0.5, 1]}}", 2, "divisor cannot be 0"},
      {"{'a': {'$mod': [{'$numberDouble': 'NaN'}, 1]}}", 2,
       "malformed mod, divisor value is invalid :: caused by :: Unable to coerce NaN/Inf to "
       "integral type"},
      {"{'a': {'$mod': [2, 1e300]}}", 2,
       "malformed mod, remainder value is invalid :: caused by :: Out of bounds coercing to "
       "integral value"},
      {"{'a': {'~type': 'nonsense'}}", 2, "Unknown type name alias: nonsense"},
      {"{'a': {'~type': 'missing'}}", 2, "'missing' is not a legal type name..."},
      {"{'a': {'~type': []}}", 9, "a must match at least one type"},
      {"{'a': {'~type': [true]}}", 14, "type must be represented as a number or a string"},
      {"{'a': {'~regex': '('}}", 51091, "Regular expression is invalid: ..."},
      {"{'a': {'~regex': 1}}", 2, "$regex has to be a string"},
      {"{'a': {'$bitsAllSet': 'x'}}", 2,
       "a takes an Array, a number, or a BinData but received: $bitsAllSet: \"x\""},
      {"{'a': {'$bitsAnySet': -1}}", 9, "Expected a non-negative number in: $bitsAnySet: -1"},
      {"{'a': {'$bitsAnyClear': 1.5}}", 9, "Expected an integer: $bitsAnyClear: 1.5"},
      {"{'a': {'$bitsAllClear': [-1]}}", 2, "bit positions must be >= 0 but got: 0: -1"},
      {"{'a': {'$bitsAllClear': ['x']}}", 2, "bit positions must be an integer but got: 0: \"x\""},
      {"{'a': {'$bitsAllClear': [1.5]}}", 2, "bit positions must be an integer but got: 0: 1.5"},
      {"{'a': {'$bitsAllClear': [2147483648]}}", 2,
       "bit positions cannot be represented as a 32-bit signed integer: 0: 2147483648"},
      {"{'$alwaysTrue': 2}", 9, "$alwaysTrue must be an integer value of 1"},
      {"{'$alwaysFalse': 'x'}", 9, "Expected a number in: $alwaysFalse: \"x\""},
      {"{'$sampleRate': 'x'}", 2, "argument to $sampleRate must be a numeric type"},
      {"{'$sampleRate': 1.5}", 2, "numeric argument to $sampleRate must be in [0, 1]"},
      {"{'$sampleRate': {'$numberDouble': 'NaN'}}", 2,
       "numeric argument to $sampleRate must be in [0, 1]"},
      {"{'$jsonSchema': 1}", 14, "$jsonSchema must be an object"},
  });
}

TEST(FilterOperatorsTest, Refused_WherePlainConditionsAreAsked) {
  FilterOptions options;
  options.special_operators = false;
  for (const char* name : {"$expr", "$jsonSchema", "$text"}) {
    const std::string alone = "{'" + std::string(name) + "': {}}";
    for (const std::string& json : {alone, "{'$or': [" + alone + "]}"}) {
      const Result<Filter> filter = Filter::parse(parse_json(json), options);
      ASSERT_FALSE(filter) << json;
      EXPECT_EQ(static_cast<int>(filter.error().code()), 224);
      EXPECT_EQ(filter.error().message(), std::string(name) + " is not allowed in this context");
    }
  }
  EXPECT_TRUE(Filter::parse(parse_json("{'$alwaysTrue': 1, 'a': {'$gt': 1}}"), options));
}

TEST(FilterOperatorsTest, Refused_ExpressionOfAnUpsert) {
  FilterOptions options;
  options.is_upsert = true;
  const Result<Filter> filter = Filter::parse(parse_json("{'a': 1, '$expr': true}"), options);
  ASSERT_FALSE(filter);
  EXPECT_EQ(static_cast<int>(filter.error().code()), 224);
  EXPECT_EQ(filter.error().message(), "$expr is not allowed in the query predicate for an upsert");
  EXPECT_TRUE(Filter::parse(parse_json("{'$jsonSchema': {'required': ['a']}}"), options));
}

TEST(FilterOperatorsTest, RegexThatIsGivenUp_IsAnError) {
  bson::Builder builder;
  builder.append("a", std::string(100'000, 'a') + "b").append("b", "x");
  const bson::Document document = std::move(builder).finish();
  const std::string kEndless = "{'$regularExpression': {'pattern': '^(a+)+$', 'options': ''}}";
  for (const std::string& json :
       {field(kEndless), field("{'$not': " + kEndless + "}"),
        field("{'$in': [1, " + kEndless + "]}"), "{'$nor': [" + field(kEndless) + "]}",
        std::string("{'$jsonSchema': {'properties': {'a': {'pattern': '^(a+)+$'}}}}"),
        std::string("{'$jsonSchema': {'not': {'properties': {'a': {'pattern': '^(a+)+$'}}}}}")}) {
    const Filter filter = parse_filter_json(json);
    const Result<bool> matches = filter.evaluate(document);
    ASSERT_FALSE(matches) << json;
    EXPECT_EQ(static_cast<int>(matches.error().code()), 51156);
    EXPECT_FALSE(filter.matches(document)) << json;
  }
  // An earlier condition that decides is sufficient.
  EXPECT_FALSE(parse_filter_json("{'b': 'y', 'a': " + kEndless + "}").evaluate(document).value());
}

}  // namespace
}  // namespace gridmount::query
