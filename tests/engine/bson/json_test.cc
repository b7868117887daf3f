// Goal: documents survive a conversion to Extended JSON and back, and malformed JSON is an error.

#include "engine/bson/json.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/bson/compare.h"
#include "tests/engine/bson/random_bson.h"

namespace gridmount::bson {
namespace {

TEST(Json, Values) {
  EXPECT_EQ(to_json(Value(1), JsonForm::kRelaxed), "1");
  EXPECT_EQ(to_json(Value(1), JsonForm::kCanonical), R"({ "$numberInt" : "1" })");
  EXPECT_EQ(to_json(Value("a\"b"), JsonForm::kRelaxed), R"("a\"b")");
  EXPECT_EQ(to_json(View(), JsonForm::kRelaxed), "{ }");
}

TEST(Json, NotUtf8_IsShownAllTheSame) {
  Builder builder;
  builder.append("a", "x\xFFy").open_array("b").push(Value("\xC3")).close();
  EXPECT_EQ(to_json(std::move(builder).finish(), JsonForm::kRelaxed),
            "{ \"a\" : \"x\xEF\xBF\xBDy\", \"b\" : [ \"\xEF\xBF\xBD\" ] }");
}

// The invalid bytes are in names and in texts. One of the two calls prints the value alone, as
// messages do.
TEST(Json, NotUtf8_AnySequence) {
  for (const std::string text : {"\xC0\x80", "\xFF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82",
                                 "\x80\x80\x80\x80\x80"}) {
    Builder builder;
    builder.append(text, text).append_regex("r", text, text).append("last", 1);
    const Value symbol(text);
    builder.append("s", ValueView(Type::kSymbol, symbol.view().data(), symbol.view().size()));
    const Document document = std::move(builder).finish();
    for (const std::string& json : {to_json(document, JsonForm::kRelaxed),
                                    to_json(Value(document.view()), JsonForm::kRelaxed)}) {
      EXPECT_NE(json.find("\"last\" : 1"), std::string::npos) << json;
      EXPECT_NE(json.find("\xEF\xBF\xBD"), std::string::npos) << json;
    }
  }
}

TEST(Json, Parse_Errors) {
  for (const char* text :
       {"", "{", "[1", "{a}", R"({"a": {"$oid": "x"}})", R"({"a": 1} x)", " ", "5"}) {
    const Result<Document> parsed = document_from_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kFailedToParse) << text;
  }
}

TEST(Json, Parse_NoText) {
  EXPECT_EQ(document_from_json(std::string_view()).error().code(), ErrorCode::kFailedToParse);
}

TEST(Json, Parse_WhatSaysMoreThanItsTypeHolds) {
  for (const char* text : {
           R"({"a": 1}{"b": 2})",
           R"({"a": 1} {"b": 2})",
           R"([1, 2])",
           R"({"a": 99999999999999999999})",
           R"({"a": 18446744073709551617})",
           R"({"a": [{"b": -18446744073709551617}]})",
           R"({"a": {"$oid": "00000000000000000000000g"}})",
           R"({"a": [{"$oid": "00000000000000000000000g"}]})",
           R"({"a": {"\u0024oid": "00000000000000000000000g"}})",
           R"({"a": {"$numberDouble": "x1"}})",
           R"({"a": {"$numberDouble": "1.5x"}})",
           R"({"a": {"$numberDecimal": "1.2.3"}})",
           R"({"a": {"$numberDecimal": ""}})",
           R"({"a": {"$numberDecimal": "12345678901234567890123456789012345"}})",
           R"({"a": {"$numberDecimal": "1E9999"}})",
           R"({"a": {"$timestamp": {"t": 4294967296, "i": 1}}})",
           R"({"a": {"$timestamp": {"t": 1, "i": 4294967296}}})",
           R"({"a": {"$binary": {"base64": "AA==", "subType": "999"}}})",
           R"({"a": {"$code": "x\u0000y"}})",
           R"({"a": {"$undefined": false}})",
           R"({"a": {"$numberInt": "2147483648"}})",
           R"({"a": {"$numberLong": "9223372036854775808"}})",
           R"({"a": {"$numberLong": 5}})",
           R"({"a": {"$oid": "0123456789abcdef01234567", "b": 1}})",
           R"({"a": {"$binary": {"base64": "A", "subType": "00"}}})",
           R"({"a": {"$binary": {"base64": "A*==", "subType": "00"}}})",
           R"({"a": {"$binary": {"base64": "AA==", "subType": "00", "c": 1}}})",
           R"({"a": {"$uuid": "73ffd264-44b3-4c69-90e8-e7d1dfc035d"}})",
           R"({"a": {"$uuid": "73ffd264+44b3-4c69-90e8-e7d1dfc035d4"}})",
           R"({"a": {"$uuid": "73ffd264-44b3-4c69-90e8-e7d1dfc035dx"}})",
           R"({"a": {"$date": "2016-02-30T00:00:00Z"}})",
           R"({"a": {"$date": "2016-02-28T00:00:00"}})",
           R"({"a": {"$date": "2016-02-28T24:00:00Z"}})",
           R"({"a": {"$date": "2016-02-28 00:00:00Z"}})",
           R"({"a": {"$date": "2016-02-28T00:00:00.Z"}})",
           R"({"a": {"$date": "2016-02-28T00:00:00Zx"}})",
           R"({"a": {"$minKey": 2}})",
           R"({"a": {"$regularExpression": {"pattern": "a"}}})",
           R"({"a": {"$regularExpression": {"pattern": "a\u0000", "options": ""}}})",
           R"({"a": {"$code": "x", "$scope": 1}})",
           R"({"a": {"$dbPointer": {"$ref": "c", "$id": 1}}})",
           R"({"a": 1e999})",
           R"({"a": 01})",
           R"({"a": .5})",
           R"({"a": 5.})",
           R"({"a": +5})",
           R"({"a": 1,})",
           R"({"a": [1,]})",
           R"({"a": [1 2]})",
           R"({"a" 1})",
           R"({"a": tru})",
           R"({"a": "\x"})",
           R"({"a": "\u12"})",
           R"({"a": "\ud800"})",
           R"({"a": "\udc00"})",
           R"({"a": "\ud800\u0041"})",
           R"({"a\u0000b": 1})",
           "{\"a\": \"line\nbreak\"}",
       }) {
    const Result<Document> parsed = document_from_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kFailedToParse) << text;
    EXPECT_NE(parsed.error().message().find("at byte "), std::string::npos)
        << parsed.error().message();
  }
}

TEST(Json, Parse_IsNotStricterThanItsTypes) {
  const std::pair<const char*, const char*> kGood[] = {
      {" {\n\t\"a\" : 1 }\r\n ", R"({ "a" : { "$numberInt" : "1" } })"},
      {R"({"a": [], "b": {}})", R"({ "a" : [  ], "b" : {  } })"},
      {R"({"a": -9223372036854775808})", R"({ "a" : { "$numberLong" : "-9223372036854775808" } })"},
      {R"({"a": {"$numberDouble": "-1.5e+3"}})", R"({ "a" : { "$numberDouble" : "-1500.0" } })"},
      {R"({"a": {"$numberDouble": "-Infinity"}})",
       R"({ "a" : { "$numberDouble" : "-Infinity" } })"},
      {R"({"a": {"$numberDecimal": "NaN"}})", R"({ "a" : { "$numberDecimal" : "NaN" } })"},
      {R"({"a": {"$timestamp": {"t": 4294967295, "i": 4294967295}}})",
       R"({ "a" : { "$timestamp" : { "t" : 4294967295, "i" : 4294967295 } } })"},
      {R"({"a": {"$oid": "\u0030123456789abcdef01234567"}})",
       R"({ "a" : { "$oid" : "0123456789abcdef01234567" } })"},
      {R"({"a": {"$binary": {"base64": "AA==", "subType": "2"}}})",
       R"({ "a" : { "$binary" : { "base64" : "AA==", "subType" : "02" } } })"},
      // These names are ordinary if they do not represent a type.
      {R"({"$oid": "x", "subType": "long", "t": 4294967296})",
       R"({ "$oid" : "x", "subType" : "long", "t" : { "$numberLong" : "4294967296" } })"},
      // Names of query operators, and their meaning in Extended JSON version 1.
      {R"({"a": {"$type": "string"}})", R"({ "a" : { "$type" : "string" } })"},
      {R"({"a": {"$type": 2, "$ne": "x"}})",
       R"({ "a" : { "$type" : { "$numberInt" : "2" }, "$ne" : "x" } })"},
      {R"({"a": {"$binary": "AA==", "$type": "05"}})",
       R"({ "a" : { "$binary" : { "base64" : "AA==", "subType" : "05" } } })"},
      {R"({"a": {"$regex": "x"}})", R"({ "a" : { "$regex" : "x" } })"},
      {R"({"a": {"$regex": "x", "$options": "mi"}})",
       R"({ "a" : { "$regularExpression" : { "pattern" : "x", "options" : "im" } } })"},
      {R"({"a": {"$regex": {"$regularExpression": {"pattern": "x", "options": ""}}, "$options": "i"}})",
       R"({ "a" : { "$regex" : { "$regularExpression" : { "pattern" : "x", "options" : "" } }, "$options" : "i" } })"},
      {R"({"a": {"$scope": {"b": {"$minKey": 1}}, "$code": "x"}})",
       R"({ "a" : { "$code" : "x", "$scope" : { "b" : { "$minKey" : 1 } } } })"},
      {R"({"a": {"$dbPointer": {"$ref": "c", "$id": {"$oid": "0123456789abcdef01234567"}}}})",
       R"({ "a" : { "$dbPointer" : { "$ref" : "c", "$id" : { "$oid" : "0123456789abcdef01234567" } } } })"},
      {R"({"a": [{"$symbol": "s"}, {"$undefined": true}, {"$maxKey": 1}, null, true, 1e2]})",
       R"({ "a" : [ { "$symbol" : "s" }, { "$undefined" : true }, { "$maxKey" : 1 }, null, true, { "$numberDouble" : "100.0" } ] })"},
      {R"({"a": [NaN, Infinity, -Infinity]})",
       R"({ "a" : [ { "$numberDouble" : "NaN" }, { "$numberDouble" : "Infinity" }, { "$numberDouble" : "-Infinity" } ] })"},
      // Dates with every kind of offset, and before 1970.
      {R"({"a": {"$date": "2016-05-03T12:00:00+05:30"}})",
       R"({ "a" : { "$date" : { "$numberLong" : "1462257000000" } } })"},
      {R"({"a": {"$date": "2016-05-03T06:30:00.0129-0000"}})",
       R"({ "a" : { "$date" : { "$numberLong" : "1462257000012" } } })"},
      {R"({"a": {"$date": "2016-05-03T04:30:00-02"}})",
       R"({ "a" : { "$date" : { "$numberLong" : "1462257000000" } } })"},
      {R"({"a": {"$date": "1969-12-31T23:59:59.999Z"}})",
       R"({ "a" : { "$date" : { "$numberLong" : "-1" } } })"},
      {R"({"a": {"$date": 5}})", R"({ "a" : { "$date" : { "$numberLong" : "5" } } })"},
      {R"({"a": {"$binary": {"base64": "", "subType": "00"}}, "b": {"$binary": {"base64": "AAEC", "subType": "00"}}})",
       R"({ "a" : { "$binary" : { "base64" : "", "subType" : "00" } }, "b" : { "$binary" : { "base64" : "AAEC", "subType" : "00" } } })"},
      {R"({"a": "\u00e9\u65e5\ud83d\ude00\/"})", "{ \"a\" : \"\u00e9\u65e5\U0001F600/\" }"},
      {R"({"a": -0.0, "b": 2147483648, "c": -2147483648})",
       R"({ "a" : { "$numberDouble" : "-0.0" }, "b" : { "$numberLong" : "2147483648" }, "c" : { "$numberInt" : "-2147483648" } })"},
      {R"({"a": "}\"]{", "b": "\\"})", R"({ "a" : "}\"]{", "b" : "\\" })"},
  };
  for (const auto& [text, expected] : kGood) {
    const Result<Document> parsed = document_from_json(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message();
    EXPECT_EQ(to_json(parsed->view(), JsonForm::kCanonical), expected);
  }
}

TEST(Json, Parse_Depth) {
  const auto nested = [](int depth) {
    std::string text = "1";
    for (int i = 0; i < depth; ++i) text = "{\"a\": " + text + "}";
    return text;
  };
  const Result<Document> deepest = document_from_json(nested(201));
  ASSERT_TRUE(deepest);
  EXPECT_TRUE(validate(deepest->view().bytes()));
  EXPECT_EQ(
      to_json(*document_from_json(to_json(*deepest, JsonForm::kCanonical)), JsonForm::kRelaxed),
      to_json(*deepest, JsonForm::kRelaxed));
  EXPECT_EQ(document_from_json(nested(202)).error().code(), ErrorCode::kOverflow);
  EXPECT_EQ(document_from_json(nested(10'000)).error().code(), ErrorCode::kOverflow);
  EXPECT_TRUE(array_from_json("[" + nested(200) + "]"));
  EXPECT_EQ(array_from_json("[" + nested(201) + "]").error().code(), ErrorCode::kOverflow);
}

// The objects that represent a value do not count as levels of the document.
TEST(Json, Parse_DepthOfValues) {
  const auto below = [](int levels, const std::string& text, const std::string& before,
                        const std::string& after) {
    std::string all;
    for (int i = 0; i < levels; ++i) all += before;
    all += text;
    for (int i = 0; i < levels; ++i) all += after;
    return all;
  };
  for (const char* value :
       {R"({"$date": {"$numberLong": "1"}})",
        R"({"$regularExpression": {"pattern": "a", "options": ""}})",
        R"({"$dbPointer": {"$ref": "a", "$id": {"$oid": "65a000000000000000000001"}}})"}) {
    EXPECT_TRUE(document_from_json(below(201, value, R"({"a": )", "}"))) << value;
  }
  const std::string code = R"({"$code": "f", "$scope": {"a": )";
  EXPECT_TRUE(document_from_json(below(200, "1", code, "}}").insert(0, R"({"a": )").append("}")));
  EXPECT_EQ(document_from_json(below(201, "1", code, "}}").insert(0, R"({"a": )").append("}"))
                .error()
                .code(),
            ErrorCode::kOverflow);
  EXPECT_EQ(document_from_json(below(100'000, "1", R"({"$date": )", "}")).error().code(),
            ErrorCode::kOverflow);
}

TEST(Json, Uuid) {
  const Result<Document> parsed =
      document_from_json(R"({"a": {"$uuid": "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"}})");
  ASSERT_TRUE(parsed) << parsed.error().message();
  const ValueView value = parsed->view()["a"];
  ASSERT_EQ(value.type(), Type::kBinary);
  EXPECT_EQ(value.as_binary().subtype, 4);
  ASSERT_EQ(value.as_binary().size, 16U);
  EXPECT_EQ(value.as_binary().data[0], 0x73);
  EXPECT_EQ(value.as_binary().data[15], 0xD4);
}

// Returns true if the document survives a conversion to Extended JSON. Bytes that are not UTF-8 are
// replaced, and libbson prints code and symbols only up to a NUL.
bool is_json(View document) {
  for (const Element element : document) {
    switch (element.value.type()) {
      case Type::kDocument:
      case Type::kArray:
        if (!is_json(element.value.as_document())) return false;
        break;
      case Type::kString:
      case Type::kSymbol:
      case Type::kCode:
        if (element.value.as_string().find('\xFF') != std::string_view::npos) return false;
        if (element.value.type() != Type::kString &&
            element.value.as_string().find('\0') != std::string_view::npos) {
          return false;
        }
        break;
      default:
        break;
    }
  }
  return true;
}

TEST(Json, RandomDocuments_ComeBack) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  RandomBson random(seed);
  int compared = 0;
  for (int round = 0; round < 3000; ++round) {
    const Document original = random.document(2);
    const std::string text = to_json(original, JsonForm::kCanonical);
    if (!is_json(original)) continue;
    const Result<Document> parsed = document_from_json(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message();
    ASSERT_TRUE(compare(parsed->view(), original.view()) == 0) << text;
    ++compared;
  }
  EXPECT_GT(compared, 500);
}

TEST(Json, Array_HasItsElementsByPosition) {
  const Result<Document> read =
      array_from_json(R"( [{"$match": {"a": {"$oid": "65a000000000000000000001"}}}, [2], 3 ] )");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(
      to_json(*read, JsonForm::kRelaxed),
      R"({ "0" : { "$match" : { "a" : { "$oid" : "65a000000000000000000001" } } }, "1" : [ 2 ], "2" : 3 })");
  EXPECT_TRUE(array_from_json("[]")->view().empty());
}

TEST(Json, ArrayThatIsNone_IsRefusedWithThePosition) {
  for (const auto& [text, message] : std::map<std::string, std::string>{
           {"{}", "invalid JSON at byte 0: an array was expected here"},
           {"", "invalid JSON at byte 0: an array was expected here"},
           {"[1] 2", "invalid JSON at byte 4: there is text after the array"},
           {"[1", "invalid JSON at byte 2: a comma or ']' is missing"},
           {"[\xFF]", "invalid JSON: the text is not UTF-8, or holds a NUL"}}) {
    const Result<Document> read = array_from_json(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message(), message);
    EXPECT_EQ(read.error().code(), ErrorCode::kFailedToParse);
  }
}

}  // namespace
}  // namespace gridmount::bson
