// Goal: values appear in messages as servers write them.
#include "engine/bson/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace gridmount::bson {
namespace {

std::string text_of(const std::string& json) {
  const Result<Document> document = document_from_json(R"({"x": )" + json + "}");
  EXPECT_TRUE(document) << json;
  return document ? to_text(document->view()["x"]) : "";
}

TEST(Text, EachType) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("a \"b\"")", R"("a "b"")"},
      {"1", "1"},
      {R"({"$numberLong": "5000000000"})", "5000000000"},
      {"1.5", "1.5"},
      {R"({"$numberDouble": "2"})", "2.0"},
      {R"({"$numberDouble": "1e20"})", "1e+20.0"},
      {R"({"$numberDouble": "NaN"})", "nan.0"},
      {R"({"$numberDouble": "-Infinity"})", "-inf.0"},
      {R"({"$numberDecimal": "1.50"})", "1.50"},
      {"true", "true"},
      {"null", "null"},
      {R"({"$undefined": true})", "undefined"},
      {R"({"$minKey": 1})", "MinKey"},
      {R"({"$maxKey": 1})", "MaxKey"},
      {R"({"$oid": "555555555555555555555555"})", "ObjectId('555555555555555555555555')"},
      {R"({"$date": {"$numberLong": "1500000000000"}})", "new Date(1500000000000)"},
      {R"({"$timestamp": {"t": 5, "i": 6}})", "Timestamp(5, 6)"},
      {R"({"$regularExpression": {"pattern": "ab", "options": "i"}})", "/ab/i"},
      {R"({"$binary": {"base64": "AQL/", "subType": "00"}})", "BinData(0, 0102FF)"},
      {R"({"$uuid": "11111111-1111-4111-8111-111111111111"})",
       R"(UUID("11111111-1111-4111-8111-111111111111"))"},
      {R"x({"$code": "f()"})x", "f()"},
      {R"x({"$code": "f()", "$scope": {"x": 1}})x", "CodeWScope( f(), { x: 1 })"},
      {R"({"$symbol": "s"})", R"("s")"},
      {R"({"$dbPointer": {"$ref": "a.b", "$id": {"$oid": "555555555555555555555555"}}})",
       "DBRef('a.b',555555555555555555555555)"},
      {R"({"a": {"b": "x"}, "c": [1, {"d": 2}, []], "e": {}})",
       R"({ a: { b: "x" }, c: [ 1, { d: 2 }, [] ], e: {} })"},
  };
  for (const auto& [json, text] : cases) EXPECT_EQ(text_of(json), text) << json;
}

TEST(Text, LongValues_AreCut) {
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  EXPECT_EQ(to_text(Value(std::string(159, 'x')).view()), quoted(std::string(159, 'x')));
  EXPECT_EQ(to_text(Value(std::string(160, 'x')).view()), quoted(std::string(150, 'x') + "..."));
  const auto code = [](size_t size) {
    return text_of(R"({"$code": ")" + std::string(size, 'c') + "\"}");
  };
  EXPECT_EQ(code(79), std::string(79, 'c'));
  EXPECT_EQ(code(80), std::string(70, 'c') + "...");
  const auto binary = [](size_t size) {
    const std::vector<uint8_t> bytes(size, 1);
    Builder builder;
    builder.append("x", Binary{0, bytes.data(), static_cast<uint32_t>(size)});
    const Document document = std::move(builder).finish();
    return to_text(document.view()["x"]).size();
  };
  EXPECT_EQ(binary(80), 11 + 160 + 1U);
  EXPECT_EQ(binary(81), 11 + 140 + 4U);
}

TEST(Text, Characters_AreWhole) {
  EXPECT_EQ(character_at("aö€b", 0), "a");
  EXPECT_EQ(character_at("aö€b", 1), "ö");
  EXPECT_EQ(character_at("aö€b", 2), "\xB6");
  EXPECT_EQ(character_at("aö€b", 3), "€");
  EXPECT_EQ(character_at("\xF0\x9F\x98\x80", 0), "\xF0\x9F\x98\x80");
  EXPECT_EQ(character_at("\xE2\x82", 0), "\xE2");
  EXPECT_EQ(character_at("a", 1), "");
  EXPECT_EQ(character_at("a", 5), "");
}

TEST(Text, ValidText_EscapesWhatIsNot) {
  EXPECT_EQ(valid_text("aö€\\"), "aö€\\");
  EXPECT_EQ(valid_text(std::string_view("a\0b", 3)), std::string_view("a\0b", 3));
  EXPECT_EQ(valid_text("a\xE2\x82z\xFF"), "a\\xe2\\x82z\\xff");
  EXPECT_EQ(valid_text("\xC0\x80 \xED\xA0\x80"), "\\xc0\\x80 \\xed\\xa0\\x80");
}

TEST(Text, DeepNesting_Ends) {
  Document document;
  for (int i = 0; i < 150; ++i) {
    Builder around;
    around.append("a", document);
    document = std::move(around).finish();
  }
  const std::string text = to_text(document.view());
  EXPECT_NE(text.find("..."), std::string::npos);
  EXPECT_LT(text.size(), 1000U);
}

}  // namespace
}  // namespace gridmount::bson
