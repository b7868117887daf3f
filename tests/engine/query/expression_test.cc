// Goal: the syntax around the operators, conditions, types and conversions behave like MongoDB's.
// Method: tables. Limits are tested one by one.

#include "engine/bson/builder.h"
#include "tests/engine/query/expression_cases.h"

namespace gridmount::query {
namespace {

constexpr char kDocument[] =
    "{'_id': 1, 'a': {'b': [{'c': 1}, {'c': [2]}, {'d': 3}, 4, [{'c': 5}]], 'e': {'f': 6}},"
    " 'i': 7, 'n': null, 's': 'text', 'u': {'$undefined': true}, 't': true, 'z': 0.0,"
    " 'bin': {'$binary': {'base64': 'AQIDBA==', 'subType': '00'}},"
    " 'oid': {'$oid': '5ab9cbfa31c2ab715d42129e'}, 'date': T(2018-03-27T16:58:51.538Z),"
    " 'ts': {'$timestamp': {'t': 1600000000, 'i': 7}}}";

TEST(ExpressionTest, Language) {
  check_expressions(
      {{
          {"5", "5"},
          {"'text'", "'text'"},
          {"'$i'", "7"},
          {"'$a.e.f'", "6"},
          {"'$a.b.c'", "[1, [2]]"},
          {"'$a.b.d'", "[3]"},
          {"'$a.b.x'", "[]"},
          {"'$i.x'", "missing"},
          {"'$none'", "missing"},
          {"'$$ROOT.i'", "7"},
          {"'$$CURRENT.i'", "7"},
          {"'$$REMOVE'", "missing"},
          {"'$$NOW'", "T(2020-09-13T12:26:40.123Z)"},
          {"{'x': '$i', 'y': '$none', 'z': ['$none', '$n']}", "{'x': 7, 'z': [null, null]}"},
          {"{}", "{}"},
          {"{'x': {'y': {'$add': ['$i', 1]}}}", "{'x': {'y': 8}}"},
          {"{'$literal': '$i'}", "'$i'"},
          {"{'$literal': {'$add': [1, 2]}}", "{'$add': [1, 2]}"},
          {"{'$const': [1]}", "[1]"},
          {"{'$expr': {'$add': ['$i', 1]}}", "8"},
          {"'$'", "!16872 '$' by itself is not a valid FieldPath"},
          {"'$$'", "!9 empty variable names are not allowed"},
          {"'$$nope'", "!17276 Use of undefined variable: nope"},
          {"'$a.'", "!40353 FieldPath must not end with a '.'."},
          {"'$$ROOT.'", "!40353 FieldPath must not end with a '.'."},
          {"'$.a'", "!15998"},
          {"'$a..b'", "!15998"},
          {"'$a.$b'", "!16410"},
          {"'$$CLUSTER_TIME'", "!51144"},
          {"{'$nope': 1}", "!168 Unrecognized expression '$nope'"},
          {"{'$add': [1], 'x': 1}", "!15983 must have exactly one field"},
          {"{'x': 1, '$add': [1]}", "!16410"},
          {"{'x.y': 1}", "!16412"},
          {"{'x': 1, 'x': 2}", "!16406 duplicate field name specified in object literal"},
          {"{'$function': {}}", "!31264"},
          {"{'$accumulator': {}}", "!31264"},
          {"{'$meta': 'textScore'}", "!40218"},
          {"{'$meta': 'recordId'}", "!115"},
          {"{'$meta': 'other'}", "!17308"},
          {"{'$meta': 5}", "!17307"},
          {"{'$rand': {}, 'x': 1}", "!15983"},
          {"{'$rand': 1}", "!10065"},
          {"{'$rand': [1]}", "!3040501"},
          {"{'$lt': [{'$rand': {}}, 1]}", "true"},
      }},
      kDocument);
}

TEST(ExpressionTest, Conditions) {
  check_expressions(
      {{
          {"{'$cmp': ['$i', 8]}", "-1"},
          {"{'$cmp': ['$s', 8]}", "1"},
          {"{'$eq': ['$i', 7.0]}", "true"},
          {"{'$eq': ['$none', null]}", "false"},
          {"{'$ne': ['$i', 7]}", "false"},
          {"{'$gt': ['$none', '$n']}", "false"},
          {"{'$lt': ['$none', '$n']}", "true"},
          {"{'$gte': ['$i', 7]}", "true"},
          {"{'$lte': ['$s', '$i']}", "false"},
          {"{'$eq': [1]}", "!16020 Expression $eq takes exactly 2 arguments. 1 were passed in."},
          {"{'$and': ['$i', true]}", "true"},
          {"{'$and': ['$i', '$z']}", "false"},
          {"{'$and': []}", "true"},
          {"{'$and': [false, {'$divide': ['$i', 0]}]}", "false"},
          {"{'$or': []}", "false"},
          {"{'$or': ['$n', '$u', '$s']}", "true"},
          {"{'$not': ['$n']}", "true"},
          {"{'$not': [[]]}", "false"},
          {"{'$not': [1, 2]}", "!16020"},
          {"{'$ifNull': ['$none', '$n', '$i', 9]}", "7"},
          {"{'$ifNull': ['$none', '$n']}", "null"},
          {"{'$ifNull': ['$n', '$none']}", "missing"},
          {"{'$ifNull': [1]}", "!1257300"},
          {"{'$cond': ['$t', 'y', 'n']}", "'y'"},
          {"{'$cond': {'if': '$z', 'then': {'$divide': [1, 0]}, 'else': 'n'}}", "!2"},
          {"{'$cond': [false, {'$divide': [1, 0]}, 'n']}", "'n'"},
          {"{'$cond': [1, 2]}", "!16020"},
          {"{'$cond': {'if': 1, 'then': 1}}", "!17082"},
          {"{'$cond': {'if': 1, 'else': 1}}", "!17081"},
          {"{'$cond': {'then': 1, 'else': 1}}", "!17080"},
          {"{'$cond': {'x': 1}}", "!17083"},
          {"{'$switch': {'branches': [{'case': '$z', 'then': 1}, {'case': '$t', 'then': 2}]}}",
           "2"},
          {"{'$switch': {'branches': [{'case': '$z', 'then': 1}], 'default': '$i'}}", "7"},
          {"{'$switch': {'branches': [{'case': '$z', 'then': 1}]}}", "!40066"},
          {"{'$switch': {'branches': [{'case': false, 'then': 1}]}}", "!40069"},
          {"{'$switch': {'branches': []}}", "!40068"},
          {"{'$switch': {'branches': 1}}", "!40061"},
          {"{'$switch': {'branches': [1]}}", "!40062"},
          {"{'$switch': {'branches': [{'x': 1}]}}", "!40063"},
          {"{'$switch': {'branches': [{'then': 1}]}}", "!40064"},
          {"{'$switch': {'branches': [{'case': 1}]}}", "!40065"},
          {"{'$switch': {'x': 1}}", "!40067"},
          {"{'$switch': 1}", "!40060"},
      }},
      kDocument);
}

TEST(ExpressionTest, Types) {
  check_expressions({{
                        {"{'$type': '$none'}", "'missing'"},
                        {"{'$type': '$date'}", "'date'"},
                        {"{'$type': '$a.b'}", "'array'"},
                        {"{'$isNumber': '$z'}", "true"},
                        {"{'$isNumber': '$s'}", "false"},
                        {"{'$bsonSize': {'$literal': {'a': 1}}}", "12"},
                        {"{'$bsonSize': '$n'}", "null"},
                        {"{'$bsonSize': '$i'}", "!31393"},
                        {"{'$binarySize': '$bin'}", "4"},
                        {"{'$binarySize': '$s'}", "4"},
                        {"{'$binarySize': '$none'}", "null"},
                        {"{'$binarySize': '$i'}", "!51276"},
                        {"{'$tsSecond': '$ts'}", "L(1600000000)"},
                        {"{'$tsIncrement': '$ts'}", "L(7)"},
                        {"{'$tsSecond': '$n'}", "null"},
                        {"{'$tsSecond': '$i'}", "!5687301"},
                        {"{'$tsIncrement': '$i'}", "!5687302"},
                    }},
                    kDocument);
}

TEST(ExpressionTest, ConversionsToNumbers) {
  check_expressions(
      {{
          {"{'$toInt': '$i'}", "7"},
          {"{'$toInt': 7.9}", "7"},
          {"{'$toInt': -7.9}", "-7"},
          {"{'$toInt': D(-7.9)}", "-7"},
          {"{'$toInt': '$t'}", "1"},
          {"{'$toInt': '-12'}", "-12"},
          {"{'$toInt': '+12'}", "12"},
          {"{'$toInt': ['12']}", "12"},
          {"{'$toInt': '$none'}", "null"},
          {"{'$toInt': L(2147483648)}", "!241 Conversion would overflow target type"},
          {"{'$toInt': 2147483647.5}", "!241 would overflow"},
          {"{'$toInt': '2147483648'}",
           "!241 Failed to parse number '2147483648' in $convert with no onError value: Overflow"},
          {"{'$toInt': '1.5'}", "!241 Did not consume whole string."},
          {"{'$toInt': ''}", "!241 No digits"},
          {"{'$toInt': '0x1F'}", "!241 Illegal hexadecimal input"},
          {"{'$toInt': ' 1'}", "!241"},
          {"{'$toInt': {'$numberDouble': 'NaN'}}", "!241 Attempt to convert NaN value"},
          {"{'$toInt': {'$numberDouble': '-Infinity'}}", "!241 Attempt to convert infinity value"},
          {"{'$toInt': '$date'}", "!241 Unsupported conversion from date to int"},
          {"{'$toInt': ['1', '2']}", "!50723 $toInt requires a single argument, got 2"},
          {"{'$toLong': '$date'}", "L(1522169931538)"},
          {"{'$toLong': 5.5}", "L(5)"},
          {"{'$toLong': 9.3e18}", "!241 would overflow"},
          {"{'$toLong': D(1E30)}", "!241 would overflow"},
          {"{'$toLong': '9223372036854775807'}", "L(9223372036854775807)"},
          {"{'$toLong': '$oid'}", "!241 Unsupported conversion from objectId to long"},
          {"{'$toDouble': '$i'}", "7.0"},
          {"{'$toDouble': '-1.5e3'}", "-1500.0"},
          {"{'$toDouble': '+.5'}", "0.5"},
          {"{'$toDouble': '1e400'}", "!241 Out of range"},
          {"{'$toDouble': '1,5'}", "!241 Did not consume whole string."},
          {"{'$toDouble': ' 1'}", "!241 Leading whitespace"},
          {"{'$toDouble': ''}", "!241 Empty string"},
          {"{'$toDouble': 'x'}", "!241 Did not consume any digits"},
          {"{'$toDouble': 'Infinity'}", "{'$numberDouble': 'Infinity'}"},
          {"{'$toDouble': D(2.5)}", "2.5"},
          {"{'$toDouble': D(1E400)}", "!241 would overflow"},
          {"{'$toDouble': D(1E-400)}", "!241"},
          {"{'$toDouble': '$date'}", "1522169931538.0"},
          {"{'$toDouble': false}", "0.0"},
          {"{'$toDecimal': '$i'}", "D(7)"},
          {"{'$toDecimal': 2.5}", "D(2.50000000000000)"},
          {"{'$toDecimal': '1.23E-5'}", "D(0.0000123)"},
          {"{'$toDecimal': '$t'}", "D(1)"},
          {"{'$toDecimal': '$date'}", "D(1522169931538)"},
          {"{'$toDecimal': 'x'}", "!241"},
      }},
      kDocument);
}

TEST(ExpressionTest, OtherConversions) {
  check_expressions(
      {{
          {"{'$toBool': '$z'}", "false"},
          {"{'$toBool': 'false'}", "true"},
          {"{'$toBool': {'$literal': []}}", "true"},
          {"{'$toBool': {'$minKey': 1}}", "true"},
          {"{'$toBool': '$n'}", "null"},
          {"{'$toString': '$i'}", "'7'"},
          {"{'$toString': 2.5}", "'2.5'"},
          {"{'$toString': 100000.0}", "'100000'"},
          {"{'$toString': 1e20}", "'1e+20'"},
          {"{'$toString': 0.00001}", "'1e-05'"},
          {"{'$toString': -0.0}", "'-0'"},
          {"{'$toString': {'$add': [0.1, 0.2]}}", "'0.30000000000000004'"},
          {"{'$toString': D(1.50)}", "'1.50'"},
          {"{'$toString': '$oid'}", "'5ab9cbfa31c2ab715d42129e'"},
          {"{'$toString': '$date'}", "'2018-03-27T16:58:51.538Z'"},
          {"{'$toString': '$t'}", "'true'"},
          {"{'$toString': '$a'}", "!241 Unsupported conversion from object to string"},
          {"{'$toDate': '2018-03-20'}", "T(2018-03-20T00:00:00Z)"},
          {"{'$toDate': '2018-03-20 11:00:06 +0500'}", "T(2018-03-20T06:00:06Z)"},
          {"{'$toDate': '$oid'}", "T(2018-03-27T04:43:38Z)"},
          {"{'$toDate': '$ts'}", "T(2020-09-13T12:26:40Z)"},
          {"{'$toDate': 120000000000.5}", "T(1973-10-20T21:20:00Z)"},
          {"{'$toDate': L(-1)}", "T(1969-12-31T23:59:59.999Z)"},
          {"{'$toDate': D(1253372036000.50)}", "T(2009-09-19T14:53:56Z)"},
          {"{'$toDate': '$i'}", "!241 Unsupported conversion from int to date"},
          {"{'$toDate': 'Friday'}", "!241"},
          {"{'$toObjectId': '5ab9cbfa31c2ab715d42129e'}", "{'$oid': '5ab9cbfa31c2ab715d42129e'}"},
          {"{'$toObjectId': '$oid'}", "{'$oid': '5ab9cbfa31c2ab715d42129e'}"},
          {"{'$toObjectId': 'abc'}",
           "!241 Invalid string length for parsing to OID, expected 24 "
           "but found 3"},
          {"{'$toObjectId': 'zab9cbfa31c2ab715d42129e'}",
           "!241 Invalid character found in hex string: z"},
          {"{'$convert': {'input': '$i', 'to': 'string'}}", "'7'"},
          {"{'$convert': {'input': '$i', 'to': 2}}", "'7'"},
          {"{'$convert': {'input': '$i', 'to': {'$type': '$s'}}}", "'7'"},
          {"{'$convert': {'input': '$s', 'to': 16, 'onError': 'bad'}}", "'bad'"},
          {"{'$convert': {'input': '$s', 'to': 16, 'onError': '$none'}}", "missing"},
          {"{'$convert': {'input': '$none', 'to': 'int', 'onNull': 'none'}}", "'none'"},
          {"{'$convert': {'input': '$n', 'to': null, 'onNull': 'none'}}", "'none'"},
          {"{'$convert': {'input': '$i', 'to': '$none', 'onNull': 'none'}}", "null"},
          {"{'$convert': {'input': '$i', 'to': 'array'}}", "!241 from int to array"},
          {"{'$convert': {'input': '$i', 'to': 'missing'}}", "!241 from int to missing"},
          {"{'$convert': {'input': '$i', 'to': 'number'}}", "!2 Unknown type name: number"},
          {"{'$convert': {'input': '$i', 'to': 1.5}}", "!9 is not an integer"},
          {"{'$convert': {'input': '$i', 'to': 99}}", "!9 does not correspond to a BSON type: 99"},
          {"{'$convert': {'input': '$i', 'to': true, 'onError': 1}}", "!9 must be a string"},
          {"{'$convert': {'input': '$i'}}", "!9 Missing 'to' parameter to $convert"},
          {"{'$convert': {'to': 'int'}}", "!9 Missing 'input' parameter to $convert"},
          {"{'$convert': {'inputs': 1}}", "!9 $convert found an unknown argument: inputs"},
          {"{'$convert': 1}", "!9 $convert expects an object of named arguments but found: int"},
      }},
      kDocument);
}

TEST(ExpressionTest, ConversionsOfBinaryData) {
  check_expressions(
      {{
          {"{'$toString': '$bin'}", "'AQIDBA=='"},
          {"{'$convert': {'input': '$bin', 'to': 'string', 'format': 'hex'}}", "'01020304'"},
          {"{'$convert': {'input': '$bin', 'to': 'string', 'format': 'base64url'}}", "'AQIDBA'"},
          {"{'$convert': {'input': '$bin', 'to': 'string', 'format': 'utf8'}}",
           "'\\u0001\\u0002\\u0003\\u0004'"},
          {"{'$convert': {'input': '$bin', 'to': 'string', 'format': 'uuid'}}", "!241 valid UUID"},
          {"{'$convert': {'input': '$bin', 'to': 'string'}}", "!4341115"},
          {"{'$convert': {'input': '$bin', 'to': 'string', 'format': 'x'}}", "!4341125"},
          {"{'$convert': {'input': '$bin', 'to': 'string', 'format': 5}}", "!4341114"},
          {"{'$convert': {'input': 'AQIDBA==', 'to': {'type': 'binData', 'subtype': 128}, "
           "'format': 'base64'}}",
           "{'$binary': {'base64': 'AQIDBA==', 'subType': '80'}}"},
          {"{'$convert': {'input': '_-8', 'to': 'binData', 'format': 'base64url'}}",
           "{'$binary': {'base64': '/+8=', 'subType': '00'}}"},
          {"{'$convert': {'input': 'aBc0', 'to': 'binData', 'format': 'hex'}}",
           "{'$binary': {'base64': 'q8A=', 'subType': '00'}}"},
          {"{'$convert': {'input': 'aBc', 'to': 'binData', 'format': 'hex', 'onError': 1}}", "1"},
          {"{'$convert': {'input': 'AQ=', 'to': 'binData', 'format': 'base64'}}", "!241"},
          {"{'$convert': {'input': 'AQ', 'to': 'binData', 'format': 'uuid'}}", "!241"},
          {"{'$convert': {'input': 'AQ', 'to': 'binData'}}", "!4341115"},
          {"{'$convert': {'input': 'AQ', 'to': {'type': 5, 'subtype': 's'}, 'format': 'hex'}}",
           "!4341108"},
          {"{'$convert': {'input': 'AQ', 'to': {'type': 5, 'subtype': 1.5}, 'format': 'hex'}}",
           "!4341106"},
          {"{'$convert': {'input': 'AQ', 'to': {'type': 5, 'subtype': 99}, 'format': 'hex'}}",
           "!4341107"},
          {"{'$convert': {'input': 'AQ', 'to': {'subtype': 1}}}", "!9 but is object"},
          {"{'$convert': {'input': 'AQ', 'to': {'type': 'int', 'x': 1}}}", "!9"},
          {"{'$toString': {'$toUUID': '0e3B9063-8abd-4eb3-9f9f-f4c59fd30a60'}}",
           "'0e3b9063-8abd-4eb3-9f9f-f4c59fd30a60'"},
          {"{'$toUUID': '0e3b90638abd4eb39f9ff4c59fd30a60'}", "!241"},
          {"{'$toUUID': '$bin'}", "!241 different BinData subtypes"},
          {"{'$toUUID': '$none'}", "null"},
          {"{'$toInt': '$bin'}", "67305985"},
          {"{'$convert': {'input': '$bin', 'to': 'long', 'byteOrder': 'big'}}", "L(16909060)"},
          {"{'$convert': {'input': {'$convert': {'input': -2.5, 'to': 'binData', 'byteOrder': "
           "'big'}}, 'to': 'double', 'byteOrder': 'big'}}",
           "-2.5"},
          {"{'$convert': {'input': 1, 'to': 'binData', 'byteOrder': 'big'}}",
           "{'$binary': {'base64': 'AAAAAQ==', 'subType': '00'}}"},
          {"{'$convert': {'input': L(-1), 'to': {'type': 'binData', 'subtype': 2}}}",
           "{'$binary': {'base64': '//////////8=', 'subType': '02'}}"},
          {"{'$convert': {'input': 1, 'to': 'binData', 'byteOrder': 'x'}}", "!9130002"},
          {"{'$convert': {'input': 1, 'to': 'binData', 'byteOrder': 1}}", "!9130001"},
          {"{'$convert': {'input': '$bin', 'to': 'decimal'}}", "!241 from binData to decimal"},
          {"{'$convert': {'input': '$oid', 'to': 'binData'}}", "!241 from objectId to binData"},
          {"{'$toInt': {'$convert': {'input': 'FE', 'to': 'binData', 'format': 'hex'}}}", "-2"},
          {"{'$toLong': {'$convert': {'input': 'FEFF', 'to': 'binData', 'format': 'hex'}}}",
           "L(-2)"},
          {"{'$toInt': {'$convert': {'input': '010203', 'to': 'binData', 'format': 'hex'}}}",
           "!241 invalid length: 3"},
          {"{'$toBool': '$bin'}", "true"},
      }},
      kDocument);
}

bson::Document nested(int depth, std::string_view name) {
  bson::Builder builder;
  for (int i = 0; i < depth; ++i) builder.open_document(i == 0 ? "x" : name);
  builder.append("a", 1);
  for (int i = 0; i < depth; ++i) builder.close();
  return std::move(builder).finish();
}

// A path may have 200 parts, including the variable. Without a named variable, the variable is
// CURRENT.
TEST(ExpressionTest, PartsOfPathsAreLimited) {
  for (const std::string before : {"$a", "$$ROOT.a"}) {
    std::string path = before;
    for (int part = 1; part < 199; ++part) path += ".a";
    VariableScope scope;
    EXPECT_TRUE(parse_expression(bson::Value(path).view(), scope)) << before;
    const auto longer = parse_expression(bson::Value(path + ".a").view(), scope);
    ASSERT_FALSE(longer) << before;
    EXPECT_EQ(longer.error().code(), ErrorCode::kOverflow);
    EXPECT_EQ(longer.error().message(), "FieldPath is too long");
  }
}

TEST(ExpressionTest, NestingIsLimited) {
  for (const char* const name : {"a", "$abs"}) {
    VariableScope scope;
    EXPECT_TRUE(parse_expression(*nested(190, "a").find("x"), scope));
    const auto parsed = parse_expression(*nested(250, name).find("x"), scope);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code(), ErrorCode::kOverflow) << parsed.error().message();
  }
}

TEST(ExpressionTest, ResultsCannotBeNestedDeeperThanDocuments) {
  const bson::Document document = parse_json(
      "{'x': {'$reduce': {'input': {'$range': [0, 300]}, 'initialValue': '$a', 'in':"
      " {'v': '$$value'}}}}");
  EXPECT_TRUE(evaluate_to_text(*document.find("x"), parse_json("{'a': 1}")).starts_with("!15 "));
}

TEST(ExpressionTest, MemoryIsLimited) {
  const bson::Document expression = parse_json(
      "{'x': {'$reduce': {'input': {'$range': [0, 40]}, 'initialValue': '$s', 'in':"
      " {'$concat': ['$$value', '$$value']}}}}");
  EXPECT_TRUE(
      evaluate_to_text(*expression.find("x"), parse_json("{'s': 'text'}")).starts_with("!146 "));
}

// If the array were built until it no longer fits, the message would name another size.
TEST(ExpressionTest, Range_BeyondTheMemory_IsRefusedAtOnce) {
  for (const char* range : {"[0, '$n']", "['$n', 0, -1]"}) {
    const bson::Document expression = parse_json("{'x': {'$range': " + std::string(range) + "}}");
    EXPECT_EQ(evaluate_to_text(*expression.find("x"), parse_json("{'n': 2147483647}")),
              "!146 Expression used too much memory: an array of more than 134217728 bytes");
  }
}

TEST(ExpressionTest, DependenciesAreThePathsItReads) {
  const bson::Document expression = parse_json(
      "{'x': {'$add': ['$a.b', {'$map': {'input': '$c', 'as': 'v', 'in': '$$v.w'}},"
      " {'$ifNull': ['$$ROOT.d', {'$literal': '$e'}]}]}}");
  VariableScope scope;
  const auto parsed = parse_expression(*expression.find("x"), scope);
  ASSERT_TRUE(parsed);
  std::set<std::string> paths;
  (*parsed)->add_dependencies(paths);
  EXPECT_EQ(paths, (std::set<std::string>{"a.b", "c", "d"}));
}

TEST(ExpressionTest, ConstantsAreEvaluatedOnce) {
  VariableScope scope;
  const auto folded = parse_expression(*parse_json("{'x': {'$add': [1, 2]}}").find("x"), scope);
  ASSERT_TRUE(folded);
  ASSERT_TRUE((*folded)->constant());
  EXPECT_EQ((*folded)->constant()->as_int32(), 3);
  const auto random = parse_expression(*parse_json("{'x': {'$rand': {}}}").find("x"), scope);
  EXPECT_FALSE((*random)->constant());
}

TEST(ExpressionTest, OneArenaServesManyDocuments) {
  VariableScope scope;
  const auto parsed =
      parse_expression(*parse_json("{'x': {'$concat': ['$a', '-', '$a']}}").find("x"), scope);
  ASSERT_TRUE(parsed);
  Arena arena(uint64_t{1} << 20);
  for (int i = 0; i < 3000; ++i) {
    arena.clear();
    bson::Builder builder;
    builder.append("a", std::string(1000, 'x'));
    const bson::Document document = std::move(builder).finish();
    EvaluationContext context{document, {}, arena, kTestNow};
    const auto value = (*parsed)->evaluate(context);
    ASSERT_TRUE(value) << value.error().message();
    EXPECT_EQ((*value)->as_string().size(), 2001U);
  }
}

}  // namespace
}  // namespace gridmount::query
