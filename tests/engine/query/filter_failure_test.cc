// Goal: Filter::explain_failure() returns what servers report as errInfo.details.
// Method: tables of a filter, a document that does not match, and the explanation. The first cases
// are those of MongoDB's manual, "Schema Validation".

#include <gtest/gtest.h>

#include "engine/bson/builder.h"
#include "tests/engine/query/filter_cases.h"

namespace gridmount::query {
namespace {

struct FailureCase {
  std::string filter;
  std::string document;
  std::string explanation;
};

void check_failures(const std::vector<FailureCase>& cases) {
  for (const FailureCase& one : cases) {
    const Filter filter = parse_filter_json(one.filter);
    const bson::Document document = parse_json(one.document);
    ASSERT_FALSE(filter.matches(document)) << one.filter << " on " << one.document;
    EXPECT_EQ(show(filter.explain_failure(document)), show(parse_filter_text(one.explanation)))
        << one.filter << " on " << one.document;
  }
}

TEST(FilterFailureTest, Manual) {
  const std::string kStudents = R"({'$jsonSchema': {
      'bsonType': 'object', 'title': 'Student Object Validation',
      'required': ['address', 'major', 'name', 'year'],
      'properties': {
        'name': {'bsonType': 'string', 'description': 'must be a string and is required'},
        'year': {'bsonType': 'int', 'minimum': 2017, 'maximum': 3017,
                 'description': 'must be an integer in [2017, 3017] and is required'},
        'gpa': {'bsonType': ['double'], 'description': 'must be a double if the field exists'}}}})";
  check_failures({
      {kStudents, "{'name': 'Alice', 'year': 2019, 'major': 'History', 'gpa': 3, 'address': {}}",
       R"({'operatorName': '$jsonSchema', 'title': 'Student Object Validation',
           'schemaRulesNotSatisfied': [{'operatorName': 'properties', 'propertiesNotSatisfied': [
             {'propertyName': 'gpa', 'description': 'must be a double if the field exists',
              'details': [{'operatorName': 'bsonType', 'specifiedAs': {'bsonType': ['double']},
                           'reason': 'type did not match', 'consideredValue': 3,
                           'consideredType': 'int'}]}]}]})"},
      {kStudents, "{'name': 'Alice', 'year': 4000}",
       R"({'operatorName': '$jsonSchema', 'title': 'Student Object Validation',
           'schemaRulesNotSatisfied': [{'operatorName': 'properties', 'propertiesNotSatisfied': [
             {'propertyName': 'year',
              'description': 'must be an integer in [2017, 3017] and is required',
              'details': [{'operatorName': 'maximum', 'specifiedAs': {'maximum': 3017},
                           'reason': 'comparison failed', 'consideredValue': 4000}]}]},
            {'operatorName': 'required',
             'specifiedAs': {'required': ['address', 'major', 'name', 'year']},
             'missingProperties': ['address', 'major']}]})"},
      {"{'$expr': {'$eq': ['$total', {'$add': ['$item', '$tax']}]}}",
       "{'total': 141, 'item': 130, 'tax': 10}",
       R"({'operatorName': '$expr',
           'specifiedAs': {'$expr': {'$eq': ['$total', {'$add': ['$item', '$tax']}]}},
           'reason': 'expression did not match', 'expressionResult': false})"},
      {"{'$or': [{'phone': {'~type': 'string'}}, {'status': {'$in': ['Unknown', 'Incomplete']}}]}",
       "{'phone': 1, 'status': 'x'}",
       R"({'operatorName': '$or', 'clausesNotSatisfied': [
           {'index': 0, 'details': {'operatorName': '$type',
             'specifiedAs': {'phone': {'~type': 'string'}}, 'reason': 'type did not match',
             'consideredValue': 1, 'consideredType': 'int'}},
           {'index': 1, 'details': {'operatorName': '$in',
             'specifiedAs': {'status': {'$in': ['Unknown', 'Incomplete']}},
             'reason': 'no matching value found in array', 'consideredValue': 'x'}}]})"},
  });
}

// Each case is a condition on the field `a`: the operator's name, the condition, the value of `a`
// or "" for none, and the fields after specifiedAs.
TEST(FilterFailureTest, Operators) {
  struct OperatorCase {
    std::string name;
    std::string condition;
    std::string value;
    std::string rest;
  };
  const auto reason = [](const std::string& text) { return "'reason': '" + text + "', "; };
  const std::string kMissing = "'reason': 'field was missing'";
  const std::string kNumbers =
      "'expectedTypes': ['decimal', 'double', 'int', 'long'], 'consideredValue': ";
  const std::vector<OperatorCase> kCases = {
      {"$eq", "1", "2", reason("comparison failed") + "'consideredValue': 2"},
      {"$eq", "1", "", kMissing},
      {"$eq", "{'$eq': 1}", "[2, 3]", reason("comparison failed") + "'consideredValues': [2, 3]"},
      {"$eq", "1", "[1]", ""},
      {"$gt", "{'$gt': 1}", "'x'", reason("comparison failed") + "'consideredValue': 'x'"},
      {"$gte", "{'$gte': 1}", "", kMissing},
      {"$lt", "{'$lt': 1}", "[]", reason("comparison failed") + "'consideredValues': []"},
      {"$lte", "{'$lte': 1}", "[5]", reason("comparison failed") + "'consideredValue': 5"},
      {"$ne", "{'$ne': 1}", "1", reason("comparison succeeded") + "'consideredValue': 1"},
      {"$in", "{'$in': [1, 2]}", "3",
       reason("no matching value found in array") + "'consideredValue': 3"},
      {"$nin", "{'$nin': [1, 2]}", "2",
       reason("matching value found in array") + "'consideredValue': 2"},
      {"$exists", "{'$exists': true}", "", "'reason': 'path does not exist'"},
      {"$exists", "{'$exists': false}", "1", "'reason': 'path does exist'"},
      {"$type", "{'~type': 'int'}", "['x', 'y']",
       reason("type did not match") + "'consideredValues': ['x', 'y'], 'consideredType': 'string'"},
      {"$type", "{'~type': ['int', 'bool']}", "['x', 1.5]",
       reason("type did not match") +
           "'consideredValues': ['x', 1.5], 'consideredTypes': ['double', 'string']"},
      {"$regex", "{'$regularExpression': {'pattern': '^x', 'options': 'i'}}", "'y'",
       reason("regular expression did not match") + "'consideredValue': 'y'"},
      {"$regex", "{'$regularExpression': {'pattern': '^x', 'options': ''}}", "5",
       reason("type did not match") +
           "'consideredType': 'int', 'expectedTypes': ['regex', 'string', 'symbol'], "
           "'consideredValue': 5"},
      {"$mod", "{'$mod': [2, 0]}", "3",
       reason("$mod did not evaluate to expected remainder") + "'consideredValue': 3"},
      {"$mod", "{'$mod': [2, 0]}", "'x'",
       reason("type did not match") + "'consideredType': 'string', " + kNumbers + "'x'"},
      {"$size", "{'$size': 2}", "[1]",
       reason("array length was not equal to given size") + "'consideredValue': [1]"},
      {"$size", "{'$size': 2}", "1",
       reason("type did not match") +
           "'consideredType': 'int', 'expectedType': 'array', 'consideredValue': 1"},
      {"$all", "{'$all': [1, 2]}", "[1]",
       reason("array did not contain all specified values") + "'consideredValue': [1]"},
      {"$elemMatch", "{'$elemMatch': {'b': 1}}", "[{'b': 2}]",
       reason("array did not satisfy the child predicate") + "'consideredValue': [{'b': 2}]"},
      {"$bitsAllSet", "{'$bitsAllSet': 3}", "1",
       reason("bitwise operator failed to match") + "'consideredValue': 1"},
      {"$bitsAnyClear", "{'$bitsAnyClear': 3}", "", kMissing},
  };
  for (const OperatorCase& one : kCases) {
    if (one.rest.empty()) continue;
    const std::string filter = "{'a': " + one.condition + "}";
    check_failures({{filter, one.value.empty() ? "{}" : "{'a': " + one.value + "}",
                     "{'operatorName': '" + one.name + "', 'specifiedAs': " + filter + ", " +
                         one.rest + "}"}});
  }
}

TEST(FilterFailureTest, Logic) {
  const std::string kA =
      "{'operatorName': '$eq', 'specifiedAs': {'a': 1}, 'reason': 'comparison failed', "
      "'consideredValue': 2}";
  const std::string kMatched =
      "{'operatorName': '$eq', 'specifiedAs': {'a': 1}, 'reason': 'comparison succeeded', "
      "'consideredValue': 1}";
  const std::string kB =
      "{'operatorName': '$gt', 'specifiedAs': {'b': {'$gt': 1}}, 'reason': 'field was missing'}";
  check_failures({
      {"{'a': 1, 'b': {'$gt': 1}}", "{'a': 2}",
       "{'operatorName': '$and', 'clausesNotSatisfied': [{'index': 0, 'details': " + kA +
           "}, {'index': 1, 'details': " + kB + "}]}"},
      {"{'a': 1, 'b': {'$gt': 1}}", "{'a': 1}",
       "{'operatorName': '$and', 'clausesNotSatisfied': [{'index': 1, 'details': " + kB + "}]}"},
      {"{'$and': [{'a': 1}, {'b': {'$gt': 1}}]}", "{'a': 2, 'b': 5}",
       "{'operatorName': '$and', 'clausesNotSatisfied': [{'index': 0, 'details': " + kA + "}]}"},
      {"{'$or': [{'a': 1}, {'b': {'$gt': 1}}]}", "{'a': 2}",
       "{'operatorName': '$or', 'clausesNotSatisfied': [{'index': 0, 'details': " + kA +
           "}, {'index': 1, 'details': " + kB + "}]}"},
      {"{'$nor': [{'c': 1}, {'a': 1}]}", "{'a': 1}",
       "{'operatorName': '$nor', 'clausesSatisfied': [{'index': 1, 'details': " + kMatched + "}]}"},
      {"{'$nor': [{'$nor': [{'a': 1}, {'c': 1}]}]}", "{'a': 2, 'c': 2}",
       "{'operatorName': '$nor', 'clausesSatisfied': [{'index': 0, 'details': {'operatorName': "
       "'$nor', 'clausesNotSatisfied': [{'index': 0, 'details': " +
           kA +
           "}, {'index': 1, 'details': {'operatorName': '$eq', 'specifiedAs': {'c': 1}, 'reason': "
           "'comparison failed', 'consideredValue': 2}}]}}]}"},
      {"{'a': {'$not': {'$eq': 1}}}", "{'a': 1}",
       "{'operatorName': '$not', 'details': {'operatorName': '$eq', 'specifiedAs': {'a': {'$eq': "
       "1}}, 'reason': 'comparison succeeded', 'consideredValue': 1}}"},
      {"{'a': {'$not': {'$not': {'$eq': 1}}}}", "{'a': 2}",
       "{'operatorName': '$not', 'details': {'operatorName': '$not', 'details': {'operatorName': "
       "'$eq', 'specifiedAs': {'a': {'$eq': 1}}, 'reason': 'comparison failed', "
       "'consideredValue': 2}}}"},
      {"{'$id': {'$and': 'x'}}", "{'$id': 2}",
       "{'operatorName': '$eq', 'specifiedAs': {'$id': {'$and': 'x'}}, 'reason': 'comparison "
       "failed', 'consideredValue': 2}"},
      {"{'$alwaysFalse': 1}", "{}",
       "{'operatorName': '$alwaysFalse', 'specifiedAs': {'$alwaysFalse': 1}, 'reason': "
       "'expression always evaluates to false'}"},
      {"{'$nor': [{'$alwaysTrue': 1}]}", "{}",
       "{'operatorName': '$nor', 'clausesSatisfied': [{'index': 0, 'details': {'operatorName': "
       "'$alwaysTrue', 'specifiedAs': {'$alwaysTrue': 1}, 'reason': 'expression always evaluates "
       "to true'}}]}"},
      {"{'$nor': [{'$jsonSchema': {}}]}", "{}",
       "{'operatorName': '$nor', 'clausesSatisfied': [{'index': 0, 'details': {'operatorName': "
       "'$jsonSchema', 'reason': 'schema matched'}}]}"},
      {"{'$nor': [{'$expr': '$a'}]}", "{'a': 5}",
       "{'operatorName': '$nor', 'clausesSatisfied': [{'index': 0, 'details': {'operatorName': "
       "'$expr', 'specifiedAs': {'$expr': '$a'}, 'reason': 'expression did match', "
       "'expressionResult': 5}}]}"},
      {"{'$expr': '$a'}", "{}",
       "{'operatorName': '$expr', 'specifiedAs': {'$expr': '$a'}, 'reason': 'expression did not "
       "match'}"},
      {"{'$expr': {'$divide': [1, '$a']}}", "{'a': 0}",
       "{'operatorName': '$expr', 'specifiedAs': {'$expr': {'$divide': [1, '$a']}}, 'reason': "
       "'failed to evaluate aggregation expression', 'details': {'code': 2, 'codeName': "
       "'BadValue', "
       "'errmsg': 'can\\u0027t $divide by zero'}}"},
  });
}

// Each case is a schema of the property `p`: the schema, the value, and the `details`.
TEST(FilterFailureTest, SchemaKeywords) {
  struct KeywordCase {
    std::string schema;
    std::string value;
    std::string details;
  };
  const KeywordCase kCases[] = {
      {"{'minimum': 1, 'exclusiveMinimum': true}", "1",
       "{'operatorName': 'minimum', 'specifiedAs': {'minimum': 1, 'exclusiveMinimum': true}, "
       "'reason': 'comparison failed', 'consideredValue': 1}"},
      {"{'multipleOf': 2}", "3",
       "{'operatorName': 'multipleOf', 'specifiedAs': {'multipleOf': 2}, 'reason': 'considered "
       "value is not a multiple of the specified value', 'consideredValue': 3}"},
      {"{'minLength': 2}", "'x'",
       "{'operatorName': 'minLength', 'specifiedAs': {'minLength': 2}, 'reason': 'specified string "
       "length was not satisfied', 'consideredValue': 'x'}"},
      {"{'pattern': '^a'}", "'x'",
       "{'operatorName': 'pattern', 'specifiedAs': {'pattern': '^a'}, 'reason': 'regular "
       "expression did not match', 'consideredValue': 'x'}"},
      {"{'type': 'string', 'minimum': 5}", "1",
       "{'operatorName': 'minimum', 'specifiedAs': {'minimum': 5}, 'reason': 'comparison failed', "
       "'consideredValue': 1}, {'operatorName': 'type', 'specifiedAs': {'type': 'string'}, "
       "'reason': 'type did not match', 'consideredValue': 1, 'consideredType': 'int'}"},
      {"{'minItems': 2}", "[1]",
       "{'operatorName': 'minItems', 'specifiedAs': {'minItems': 2}, 'reason': 'array did not "
       "match specified length', 'consideredValue': [1], 'numberOfItems': 1}"},
      {"{'uniqueItems': true}", "[1, 2, 1]",
       "{'operatorName': 'uniqueItems', 'specifiedAs': {'uniqueItems': true}, 'reason': 'found a "
       "duplicate item', 'consideredValue': [1, 2, 1], 'duplicatedValue': 1}"},
      {"{'items': {'title': 't', 'minimum': 2}}", "[2, 1, 0]",
       "{'operatorName': 'items', 'title': 't', 'reason': 'At least one item did not match the "
       "sub-schema', 'itemIndex': 1, 'details': [{'operatorName': 'minimum', 'specifiedAs': "
       "{'minimum': 2}, 'reason': 'comparison failed', 'consideredValue': 1}]}"},
      {"{'items': [{}, {'minimum': 2}]}", "[0, 1]",
       "{'operatorName': 'items', 'details': [{'itemIndex': 1, 'details': [{'operatorName': "
       "'minimum', 'specifiedAs': {'minimum': 2}, 'reason': 'comparison failed', "
       "'consideredValue': 1}]}]}"},
      {"{'items': [{}], 'additionalItems': false}", "[0, 1, 2]",
       "{'operatorName': 'additionalItems', 'specifiedAs': {'additionalItems': false}, 'reason': "
       "'found additional items', 'additionalItems': [1, 2]}"},
      {"{'items': [{}], 'additionalItems': {'minimum': 2}}", "[0, 2, 1]",
       "{'operatorName': 'additionalItems', 'reason': 'At least one additional item did not match "
       "the sub-schema', 'itemIndex': 2, 'details': [{'operatorName': 'minimum', 'specifiedAs': "
       "{'minimum': 2}, 'reason': 'comparison failed', 'consideredValue': 1}]}"},
      {"{'minProperties': 2}", "{'a': 1}",
       "{'operatorName': 'minProperties', 'specifiedAs': {'minProperties': 2}, 'reason': "
       "'specified number of properties was not satisfied', 'numberOfProperties': 1}"},
      {"{'properties': {'a': {}}, 'additionalProperties': false}", "{'a': 1, 'b': 1, 'c': 1}",
       "{'operatorName': 'additionalProperties', 'specifiedAs': {'additionalProperties': false}, "
       "'additionalProperties': ['b', 'c']}"},
      {"{'additionalProperties': {'description': 'd', 'minimum': 2}}", "{'a': 2, 'b': 1, 'c': 0}",
       "{'operatorName': 'additionalProperties', 'description': 'd', 'reason': 'at least one "
       "additional property did not match the subschema', 'failingProperty': 'b', 'details': "
       "[{'operatorName': 'minimum', 'specifiedAs': {'minimum': 2}, 'reason': 'comparison failed', "
       "'consideredValue': 1}]}"},
      {"{'patternProperties': {'^b': {'minimum': 2}}}", "{'a': 2, 'b': 1}",
       "{'operatorName': 'patternProperties', 'details': [{'propertyName': 'b', 'regexMatched': "
       "'^b', 'details': [{'operatorName': 'minimum', 'specifiedAs': {'minimum': 2}, 'reason': "
       "'comparison failed', 'consideredValue': 1}]}]}"},
      {"{'dependencies': {'a': ['b', 'c'], 'c': ['d']}}", "{'a': 1, 'b': 1}",
       "{'operatorName': 'dependencies', 'failingDependencies': [{'conditionalProperty': 'a', "
       "'missingProperties': ['c']}]}"},
      {"{'dependencies': {'a': {'required': ['b']}}}", "{'a': 1}",
       "{'operatorName': 'dependencies', 'failingDependencies': [{'conditionalProperty': 'a', "
       "'details': [{'operatorName': 'required', 'specifiedAs': {'required': ['b']}, "
       "'missingProperties': ['b']}]}]}"},
      {"{'allOf': [{'minimum': 2}, {'maximum': 5}]}", "1",
       "{'operatorName': 'allOf', 'schemasNotSatisfied': [{'index': 0, 'details': "
       "[{'operatorName': "
       "'minimum', 'specifiedAs': {'minimum': 2}, 'reason': 'comparison failed', "
       "'consideredValue': 1}]}]}"},
      {"{'oneOf': [{'minimum': 2}, {'maximum': 5}]}", "3",
       "{'operatorName': 'oneOf', 'reason': 'more than one subschema matched', "
       "'matchingSchemaIndexes': [0, 1]}"},
      {"{'not': {'minimum': 2}}", "3",
       "{'operatorName': 'not', 'reason': 'child expression matched'}"},
      {"{'enum': [1, 2]}", "3",
       "{'operatorName': 'enum', 'specifiedAs': {'enum': [1, 2]}, 'reason': 'value was not found "
       "in enum', 'consideredValue': 3}"},
  };
  for (const KeywordCase& one : kCases) {
    check_failures(
        {{"{'$jsonSchema': {'properties': {'p': " + one.schema + "}}}", "{'p': " + one.value + "}",
          "{'operatorName': '$jsonSchema', 'schemaRulesNotSatisfied': [{'operatorName': "
          "'properties', 'propertiesNotSatisfied': [{'propertyName': 'p', 'details': [" +
              one.details + "]}]}]}"}});
  }
}

// The clauses and values are those of mongod 6.0.5.
TEST(FilterFailureTest, Collation_DecidesWhichClausesFail) {
  const SharedCollator ignoring_case =
      *Collator::parse(parse_json("{'locale': 'en', 'strength': 2}"));
  const std::vector<FailureCase> cases = {
      {"{'a': 'x', 'b': 'y'}", "{'a': 'X', 'b': 'q'}",
       R"({'operatorName': '$and', 'clausesNotSatisfied': [{'index': 1, 'details':
           {'operatorName': '$eq', 'specifiedAs': {'b': 'y'}, 'reason': 'comparison failed',
            'consideredValue': 'q'}}]})"},
      {"{'$nor': [{'a': 'x'}, {'b': 'y'}]}", "{'a': 'X'}",
       R"({'operatorName': '$nor', 'clausesSatisfied': [{'index': 0, 'details':
           {'operatorName': '$eq', 'specifiedAs': {'a': 'x'}, 'reason': 'comparison succeeded',
            'consideredValue': 'X'}}]})"},
      {"{'$expr': {'$cond': [{'$eq': ['$a', 'x']}, 0, false]}}", "{'a': 'X'}",
       R"({'operatorName': '$expr',
           'specifiedAs': {'$expr': {'$cond': [{'$eq': ['$a', 'x']}, 0, false]}},
           'reason': 'expression did not match', 'expressionResult': 0})"},
  };
  for (const FailureCase& one : cases) {
    const Result<Filter> filter = Filter::parse(
        parse_json(one.filter), {.explains_failures = true, .collator = ignoring_case});
    ASSERT_TRUE(filter);
    EXPECT_EQ(show(filter->explain_failure(parse_json(one.document))),
              show(parse_json(one.explanation)))
        << one.filter << " on " << one.document;
  }
}

TEST(FilterFailureTest, ManyValues_AreCut) {
  check_failures({{"{'a': 99}", "{'a': [1,2,3,4,5,6,7,8,9,10,11,12]}",
                   "{'operatorName': '$eq', 'specifiedAs': {'a': 99}, 'reason': 'comparison "
                   "failed', 'consideredValues': [1,2,3,4,5,6,7,8,9,10], "
                   "'consideredValuesTruncated': true}"}});
}

TEST(FilterFailureTest, TooLarge_LeavesOutValues) {
  bson::Builder builder;
  builder.append("a", std::string(13 << 20, 'x'));
  const bson::Document document = std::move(builder).finish();
  EXPECT_EQ(show(parse_filter_json("{'a': 1}").explain_failure(document)),
            show(parse_json("{'operatorName': '$eq', 'reason': 'comparison failed', "
                            "'truncated': true}")));
}

TEST(FilterFailureTest, NamesOfManyProperties_AreNoExplanation) {
  bson::Builder builder;
  for (int i = 0; i < 1'000'000; ++i) builder.append_null("property" + std::to_string(i));
  const bson::Document document = std::move(builder).finish();
  std::string schemas;
  for (int i = 0; i < 50; ++i)
    schemas += std::string(i == 0 ? "" : ",") + "{'additionalProperties': false}";
  EXPECT_EQ(show(parse_filter_json("{'$jsonSchema': {'anyOf': [" + schemas + "]}}")
                     .explain_failure(document)),
            "{ 'reason' : 'generated error was too large', 'truncated' : true }");
}

}  // namespace
}  // namespace gridmount::query
