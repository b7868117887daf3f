// Goal: collections validate their documents. Source: "Data Model Design for MongoDB", release
// 3.2.6, section "Document Validation".
#include "engine/bson/json.h"
#include "tests/logged.h"
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Text kValidator = R"({ $or:
  [
    { phone: { $type: "string" } },
    { email: { $regex: /@mongodb\.com$/ } },
    { status: { $in: [ "Unknown", "Incomplete" ] } }
  ]
})";

class Validation : public Manual {
 protected:
  void expect_refused(const std::string& text) {
    EXPECT_THAT(try_insert("contacts", text), FailedWith(ErrorCode::kDocumentValidationFailure))
        << text;
  }
};

// The first example, and "the following three conditions" one by one.
TEST_F(Validation, AtLeastOneCondition) {
  ASSERT_THAT(create("contacts", "{ validator: " + std::string(kValidator) + " }"), Succeeded());
  insert("contacts", R"(
    { _id: 1, phone: "+1 555 123 456" }
    { _id: 2, email: "anne@mongodb.com" }
    { _id: 3, status: "Unknown" }
    { _id: 4, status: "Incomplete", phone: 5 })");
  expect_refused("{ phone: 5551234 }");
  expect_refused(R"({ email: "anne@mongodb.com.example.net" })");
  expect_refused(R"({ email: "anne@mongodbxcom" })");
  expect_refused(R"({ name: "Amanda", status: "Updated" })");
  expect_refused("{ }");
  // "Validation occurs during updates and inserts".
  EXPECT_THAT(try_update("contacts", "{ _id: 1 }", "{ $set: { phone: 1 } }"),
              FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_EQ(field("contacts", "{ _id: 1 }", "phone"), "\"+1 555 123 456\"");
  EXPECT_EQ(update("contacts", "{ _id: 1 }", R"({ phone: "1" })").modified, 1);
  // An upsert inserts.
  engine::UpdateOptions upsert;
  upsert.upsert = true;
  EXPECT_THAT(try_update("contacts", "{ _id: 9 }", R"({ $set: { name: "x" } })", upsert),
              FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_EQ(update("contacts", "{ _id: 9 }", R"({ $set: { status: "Unknown" } })", upsert).matched,
            0);
  EXPECT_EQ(count("contacts"), 5);
}

// "Existing Documents".
TEST_F(Validation, Moderate_LeavesDocumentsThatDoNotMatch) {
  insert("contacts", R"(
    {
      "_id": "125876",
      "name": "Anne",
      "phone": "+1 555 123 456",
      "city": "London",
      "status": "Complete"
    },
    {
      "_id": "860000",
      "name": "Ivan",
      "city": "Vancouver"
    })");
  const Text rule = "{ $or: [ { phone: { $exists: true } }, { email: { $exists: true } } ] }";
  ASSERT_THAT(modify("contacts",
                     "{ validator: " + std::string(rule) + R"(, validationLevel: "moderate" })"),
              Succeeded());
  const Text anne = R"({ _id: "125876" })";
  const Text ivan = R"({ _id: "860000" })";
  // Anne's document matches, so an update must not make it invalid.
  EXPECT_THAT(try_update("contacts", anne, R"({ $unset: { phone: "" } })"),
              FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_EQ(update("contacts", anne, R"({ $set: { city: "Paris" } })").modified, 1);
  // Ivan's document does not match, and may be changed. New documents must match.
  EXPECT_EQ(update("contacts", ivan, R"({ $set: { city: "Toronto" } })").modified, 1);
  expect_refused(R"({ name: "Ivan" })");

  // "By default, validationLevel is strict": now Ivan's document is checked as well.
  ASSERT_THAT(modify("contacts", R"({ validationLevel: "strict" })"), Succeeded());
  EXPECT_THAT(try_update("contacts", ivan, R"({ $set: { city: "Paris" } })"),
              FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_EQ(update("contacts", ivan, R"({ $set: { email: "ivan@example.net" } })").modified, 1);
  // "To disable validation entirely".
  ASSERT_THAT(modify("contacts", R"({ validationLevel: "off" })"), Succeeded());
  insert("contacts", R"({ name: "Nobody" })");
}

// "When you add validation to a collection, existing documents do not undergo validation checks
// until modification."
TEST_F(Validation, IsAddedBesideDocumentsThatDoNotMatch) {
  insert("contacts", "{ _id: 1 } { _id: 2 }");
  ASSERT_THAT(modify("contacts", "{ validator: " + std::string(kValidator) + " }"), Succeeded());
  EXPECT_EQ(count("contacts"), 2);
  EXPECT_THAT(try_update("contacts", "{ _id: 1 }", "{ $set: { a: 1 } }"),
              FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_EQ(remove("contacts", "{ _id: 1 }"), 1);
  // An update that changes nothing stores nothing.
  EXPECT_EQ(update("contacts", "{ _id: 2 }", R"({ $unset: { a: "" } })").modified, 0);
}

// "Accept or Reject Invalid Documents".
TEST_F(Validation, Warn_LogsAndStores) {
  ASSERT_THAT(create("contacts",
                     "{ validator: " + std::string(kValidator) + R"(, validationAction: "warn" })"),
              Succeeded());
  const std::string logged =
      logged_by([&] { insert("contacts", R"({ name: "Amanda", status: "Updated" })"); });
  EXPECT_EQ(count("contacts", R"({ name: "Amanda" })"), 1);
  // "The log includes the full namespace of the collection and the document that failed".
  EXPECT_THAT(logged, HasSubstr("test.contacts"));
  EXPECT_THAT(logged, HasSubstr(R"("name" : "Amanda", "status" : "Updated")"));
}

// "Restrictions".
TEST_F(Validation, IsRefusedInSystemPlaces) {
  const std::string options = "{ validator: " + std::string(kValidator) + " }";
  for (const Text database : {"admin", "local", "config"}) {
    use(database);
    EXPECT_THAT(create("contacts", options), FailedWith(ErrorCode::kInvalidOptions)) << database;
    insert("contacts", "{ _id: 1 }");
    EXPECT_THAT(modify("contacts", options), FailedWith(ErrorCode::kInvalidOptions)) << database;
  }
  use("test");
  EXPECT_THAT(create("system.users", options), Not(Succeeded()));
  EXPECT_THAT(create("contacts", options), Succeeded());
}

// "Specify the expressions using any query operators, with the exception of $near, $nearSphere,
// $text, and $where."
TEST_F(Validation, SomeOperatorsAreRefused) {
  for (const std::string validator :
       {"{ place: { $near: [ 0, 0 ] } }", "{ place: { $nearSphere: [ 0, 0 ] } }",
        R"({ $text: { $search: "x" } })", R"({ $where: "this.a == 1" })"}) {
    EXPECT_THAT(create("contacts", "{ validator: " + validator + " }"), Not(Succeeded()))
        << validator;
  }
  EXPECT_THAT(create("contacts", "{ validator: 1 }"), Not(Succeeded()));
  EXPECT_THAT(collection_names(), testing::IsEmpty());
}

// "Bypass Document Validation".
TEST_F(Validation, IsBypassed) {
  ASSERT_THAT(create("contacts", "{ validator: " + std::string(kValidator) + " }"), Succeeded());
  engine::InsertOptions bypass;
  bypass.bypass_validation = true;
  EXPECT_THAT(try_insert("contacts", document("{ _id: 1 }"), bypass), Succeeded());
  engine::UpdateOptions bypass_update;
  bypass_update.bypass_validation = true;
  EXPECT_EQ(update("contacts", "{ _id: 1 }", "{ $set: { phone: 1 } }", bypass_update).modified, 1);
}

// "Additional Information": db.getCollectionInfos() shows the rules.
TEST_F(Validation, IsShown) {
  ASSERT_THAT(create("contacts", R"({ validator: { phone: { $exists: true } },
                                      validationLevel: "moderate", validationAction: "warn" })"),
              Succeeded());
  const auto info = db()->collection_info(*snapshot(), "contacts");
  ASSERT_THAT(info, Succeeded());
  ASSERT_TRUE(info->has_value());
  EXPECT_EQ(json((*info)->options), json(document(R"({ validator: { phone: { $exists: true } },
                               validationLevel: "moderate", validationAction: "warn" })")));
}

}  // namespace
}  // namespace gridmount::manuals
