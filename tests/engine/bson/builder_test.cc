// Goal: a Builder writes valid BSON.
// Method: libbson reads the result element by element.

#include "engine/bson/builder.h"

#include <bson/bson.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/bson/random_bson.h"

namespace gridmount::bson {
namespace {

TEST(BuilderTest, AllTypes_AsLibbsonReadsThem) {
  const uint8_t bytes[] = {1, 2, 3};
  Builder builder;
  builder.append("double", 1.5).append("text", std::string("t\0t", 3)).append("yes", true);
  builder.append("int", 7).append("long", int64_t{8}).append("date", Date{-9});
  builder.append("id", ObjectId()).append("stamp", Timestamp{3, 4}).append_null("null");
  builder.append("binary", Binary{0, bytes, 3}).append("old", Binary{2, bytes, 3});
  builder.append_regex("regex", "^a", "i").append("decimal", decimal("1.25"));
  builder.open_document("inner").append("x", 1).close();
  builder.open_array("list").push(Value(1)).push_open_document().append("y", 2).close();
  builder.push_open_array().close().close();
  const Document document = std::move(builder).finish();
  ASSERT_TRUE(validate(document.view().bytes()));

  bson_t parsed;
  ASSERT_TRUE(bson_init_static(&parsed, document.view().data(), document.view().size()));
  char* const json = bson_as_canonical_extended_json(&parsed, nullptr);
  EXPECT_STREQ(json,
               R"({ "double" : { "$numberDouble" : "1.5" }, "text" : "t\u0000t", "yes" : true, )"
               R"("int" : { "$numberInt" : "7" }, "long" : { "$numberLong" : "8" }, )"
               R"("date" : { "$date" : { "$numberLong" : "-9" } }, )"
               R"("id" : { "$oid" : "000000000000000000000000" }, )"
               R"("stamp" : { "$timestamp" : { "t" : 3, "i" : 4 } }, "null" : null, )"
               R"("binary" : { "$binary" : { "base64" : "AQID", "subType" : "00" } }, )"
               R"("old" : { "$binary" : { "base64" : "AQID", "subType" : "02" } }, )"
               R"("regex" : { "$regularExpression" : { "pattern" : "^a", "options" : "i" } }, )"
               R"("decimal" : { "$numberDecimal" : "1.25" }, )"
               R"("inner" : { "x" : { "$numberInt" : "1" } }, )"
               R"("list" : [ { "$numberInt" : "1" }, { "y" : { "$numberInt" : "2" } }, [  ] ] })");
  bson_free(json);
}

// The content has the size of a chunk. A later growth of the buffer would copy the content again,
// and would show in the capacity.
TEST(BuilderTest, LargeBinary_IsCopiedOnce) {
  const std::vector<uint8_t> content(256 * 1024, 0x5A);
  Builder builder;
  builder.append("_id", ObjectId()).append("n", 1).open_document("inner");
  builder.append("data", Binary{0, content.data(), static_cast<uint32_t>(content.size())});
  const uint32_t before_end = builder.size();
  const std::vector<uint8_t> bytes = std::move(builder.close()).finish().release();
  EXPECT_EQ(bytes.size(), before_end + 2);
  EXPECT_LT(bytes.capacity(), content.size() + 1024);
}

TEST(BuilderTest, ManySmallElements_GrowGeometrically) {
  Builder builder;
  builder.open_array("a");
  for (int i = 0; i < 200'000; ++i) builder.push(Value(i));
  const Document document = std::move(builder.close()).finish();
  ASSERT_TRUE(validate(document.view().bytes()));
  int expected = 0;
  for (const Element element : document.view()["a"].as_document()) {
    ASSERT_EQ(element.key, std::to_string(expected));
    ASSERT_EQ(element.value.as_int32(), expected++);
  }
  EXPECT_EQ(expected, 200'000);
}

TEST(BuilderTest, RandomDocuments_CopyThemselves) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  RandomBson random(seed);
  for (int round = 0; round < 2000; ++round) {
    const Document original = random.document(3);
    ASSERT_TRUE(validate(original.view().bytes()));
    Builder all;
    all.append_all(original);
    Builder one_by_one;
    for (const Element element : original.view()) one_by_one.append(element.key, element.value);
    const Document copies[] = {std::move(all).finish(), std::move(one_by_one).finish()};
    for (const Document& copy : copies) {
      ASSERT_TRUE(std::ranges::equal(copy.view().bytes(), original.view().bytes()));
    }
    for (const Element element : original.view()) {
      const std::optional<ValueView> found = original.find(element.key);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->data(), element.value.data());
      EXPECT_EQ(found->size(), element.value.size());
    }
    EXPECT_FALSE(original.find("missing"));
  }
}

}  // namespace
}  // namespace gridmount::bson
