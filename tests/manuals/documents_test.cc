// Goal: the rules for documents. Source: "Data Model Design for MongoDB", release 2.4.9, section
// "Documents". Where servers have become more lenient since, the newer rule is tested.
#include <algorithm>

#include "engine/bson/builder.h"
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using Documents = Manual;

constexpr Text kTuring = R"({
  _id: ObjectId("5099803df3f4948bd2f98391"),
  name: { first: "Alan", last: "Turing" },
  birth: ISODate("1912-06-23"),
  death: ISODate("1954-06-07"),
  contribs: [ "Turing machine", "Turing test", "Turingery" ],
  views : NumberLong(1250000)
})";

// The example at the top.
TEST_F(Documents, AreFieldsAndValues) {
  insert("items", R"({ "item": "pencil", "qty": 500, "type": "no.2" })");
  EXPECT_EQ(find("items", "{}", {.projection = "{ _id: 0 }"}),
            json_each(R"({ "item": "pencil", "qty": 500, "type": "no.2" })"));
}

// "Document Structure": "the above fields have the following data types".
TEST_F(Documents, HaveValuesOfVaryingTypes) {
  insert("people", kTuring);
  EXPECT_EQ(json(find_one("people")), json(document(kTuring)));
  EXPECT_EQ(aggregate("people", R"([ { $project: {
                _id: { $type: "$_id" }, name: { $type: "$name" }, birth: { $type: "$birth" },
                death: { $type: "$death" }, contribs: { $type: "$contribs" },
                first: { $type: { $first: "$contribs" } }, views: { $type: "$views" } } } ])"),
            json_each(R"({ _id: "objectId", name: "object", birth: "date", death: "date",
                           contribs: "array", first: "string", views: "long" })"));
  // A date before 1970.
  EXPECT_LT(find_one("people").view()["birth"].as_date().milliseconds, 0);
}

// "Dot Notation".
TEST_F(Documents, AreReachedIntoByDots) {
  insert("people", kTuring);
  EXPECT_EQ(count("people", R"({ "contribs.2": "Turingery" })"), 1);
  EXPECT_EQ(count("people", R"({ "contribs.0": "Turingery" })"), 0);
  EXPECT_EQ(count("people", R"({ "contribs": "Turingery" })"), 1);
  EXPECT_EQ(count("people", R"({ "name.last": "Turing" })"), 1);
  EXPECT_EQ(count("people", R"({ "name.middle": null })"), 1);
  update("people", "{}", R"({ $set: { "contribs.0": "a-machine", "name.middle": "Mathison" } })");
  EXPECT_EQ(find("people", "{}", {.projection = "{ _id: 0, name: 1, contribs: 1 }"}),
            json_each(R"({ name: { first: "Alan", last: "Turing", middle: "Mathison" },
                           contribs: [ "a-machine", "Turing test", "Turingery" ] })"));
  EXPECT_EQ(find("people", "{}", {.projection = R"({ _id: 0, "name.first": 1 })"}),
            json_each(R"({ name: { first: "Alan" } })"));
}

// "Document Limitations": 16 megabytes.
TEST_F(Documents, HaveAtMost16Megabytes) {
  const auto of_bytes = [](size_t bytes) {
    bson::Builder builder;
    builder.append("_id", int32_t{1});
    // 4 + 1 for the document, 1 + 4 + 4 for _id, 1 + 2 + 4 + 1 for the text.
    builder.append("s", std::string(bytes - 22, 'x'));
    return std::move(builder).finish();
  };
  constexpr size_t kMost = size_t{16} * 1024 * 1024;
  ASSERT_EQ(of_bytes(kMost).view().size(), kMost);
  EXPECT_THAT(try_insert("c", of_bytes(kMost + 1)), FailedWith(ErrorCode::kBadValue));
  ASSERT_THAT(try_insert("c", of_bytes(kMost)), Succeeded());
  EXPECT_EQ(find_one("c").view().size(), kMost);
  EXPECT_THAT(try_update("c", "{}", "{ $set: { a: 1 } }"),
              FailedWith(ErrorCode::kUpdatedDocumentTooLarge));
  EXPECT_EQ(update("c", "{}", R"({ $set: { s: "short" } })").modified, 1);
}

// "Field Names". Stored names may have dots since 3.6, and begin with '$' since 5.0. Names within
// an _id, and names that operators make, may not begin with '$'. No name may have a NUL.
TEST_F(Documents, FieldNames) {
  EXPECT_THAT(try_insert("d", R"({ _id: 1, "$a": 1 })"), Succeeded());
  EXPECT_EQ(find("d"), json_each(R"({ _id: 1, "$a": 1 })"));
  EXPECT_THAT(try_insert("d", R"({ _id: { "$a": 1 } })"),
              FailedWith(ErrorCode::kDollarPrefixedFieldName));
  insert("c", R"({ _id: 1, "a.b": 1, "price$": 2, "": 3 })");
  EXPECT_EQ(find("c"), json_each(R"({ _id: 1, "a.b": 1, "price$": 2, "": 3 })"));
  EXPECT_THAT(try_update("c", "{}", R"({ $set: { "$a": 1 } })"),
              FailedWith(ErrorCode::kDollarPrefixedFieldName));
  EXPECT_EQ(count("c", R"({ "a.b": 1 })"), 0);  // the path of b in a
  EXPECT_EQ(count("c", R"({ $expr: { $eq: [ { $getField: "a.b" }, 1 ] } })"), 1);
  EXPECT_THAT(update("c", "{}", R"({ $set: { x: { "$b": 1 } } })").modified, 1);
}

// "BSON documents may have more than one field with the same name": they are stored as they were
// sent.
TEST_F(Documents, MayRepeatNames) {
  bson::Builder builder;
  builder.append("_id", int32_t{1}).append("a", int32_t{1}).append("a", int32_t{2});
  const bson::Document twice = std::move(builder).finish();
  ASSERT_THAT(try_insert("c", twice), Succeeded());
  const bson::Document found = find_one("c");
  EXPECT_TRUE(std::ranges::equal(found.view().bytes(), twice.view().bytes()));
}

// "The field order": today _id goes to the front and the others stay as they are.
TEST_F(Documents, KeepTheOrderOfFields) {
  insert("c", "{ b: 1, a: { y: 1, x: 2 }, _id: 1 }");
  EXPECT_EQ(find("c"), json_each("{ _id: 1, b: 1, a: { y: 1, x: 2 } }"));
  update("c", "{}", "{ $set: { 0: 1, c: 3, b: 2 } }");
  EXPECT_EQ(find("c"), json_each("{ _id: 1, b: 2, a: { y: 1, x: 2 }, 0: 1, c: 3 }"));
  // Documents that are equal have their fields in the same order; fields are compared one by one.
  EXPECT_EQ(count("c", "{ a: { y: 1, x: 2 } }"), 1);
  EXPECT_EQ(count("c", "{ a: { x: 2, y: 1 } }"), 0);
  EXPECT_EQ(count("c", R"({ "a.x": 2, "a.y": 1 })"), 1);
}

}  // namespace
}  // namespace gridmount::manuals
