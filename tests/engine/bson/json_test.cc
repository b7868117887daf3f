// Goal: documents survive Extended JSON and back; what is no JSON is an error.

#include "engine/bson/json.h"

#include <gtest/gtest.h>

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

TEST(Json, Parse_Errors) {
  for (const char* text : {"", "{", "[1", "{a}", R"({"a": {"$oid": "x"}})", R"({"a": 1} x)"}) {
    const Result<Document> parsed = document_from_json(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kFailedToParse) << text;
  }
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

// Bytes that are not UTF-8 are replaced, and libbson reads code only up to a NUL.
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

}  // namespace
}  // namespace gridmount::bson
