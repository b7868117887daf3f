// Goal: each keyword of $jsonSchema allows and refuses what MongoDB's manual says, ignores values
// of other types, and malformed schemas are refused with MongoDB's codes.
// Method: tables of a schema for one property, with the values that the property may and may not
// have.

#include <gtest/gtest.h>

#include "engine/bson/builder.h"
#include "tests/engine/query/filter_cases.h"

namespace gridmount::query {
namespace {

// Checks schemas of the property `p`.
void check_schemas(std::vector<FilterCase> cases) {
  const auto document = [](std::string& value) { value = "{'p': " + value + "}"; };
  for (FilterCase& one : cases) {
    one.filter = "{'$jsonSchema': {'properties': {'p': " + one.filter + "}}}";
    for (std::string& value : one.matching) document(value);
    for (std::string& value : one.others) document(value);
    one.matching.emplace_back("{}");  // a missing property satisfies every schema
  }
  check_filters(cases);
}

TEST(JsonSchemaTest, Types) {
  check_schemas({
      {"{}", {"1", "null", "[]"}, {}},
      {"{'type': 'string'}", {"'x'", "''"}, {"1", "null", "['x']", "{'$symbol': 'x'}"}},
      {"{'type': 'number'}",
       {"1", "1.5", "{'$numberLong': '1'}", "{'$numberDecimal': '1'}"},
       {"'1'", "true", "[1]"}},
      {"{'type': 'boolean'}", {"true"}, {"0"}},
      {"{'type': 'object'}", {"{}"}, {"[]"}},
      {"{'type': 'array'}", {"[]", "[1]"}, {"{}"}},
      {"{'type': 'null'}", {"null"}, {"{'$undefined': true}", "0"}},
      {"{'type': ['string', 'null']}", {"'x'", "null"}, {"1"}},
      {"{'bsonType': 'int'}", {"1"}, {"1.0", "{'$numberLong': '1'}"}},
      {"{'bsonType': ['date', 'objectId', 'number']}",
       {"{'$date': {'$numberLong': '1'}}", "{'$oid': '0123456789abcdef01234567'}", "1.5"},
       {"'x'", "null"}},
  });
}

TEST(JsonSchemaTest, Numbers) {
  check_schemas({
      {"{'minimum': 3}",
       {"3", "3.0", "'x'", "null", "[1]"},
       {"2", "2.999", "{'$numberDouble': 'NaN'}"}},
      {"{'maximum': 3}", {"3", "-1", "{'a': 9}"}, {"4", "{'$numberDecimal': '3.1'}"}},
      {"{'minimum': 3, 'exclusiveMinimum': true}", {"4", "'x'"}, {"3", "3.0"}},
      {"{'maximum': 3, 'exclusiveMaximum': true}", {"2"}, {"3", "4"}},
      {"{'maximum': 3, 'exclusiveMaximum': false}", {"3"}, {"4"}},
      {"{'multipleOf': 3}",
       {"9", "0", "-6", "9.0", "'x'", "{'$numberDecimal': '9'}"},
       {"10", "9.5", "{'$numberDouble': 'NaN'}", "{'$numberDouble': 'Infinity'}"}},
      {"{'multipleOf': 0.1}", {"0.3", "1", "{'$numberDecimal': '0.7'}"}, {"0.35"}},
      {"{'multipleOf': {'$numberDecimal': '0.5'}}", {"1.5", "2"}, {"1.6"}},
      {"{'type': 'number', 'minimum': 1, 'maximum': 2}", {"1", "2"}, {"0", "3", "'x'"}},
  });
}

TEST(JsonSchemaTest, Strings) {
  check_schemas({
      {"{'minLength': 2}", {"'ab'", "'üä'", "1", "[]"}, {"'a'", "'ü'", "''"}},
      {"{'maxLength': 2}", {"''", "'äö'", "'€€'", "123"}, {"'abc'"}},
      {"{'minLength': 1.0, 'maxLength': {'$numberLong': '1'}}", {"'a'"}, {"''", "'ab'"}},
      {"{'pattern': '^a.c'}", {"'abcd'", "1", "null", "{'$symbol': 'x'}"}, {"'xabc'", "'ABC'"}},
  });
}

TEST(JsonSchemaTest, Arrays) {
  check_schemas({
      {"{'minItems': 1}", {"[1]", "[[]]", "'x'", "{}"}, {"[]"}},
      {"{'maxItems': 1}", {"[]", "[1]", "3"}, {"[1, 2]"}},
      {"{'uniqueItems': true}",
       {"[]", "[1, 2]", "[1, '1']", "'x'", "[[1], [2]]", "[{'a': 1}, {'a': 2}]", "[null]"},
       {"[1, 1]", "[1, 2, 1.0]", "[{'a': 1, 'b': 2}, {'b': 2, 'a': 1}]", "[[1], [1]]",
        "[null, null]", "[[{'a': 1, 'b': 2}], [{'b': 2, 'a': 1}]]"}},
      {"{'uniqueItems': false}", {"[1, 1]"}, {}},
      {"{'items': {'type': 'number', 'minimum': 1}}",
       {"[]", "[1, 2]", "'x'", "0"},
       {"[0]", "[1, 'x']", "[[1]]"}},
      {"{'items': [{'type': 'string'}, {'type': 'number'}]}",
       {"[]", "['a']", "['a', 1]", "['a', 1, null]", "5"},
       {"[1]", "['a', 'b']"}},
      {"{'items': [{'type': 'string'}], 'additionalItems': false}",
       {"[]", "['a']", "{}"},
       {"['a', 1]", "[1]"}},
      {"{'items': [{'type': 'string'}], 'additionalItems': {'type': 'number'}}",
       {"['a', 1, 2]", "['a']"},
       {"['a', 'b']", "['a', 1, 'b']"}},
      {"{'items': [], 'additionalItems': false}", {"[]"}, {"[1]"}},
      {"{'items': [{}], 'additionalItems': true}", {"[1, 2]"}, {}},
      // Without a list of items there are no additional items.
      {"{'additionalItems': false}", {"[1, 2]"}, {}},
      {"{'items': {'type': 'number'}, 'additionalItems': {'type': 'string'}}",
       {"[1, 2]"},
       {"['a']"}},
  });
}

TEST(JsonSchemaTest, Objects) {
  check_schemas({
      {"{'required': ['a', 'b']}",
       {"{'a': 1, 'b': null}", "{'b': 1, 'c': 1, 'a': 1}", "'x'", "[]"},
       {"{}", "{'a': 1}", "{'b': {'a': 1}}"}},
      {"{'required': ['a.b']}", {"{'a.b': 1}"}, {"{'a': {'b': 1}}"}},
      {"{'required': ['a','b','c','d','e','f','g','h','i','j']}",
       {"{'j':1,'i':1,'h':1,'g':1,'f':1,'e':1,'d':1,'c':1,'b':1,'a':1}"},
       {"{'j':1,'i':1,'h':1,'g':1,'f':1,'e':1,'d':1,'c':1,'b':1}"}},
      {"{'minProperties': 1}", {"{'a': 1}", "[]", "1"}, {"{}"}},
      {"{'maxProperties': 1}", {"{}", "{'a': 1}", "[1, 2]"}, {"{'a': 1, 'b': 2}"}},
      {"{'properties': {'a': {'type': 'number'}, 'b.c': {'type': 'string'}}}",
       {"{}", "{'a': 1}", "{'b': {'c': 1}}", "{'b.c': 'x'}", "[{'a': 'x'}]"},
       {"{'a': 'x'}", "{'b.c': 1}"}},
      {"{'patternProperties': {'^n': {'type': 'number'}, 's$': {'type': 'string'}}}",
       {"{}", "{'n1': 1, 'xs': 'x', 'y': null}", "[{'n': 'x'}]"},
       {"{'n1': 'x'}", "{'xs': 1}", "{'ns': 1}", "{'ns': 'x'}"}},
      {"{'properties': {'a': {}}, 'additionalProperties': false}",
       {"{}", "{'a': 1}", "[1]", "'x'"},
       {"{'b': 1}", "{'a': 1, 'b': 1}"}},
      {"{'properties': {'a': {}}, 'patternProperties': {'^b': {'type': 'number'}}, "
       "'additionalProperties': {'type': 'string'}}",
       {"{'a': 1, 'b': 2, 'c': 'x'}"},
       {"{'c': 1}", "{'b': 'x'}"}},
      {"{'additionalProperties': true}", {"{'b': 1}"}, {}},
      {"{'dependencies': {'a': ['b', 'c']}}",
       {"{}", "{'b': 1}", "{'a': 1, 'b': 1, 'c': 1}", "[]"},
       {"{'a': 1}", "{'a': 1, 'b': 1}"}},
      {"{'dependencies': {'a': {'required': ['b'], 'properties': {'b': {'type': 'number'}}}}}",
       {"{}", "{'b': 'x'}", "{'a': 1, 'b': 1}"},
       {"{'a': 1}", "{'a': 1, 'b': 'x'}"}},
  });
}

TEST(JsonSchemaTest, Logic) {
  check_schemas({
      {"{'allOf': [{'minimum': 1}, {'maximum': 2}]}", {"1", "2", "'x'"}, {"0", "3"}},
      {"{'anyOf': [{'type': 'string'}, {'minimum': 5}]}", {"'x'", "5", "null"}, {"1"}},
      {"{'oneOf': [{'minimum': 1}, {'maximum': 2}]}", {"0", "3"}, {"1", "'x'"}},
      {"{'not': {'type': 'string'}}", {"1", "null"}, {"'x'"}},
      {"{'not': {'not': {'type': 'string'}}}", {"'x'"}, {"1"}},
      {"{'not': {}}", {}, {"1", "null"}},
      {"{'enum': [1, 'x', null, [1, {'a': 1, 'b': 2}]]}",
       {"1", "1.0", "'x'", "null", "[1, {'b': 2, 'a': 1}]"},
       {"2", "[1]", "'X'", "[{'a': 1, 'b': 2}, 1]", "{'$undefined': true}"}},
      {"{'enum': [{'a': {'c': 1, 'd': 2}, 'b': 1}]}",
       {"{'b': 1, 'a': {'d': 2, 'c': 1.0}}"},
       {"{'a': {'c': 1, 'd': 2}}", "[{'a': {'c': 1, 'd': 2}, 'b': 1}]"}},
  });
}

TEST(JsonSchemaTest, WholeDocument) {
  check_filters({
      {"{'$jsonSchema': {}}", {"{}", "{'a': 1}"}, {}},
      {"{'$jsonSchema': {'bsonType': 'object', 'title': 't', 'description': 'd'}}", {"{}"}, {}},
      {"{'$jsonSchema': {'type': 'array'}}", {}, {"{}"}},
      {"{'$jsonSchema': {'required': ['a'], 'properties': {'a': {'bsonType': 'int'}}}}",
       {"{'a': 1}"},
       {"{}", "{'a': [1]}"}},
      {"{'$jsonSchema': {'maxProperties': 1}}", {"{'a': 1}"}, {"{'a': 1, 'b': 1}"}},
      {"{'$jsonSchema': {'enum': [{'a': 1, 'b': 2}]}}", {"{'b': 2, 'a': 1}"}, {"{}"}},
      {"{'$nor': [{'$jsonSchema': {'required': ['a']}}], 'b': 1}",
       {"{'b': 1}"},
       {"{'a': 1, 'b': 1}"}},
      {"{'$or': [{'$jsonSchema': {'required': ['a']}}, {'b': 1}]}",
       {"{'a': 1}", "{'b': 1}"},
       {"{}"}},
      {"{'$jsonSchema': {'properties': {'a': {'properties': {'b': {'type': 'number'}}, "
       "'required': ['b']}}}}",
       {"{'a': {'b': 1}}", "{'a': [{'b': 'x'}]}"},
       {"{'a': {'b': 'x'}}", "{'a': {}}"}},
  });
}

TEST(JsonSchemaTest, Refused) {
  const std::vector<RefusedFilter> kRefused = {
      {"{'foo': 1}", 9, "Unknown $jsonSchema keyword: foo"},
      {"{'$ref': 'x'}", 9, "$jsonSchema keyword '$ref' is not currently supported"},
      {"{'$schema': 'x'}", 9, "$jsonSchema keyword '$schema' is not currently supported"},
      {"{'default': 1}", 9, "$jsonSchema keyword 'default' is not currently supported"},
      {"{'definitions': {}}", 9, "$jsonSchema keyword 'definitions' is not currently supported"},
      {"{'format': 'x'}", 9, "$jsonSchema keyword 'format' is not currently supported"},
      {"{'id': 'x'}", 9, "$jsonSchema keyword 'id' is not currently supported"},
      {"{'title': 1}", 14, "$jsonSchema keyword 'title' must be of type string..."},
      {"{'description': 1}", 14, "$jsonSchema keyword 'description' must be of type string..."},
      {"{'type': 'integer'}", 9, "$jsonSchema type 'integer' is not currently supported."},
      {"{'bsonType': 'nonsense'}", 2, "Unknown type name alias: nonsense"},
      {"{'type': 'objectId'}", 2, "Unknown type name alias: objectId"},
      {"{'bsonType': 'boolean'}", 2, "Unknown type name alias: boolean"},
      {"{'type': 1}", 14,
       "$jsonSchema keyword 'type' must be either a string or an array of strings"},
      {"{'bsonType': [1]}", 14, "$jsonSchema keyword 'bsonType' array elements must be strings"},
      {"{'type': ['string', 'string']}", 9,
       "$jsonSchema keyword 'type' has duplicate value: string"},
      {"{'bsonType': []}", 9, "$jsonSchema keyword 'bsonType' must name at least one type"},
      {"{'type': 'string', 'bsonType': 'string'}", 9,
       "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'"},
      {"{'minimum': 'x'}", 14, "$jsonSchema keyword 'minimum' must be a number"},
      {"{'maximum': null}", 14, "$jsonSchema keyword 'maximum' must be a number"},
      {"{'exclusiveMinimum': true}", 9,
       "$jsonSchema keyword 'minimum' must be a present if exclusiveMinimum is present"},
      {"{'maximum': 1, 'exclusiveMaximum': 1}", 14,
       "$jsonSchema keyword 'exclusiveMaximum' must be a boolean"},
      {"{'multipleOf': 'x'}", 14, "$jsonSchema keyword 'multipleOf' must be a number"},
      {"{'multipleOf': 0}", 9, "$jsonSchema keyword 'multipleOf' must have a positive value"},
      {"{'multipleOf': -1.5}", 9, "$jsonSchema keyword 'multipleOf' must have a positive value"},
      {"{'minLength': -1}", 9, "Expected a non-negative number in: minLength: -1"},
      {"{'maxLength': 'x'}", 9, "Expected a number in: maxLength: \"x\""},
      {"{'minItems': 1.5}", 9, "Expected an integer: minItems: 1.5"},
      {"{'maxItems': -1}", 9, "Expected a non-negative number in: maxItems: -1"},
      {"{'minProperties': -1}", 9, "Expected a non-negative number in: minProperties: -1"},
      {"{'maxProperties': null}", 9, "Expected a number in: maxProperties: null"},
      {"{'pattern': 1}", 14, "$jsonSchema keyword 'pattern' must be a string"},
      {"{'pattern': '('}", 51091, "Regular expression is invalid: ..."},
      {"{'uniqueItems': 1}", 14, "$jsonSchema keyword 'uniqueItems' must be a boolean"},
      {"{'items': 1}", 14, "$jsonSchema keyword 'items' must be an array or an object, not int"},
      {"{'items': [1]}", 14,
       "$jsonSchema keyword 'items' requires that each element of the array is an object, but "
       "found "
       "a int"},
      {"{'additionalItems': 1}", 14,
       "$jsonSchema keyword 'additionalItems' must be either an object or a boolean, but got a "
       "int"},
      {"{'required': 'a'}", 14,
       "$jsonSchema keyword 'required' must be an array, but found an element of type string"},
      {"{'required': []}", 9, "$jsonSchema keyword 'required' cannot be an empty array"},
      {"{'required': [1]}", 14,
       "$jsonSchema keyword 'required' must be an array of strings, but found an element of type: "
       "int"},
      {"{'required': ['a', 'a']}", 9,
       "$jsonSchema keyword 'required' array cannot contain duplicate values"},
      {"{'properties': 1}", 14, "$jsonSchema keyword 'properties' must be an object"},
      {"{'properties': {'a': 1}}", 14,
       "Nested schema for $jsonSchema property 'a' must be an object"},
      {"{'patternProperties': 1}", 14, "$jsonSchema keyword 'patternProperties' must be an object"},
      {"{'patternProperties': {'a': 1}}", 14,
       "$jsonSchema keyword 'patternProperties' has property 'a' which is not an object"},
      {"{'patternProperties': {'(': {}}}", 51091, "Regular expression is invalid: ..."},
      {"{'additionalProperties': 1}", 14,
       "$jsonSchema keyword 'additionalProperties' must be an object or a boolean"},
      {"{'dependencies': []}", 14, "$jsonSchema keyword 'dependencies' must be an object"},
      {"{'dependencies': {'a': 1}}", 14,
       "property 'a' in $jsonSchema keyword 'dependencies' must be either an object or an array"},
      {"{'dependencies': {'a': []}}", 9,
       "property 'a' in $jsonSchema keyword 'dependencies' cannot be an empty array"},
      {"{'dependencies': {'a': [1]}}", 14,
       "array 'a' in $jsonSchema keyword 'dependencies' can only contain strings, but found "
       "element "
       "of type: int"},
      {"{'dependencies': {'a': ['b', 'b']}}", 9,
       "array 'a' in $jsonSchema keyword 'dependencies' contains duplicate element: b"},
      {"{'enum': 1}", 14,
       "$jsonSchema keyword 'enum' must be an array, but found an element of type int"},
      {"{'enum': []}", 9, "$jsonSchema keyword 'enum' cannot be an empty array"},
      {"{'enum': [1, 1.0]}", 9,
       "$jsonSchema keyword 'enum' array cannot contain duplicate values."},
      {"{'enum': [{'a': 1, 'b': 1}, {'b': 1, 'a': 1}]}", 9,
       "$jsonSchema keyword 'enum' array cannot contain duplicate values."},
      {"{'allOf': 1}", 14, "$jsonSchema keyword 'allOf' must be an array"},
      {"{'anyOf': []}", 2, "$jsonSchema keyword 'anyOf' must be a non-empty array"},
      {"{'oneOf': [1]}", 14,
       "$jsonSchema keyword 'oneOf' must be an array of objects, but found an element of type int"},
      {"{'not': 1}", 14,
       "$jsonSchema keyword 'not' must be an object, but found an element of type int"},
  };
  // Each schema is tested as the schema of the document, and wherever a nested schema may be
  // written.
  for (const char* around :
       {"SCHEMA", "{'properties': {'p': SCHEMA}}", "{'items': [SCHEMA]}", "{'items': SCHEMA}",
        "{'additionalItems': SCHEMA}", "{'not': SCHEMA}", "{'anyOf': [{}, SCHEMA]}",
        "{'dependencies': {'a': SCHEMA}}", "{'patternProperties': {'a': SCHEMA}}",
        "{'additionalProperties': SCHEMA}"}) {
    std::vector<RefusedFilter> cases = kRefused;
    for (RefusedFilter& one : cases) {
      std::string text = around;
      text.replace(text.find("SCHEMA"), 6, one.filter);
      one.filter = "{'$jsonSchema': " + text + "}";
    }
    check_refused(cases);
  }
}

TEST(JsonSchemaTest, Refused_RepeatedKeyword) {
  bson::Builder builder;
  builder.open_document("$jsonSchema").append("minimum", 1).append("minimum", 2).close();
  const Result<Filter> filter = Filter::parse(std::move(builder).finish());
  ASSERT_FALSE(filter);
  EXPECT_EQ(filter.error().code(), ErrorCode::kFailedToParse);
  EXPECT_EQ(filter.error().message(), "Duplicate $jsonSchema keyword: minimum");
}

TEST(JsonSchemaTest, Refused_NestedTooDeep) {
  const auto nested = [](int levels) {
    bson::Builder builder;
    builder.open_document("$jsonSchema");
    for (int i = 0; i < levels; ++i) builder.open_document("not");
    for (int i = 0; i < levels; ++i) builder.close();
    builder.close();
    return Filter::parse(std::move(builder).finish());
  };
  EXPECT_TRUE(nested(190));
  ASSERT_FALSE(nested(300));
  EXPECT_EQ(nested(300).error().code(), ErrorCode::kBadValue);
  EXPECT_FALSE(nested(100'000));
}

}  // namespace
}  // namespace gridmount::query
