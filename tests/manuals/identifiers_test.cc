// Goal: identifiers of documents. Sources: "Object IDs"; "Data Model Design for MongoDB", release
// 2.4.9, sections "ObjectId" and "The _id Field".
#include <chrono>
#include <set>
#include <thread>

#include "engine/bson/builder.h"
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;

class Identifiers : public Manual {
 protected:
  // function counter(name) of "Sequence Numbers".
  std::string counter(const std::string& name) {
    const std::string query = "{ _id: \"" + name + "\" }";
    const auto ret = find_and_modify(
        "counters",
        {.query = query, .update = "{ $inc : { next: 1 } }", .return_new = true, .upsert = true});
    return ret.document ? json((*ret.document).view()["next"]) : "nothing";
  }
};

// "Object IDs", section "The BSON ObjectId Datatype".
TEST_F(Identifiers, ObjectIds_AreMadeAndFound) {
  const auto id = try_insert("people", R"({ name: "joe" })");
  ASSERT_THAT(id, Succeeded());
  ASSERT_EQ(id->type(), bson::Type::kObjectId);
  const std::string hex = id->view().as_object_id().hex();
  // "as its first attribute".
  EXPECT_EQ(find("people", "{ _id: ObjectId( \"" + hex + "\" ) }"),
            json_each("{ _id : ObjectId( \"" + hex + "\" ), name : \"joe\" }"));

  insert("people", R"({ name : "joe" , _id : ObjectId( "47cc67093475061e3d95369d" ) })");
  const Strings joe =
      json_each(R"({ _id : ObjectId( "47cc67093475061e3d95369d" ) , name : "joe" })");
  EXPECT_EQ(find("people", R"({ _id: ObjectId( "47cc67093475061e3d95369d" ) })"), joe);
  EXPECT_EQ(find("people", R"({ _id: new ObjectId( "47cc67093475061e3d95369d" ) })"), joe);
  EXPECT_EQ(explain("people", R"({ _id: ObjectId( "47cc67093475061e3d95369d" ) })").documents, 1);
}

// "BSON ObjectID Specification": 4 bytes of time, most significant first, and at the end a counter.
TEST_F(Identifiers, ObjectIds_BeginWithTheTime_AndCount) {
  const auto id = bson::ObjectId::from_hex("47cc67093475061e3d95369d");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->seconds(), 0x47cc6709U);
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  const bson::ObjectId first = bson::ObjectId::generate();
  const bson::ObjectId second = bson::ObjectId::generate();
  // time(2) begins a second up to a tick later than the clock does.
  EXPECT_GE(first.seconds() + 1, now);
  EXPECT_LE(first.seconds(), now + 60);
  EXPECT_NE(first, second);
  EXPECT_EQ(first.hex().substr(8, 10), second.hex().substr(8, 10));  // machine and process
  const auto count = [](const bson::ObjectId& each) {
    return std::stoul(each.hex().substr(18), nullptr, 16);
  };
  EXPECT_EQ(count(second), (count(first) + 1) % 0x1000000);
}

// "a reasonably high probability of being unique when allocated".
TEST_F(Identifiers, ObjectIds_AreUnique_AcrossThreads) {
  std::vector<std::vector<bson::ObjectId>> made(4);
  std::vector<std::thread> threads;
  threads.reserve(made.size());
  for (auto& mine : made) {
    threads.emplace_back([&mine]() {
      for (int i = 0; i < 1000; ++i) mine.push_back(bson::ObjectId::generate());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<bson::ObjectId> all;
  for (const auto& mine : made) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 4000U);
}

// "ObjectId", section "Examples".
TEST_F(Identifiers, ObjectIds_AsTimestampsAndStrings) {
  EXPECT_TRUE(bson::ObjectId::from_hex("507f1f77bcf86cd799439011"));
  EXPECT_FALSE(bson::ObjectId::from_hex("507f1f77bcf86cd79943901"));
  EXPECT_FALSE(bson::ObjectId::from_hex("507f1f77bcf86cd79943901x"));
  const auto y = bson::ObjectId::from_hex("507f191e810c19729de860ea");
  ASSERT_TRUE(y);
  EXPECT_EQ(y->hex(), "507f191e810c19729de860ea");
  insert("c", R"({ _id: ObjectId("507f191e810c19729de860ea") })");
  // getTimestamp() and str, which expressions have as conversions.
  EXPECT_EQ(aggregate("c", R"([ { $project: { _id: 0, time: { $toDate: "$_id" },
                                              str: { $toString: "$_id" } } } ])"),
            json_each(R"({ time: ISODate("2012-10-17T20:46:22Z"),
                           str: "507f191e810c19729de860ea" })"));
  EXPECT_EQ(count("c", R"({ $expr: { $eq: [ "$_id", { $toObjectId:
                            "507f191e810c19729de860ea" } ] } })"),
            1);
}

// "sorting on an _id field that stores ObjectId values is roughly equivalent to sorting by creation
// time": the bytes decide.
TEST_F(Identifiers, ObjectIds_SortByTime) {
  insert("c", R"({ _id: ObjectId("507f191e810c19729de860ea"), n: 2 }
                 { _id: ObjectId("47cc67093475061e3d95369d"), n: 1 }
                 { _id: ObjectId("507f1f77bcf86cd799439011"), n: 3 })");
  EXPECT_EQ(find("c", "{}", {.sort = "{ _id: 1 }", .projection = "{ _id: 0 }"}),
            json_each("{ n: 1 } { n: 2 } { n: 3 }"));
  // Finds the documents that were made before a date.
  EXPECT_EQ(count("c", R"({ _id: { $lt: ObjectId("500000000000000000000000") } })"), 1);
}

// "Object IDs", section "Sequence Numbers".
TEST_F(Identifiers, SequenceNumbers) {
  insert("users", "{ _id: " + counter("users") + R"(, name: "Sarah C." })");  // _id : 1
  insert("users", "{ _id: " + counter("users") + R"(, name: "Bob D." })");    // _id : 2
  EXPECT_EQ(find("users"), json_each(R"({ _id: 1, name: "Sarah C." } { _id: 2, name: "Bob D." })"));
  EXPECT_EQ(find("counters"), json_each(R"({ "_id" : "users", "next" : 2 })"));
  EXPECT_EQ(counter("others"), "1");
}

TEST_F(Identifiers, SequenceNumbers_OfManyAtOnce_AreDifferent) {
  std::vector<std::thread> threads;
  std::vector<std::string> taken(12);
  threads.reserve(taken.size());
  for (std::string& mine : taken) {
    threads.emplace_back([this, &mine]() { mine = counter("users"); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), taken.size());
  EXPECT_EQ(field("counters", R"({ _id: "users" })", "next"), "12");
}

// "The _id Field": any type but an array, unique, unchangeable, indexed.
TEST_F(Identifiers, Id_IsOfAnyType_ButAnArray) {
  const Text values = R"(
    { _id: MinKey } { _id: null } { _id: NumberDecimal("1.5") } { _id: 5.5 } { _id: NumberLong(7) }
    { _id: "natural key" } { _id: { a: 1, b: 2 } } { _id: { $binary: { base64: "AAEC", subType: "00" } } }
    { _id: ObjectId("507f191e810c19729de860ea") } { _id: true } { _id: ISODate("2012-10-15") }
    { _id: Timestamp(1, 2) } { _id: MaxKey })";
  insert("c", values);
  for (const std::string& value : json_each(values)) {
    EXPECT_EQ(find("c", value), Strings{value}) << value;
    EXPECT_THAT(try_insert("c", value), FailedWith(ErrorCode::kDuplicateKey)) << value;
  }
  EXPECT_EQ(find("c", "{}", {.sort = "{ _id: 1 }"}), json_each(values));
  for (const Text bad : {"{ _id: [ 1 ] }", "{ _id: [] }", "{ _id: /a/ }"}) {
    EXPECT_THAT(try_insert("c", bad), FailedWith(ErrorCode::kInvalidIdField)) << bad;
  }
  EXPECT_THAT(try_update("c", "{ _id: true }", "{ $set: { _id: false } }"),
              FailedWith(ErrorCode::kImmutableField));
  EXPECT_THAT(try_update("c", "{ _id: true }", "{ _id: false, a: 1 }"),
              FailedWith(ErrorCode::kImmutableField));
  EXPECT_EQ(update("c", "{ _id: true }", "{ $set: { _id: true, a: 1 } }").modified, 1);
  // Equal numbers of different types are the same _id.
  EXPECT_THAT(try_insert("c", "{ _id: 7 }"), FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(index_names("c"), ElementsAre("_id_"));
}

// "UUIDs": binary UUIDs take less space than their text.
TEST_F(Identifiers, Id_AsUuid) {
  const Text uuid = R"({ _id: UUID("c8edabc3-f738-4ca3-b68d-ab92a91478a3") })";
  insert("binary", uuid);
  insert("text", R"({ _id: "c8edabc3-f738-4ca3-b68d-ab92a91478a3" })");
  EXPECT_EQ(count("binary", uuid), 1);
  EXPECT_EQ(count("binary", R"({ _id: { $type: "binData" } })"), 1);
  EXPECT_LT(collection("binary")->stats(*snapshot())->document_bytes,
            collection("text")->stats(*snapshot())->document_bytes);
}

}  // namespace
}  // namespace gridmount::manuals
