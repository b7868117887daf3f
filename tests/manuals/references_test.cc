// Goal: documents that refer to documents of other collections. Sources: "Data Model Design for
// MongoDB", releases 2.4.9 and 3.2.6, section "Database References".
#include "engine/bson/builder.h"
#include "tests/engine/contract/reference.h"
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;

using References = Manual;

// "Manual References".
TEST_F(References, Manual_AreResolvedByASecondQuery) {
  const bson::ObjectId original_id = bson::ObjectId::generate();
  const std::string id = "ObjectId(\"" + original_id.hex() + "\")";
  insert("places", R"({
    "_id": )" + id + R"(,
    "name": "Broadway Center",
    "url": "bc.example.net"
  })");
  insert("people", R"({
    "name": "Erin",
    "places_id": )" + id +
                       R"(,
    "url": "bc.example.net/Erin"
  })");
  const std::string place = field("people", R"({ name: "Erin" })", "places_id");
  EXPECT_EQ(field("places", "{ _id: " + place + " }", "name"), "\"Broadway Center\"");
}

// "DBRefs": {"$ref": <value>, "$id": <value>, "$db": <value>}, and the document of its example.
class DbRefs : public Manual {
 protected:
  void SetUp() override {
    Manual::SetUp();
    use("users");
    insert("creators", R"({ _id: ObjectId("5126bc054aed4daf9e2ab772"), name: "Ann" })");
    use("test");
    insert("things", R"({
      "_id" : ObjectId("5126bbf64aed4daf9e2ab771"),
      // .. application fields
      "creator" : {
        "$ref" : "creators",
        "$id" : ObjectId("5126bc054aed4daf9e2ab772"),
        "$db" : "users"
      }
    })");
  }

  // The name of the document that a reference leads to.
  std::string name_of(bson::ValueView value) {
    const Result<engine::Reference> reference = engine::Reference::parse(value);
    if (!reference) return describe(reference.error());
    const auto view = snapshot();
    const auto found = engine::resolve(store(), *view, "test", *reference);
    if (!found) return describe(found.error());
    return *found ? json((**found)["name"]) : "nothing";
  }
};

TEST_F(DbRefs, PointToADocument_OfAnotherDatabase) {
  const bson::Document found =
      find_one("things", R"({ _id: ObjectId("5126bbf64aed4daf9e2ab771") })");
  const auto reference = engine::Reference::parse(found.view()["creator"]);
  ASSERT_THAT(reference, Succeeded());
  EXPECT_EQ(reference->collection, "creators");
  EXPECT_EQ(json(reference->id), R"({ "$oid" : "5126bc054aed4daf9e2ab772" })");
  EXPECT_EQ(reference->database, "users");
  EXPECT_EQ(json(reference->document()), json(found.view()["creator"]));
  EXPECT_EQ(name_of(found.view()["creator"]), "\"Ann\"");
}

// "$db: Optional."
TEST_F(DbRefs, WithoutADatabase_StayInTheirOwn) {
  insert("creators", R"({ _id: 1, name: "Bob" })");
  insert("things", R"({ _id: 1, creator: { $ref: "creators", $id: 1 } }
                      { _id: 2, creator: { $ref: "creators", $id: 2 } })");
  EXPECT_EQ(name_of(find_one("things", "{ _id: 1 }").view()["creator"]), "\"Bob\"");
  EXPECT_EQ(name_of(find_one("things", "{ _id: 2 }").view()["creator"]), "nothing");
}

// "The order of fields in the DBRef matters".
TEST_F(DbRefs, InAnotherOrder_AreNone) {
  for (const Text value :
       {R"({ a: { b: 1, $ref: "creators", $id: 1 } })", R"({ a: { $ref: "creators" } })",
        R"({ a: { b: 1 } })", "{ a: 1 }", R"({ a: "creators" })"}) {
    const bson::Document holder = document(value);
    EXPECT_THAT(engine::Reference::parse(holder.view()["a"]), FailedWith(ErrorCode::kTypeMismatch))
        << value;
  }
  const auto reference = [](auto append) {
    bson::Builder builder;
    append(builder);
    return engine::Reference::parse(bson::Value(std::move(builder).finish().view()));
  };
  EXPECT_THAT(reference([](bson::Builder& b) { b.append("$id", 1).append("$ref", "c"); }),
              FailedWith(ErrorCode::kTypeMismatch));
  EXPECT_THAT(reference([](bson::Builder& b) {
                b.append("$ref", "c").append("$db", "d").append("$id", 1);
              }),
              FailedWith(ErrorCode::kTypeMismatch));
}

// References are fields like others: queried whole or in part, indexed and updated.
TEST_F(DbRefs, AreQueried) {
  create_index("things", R"({ "creator.$id": 1 })");
  const Text by_id = R"({ "creator.$id": ObjectId("5126bc054aed4daf9e2ab772") })";
  EXPECT_EQ(count("things", by_id), 1);
  EXPECT_EQ(explain("things", by_id).plan, "FETCH IXSCAN(creator.$id_1)");
  EXPECT_EQ(count("things", R"({ "creator.$ref": "creators", "creator.$db": "users" })"), 1);
  EXPECT_EQ(count("things", R"({ creator: { $ref: "creators",
                                 $id: ObjectId("5126bc054aed4daf9e2ab772"), $db: "users" } })"),
            1);
  EXPECT_EQ(count("things", R"({ creator: { $ref: "creators",
                                 $id: ObjectId("5126bc054aed4daf9e2ab772") } })"),
            0);
  EXPECT_EQ(
      update("things", "{}", R"({ $set: { creator: { $ref: "creators", $id: 7 } } })").modified, 1);
  EXPECT_EQ(count("things", R"({ "creator.$id": 7 })"), 1);
}

}  // namespace
}  // namespace gridmount::manuals
