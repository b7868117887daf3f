// Goal: fields of one document change together. Sources: "Data Model Design for MongoDB", releases
// 2.4.9 (findAndModify) and 3.2.6 (update), section "Model Data for Atomic Operations"; "Data
// Modeling", section "Atomic Operation"; "Schema Design by Example", section "Take Advantage of
// Atomic Operations".
#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

class AtomicOperations : public Manual {
 protected:
  void SetUp() override {
    Manual::SetUp();
    insert("books", R"({
      _id: 123456789,
      title: "MongoDB: The Definitive Guide",
      author: [ "Kristina Chodorow", "Mike Dirolf" ],
      published_date: ISODate("2010-09-24"),
      pages: 216,
      language: "English",
      publisher_id: "oreilly",
      available: 3,
      checkout: [ { by: "joe", date: ISODate("2012-10-15") } ]
    })");
  }

  std::string state() {
    return find("books", "{}", {.projection = "{ _id: 0, available: 1, checkout: 1 }"}).at(0);
  }
};

// Release 2.4.9.
TEST_F(AtomicOperations, CheckOut_ByFindAndModify) {
  const FindAndModify check_out = {.query = R"({
         _id: 123456789,
         available: { $gt: 0 }
       })",
                                   .update = R"({
         $inc: { available: -1 },
         $push: { checkout: { by: "abc", date: ISODate("2012-10-16") } }
       })"};
  // Returns the book before the change.
  const auto before = find_and_modify("books", check_out);
  ASSERT_TRUE(before.document);
  EXPECT_TRUE(before.updated_existing);
  EXPECT_EQ(json((*before.document).view()["available"]), "3");
  EXPECT_EQ(state(), json(document(R"({ available: 2, checkout: [
      { by: "joe", date: ISODate("2012-10-15") }, { by: "abc", date: ISODate("2012-10-16") } ] })")));
  // Returns the book after the change.
  FindAndModify and_show = check_out;
  and_show.return_new = true;
  EXPECT_EQ(json((*find_and_modify("books", and_show).document).view()["available"]), "1");
  find_and_modify("books", check_out);
  // No copy is left, so nothing is found and nothing is changed.
  const std::string last = state();
  const auto refused = find_and_modify("books", check_out);
  EXPECT_FALSE(refused.document);
  EXPECT_FALSE(refused.updated_existing);
  EXPECT_EQ(state(), last);
}

// Release 3.2.6: WriteResult({ "nMatched" : 1, "nUpserted" : 0, "nModified" : 1 }).
TEST_F(AtomicOperations, CheckOut_ByUpdate_CountsMatches) {
  const Text query = "{ _id: 123456789, available: { $gt: 0 } }";
  const Text change = R"({
    $inc: { available: -1 },
    $push: { checkout: { by: "abc", date: ISODate("2012-10-16") } }
  })";
  for (int copies = 3; copies > 0; --copies) {
    const engine::UpdateResult result = update("books", query, change);
    EXPECT_EQ(result.matched, 1);
    EXPECT_EQ(result.modified, 1);
    EXPECT_FALSE(result.upserted_id);
  }
  // "If no document matched the update condition, then nMatched and nModified would be 0".
  const engine::UpdateResult result = update("books", query, change);
  EXPECT_EQ(result.matched, 0);
  EXPECT_EQ(result.modified, 0);
  EXPECT_EQ(json(find_one("books", "{}", R"({ _id: 0, available: 1 })")),
            json(document("{ available: 0 }")));
}

// Many readers check out at once. Each copy is given out once, and the two fields never disagree.
TEST_F(AtomicOperations, CheckOut_ByManyAtOnce_KeepsTheFieldsInSync) {
  std::atomic<int> given = 0;
  std::atomic<int> out_of_sync = 0;
  std::vector<std::thread> readers;
  readers.reserve(8);
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back([&]() {
      const auto result =
          try_update("books", "{ _id: 123456789, available: { $gt: 0 } }",
                     R"({ $inc: { available: -1 }, $push: { checkout: { by: "abc" } } })");
      if (result && result->modified == 1) ++given;
      if (count("books", R"({ $expr: { $eq: [ 4, { $add: [ "$available",
                              { $size: "$checkout" } ] } ] } })") != 1) {
        ++out_of_sync;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(given, 3);
  EXPECT_EQ(out_of_sync, 0);
  EXPECT_EQ(count("books", "{ available: 0, checkout: { $size: 4 } }"), 1);
}

// An update that fails in one field changes no field.
TEST_F(AtomicOperations, AnUpdateThatFails_ChangesNothing) {
  const std::string before = state();
  EXPECT_THAT(try_update("books", "{}", R"({ $inc: { available: -1 }, $push: { title: "x" } })"),
              FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(try_update("books", "{}", R"({ $inc: { available: -1, title: 1 } })"),
              FailedWith(ErrorCode::kTypeMismatch));
  EXPECT_EQ(state(), before);
}

// "Take Advantage of Atomic Operations": each operator of the list.
TEST_F(AtomicOperations, Operators) {
  struct Case {
    Text before;
    Text update;
    Text after;
  };
  for (const Case& each : {
           Case{"{ _id: 1 }", "{ $set: { a: 1 } }", "{ _id: 1, a: 1 }"},
           Case{"{ _id: 1, a: 1 }", R"({ $unset: { a: "" } })", "{ _id: 1 }"},
           Case{"{ _id: 1, a: 1 }", "{ $inc: { a: 2 } }", "{ _id: 1, a: 3 }"},
           Case{"{ _id: 1 }", "{ $inc: { a: 2 } }", "{ _id: 1, a: 2 }"},
           Case{"{ _id: 1, a: [ 1 ] }", "{ $push: { a: 2 } }", "{ _id: 1, a: [ 1, 2 ] }"},
           Case{"{ _id: 1 }", "{ $push: { a: 2 } }", "{ _id: 1, a: [ 2 ] }"},
           Case{"{ _id: 1, a: [ 1, 2, 1 ] }", "{ $pull: { a: 1 } }", "{ _id: 1, a: [ 2 ] }"},
           Case{"{ _id: 1, a: [ 1, 2, 3, 1 ] }", "{ $pullAll: { a: [ 1, 3 ] } }",
                "{ _id: 1, a: [ 2 ] }"},
           Case{"{ _id: 1, a: 13 }", "{ $bit: { a: { and: NumberInt(10) } } }", "{ _id: 1, a: 8 }"},
           Case{"{ _id: 1, a: 8 }", "{ $bit: { a: { or: NumberInt(5) } } }", "{ _id: 1, a: 13 }"},
           Case{"{ _id: 1, a: [ 1 ] }", "{ $addToSet: { a: 1 } }", "{ _id: 1, a: [ 1 ] }"},
           Case{"{ _id: 1, a: [ 1 ] }", "{ $addToSet: { a: 2 } }", "{ _id: 1, a: [ 1, 2 ] }"},
           Case{"{ _id: 1, a: 1, b: 2 }", R"({ $rename: { a: "c" } })", "{ _id: 1, b: 2, c: 1 }"},
           Case{"{ _id: 1, a: [ 1 ] }", "{ $pushAll: { a: [ 2, 3 ] } }",
                "{ _id: 1, a: [ 1, 2, 3 ] }"},
           // Today the operator is written in this way.
           Case{"{ _id: 1, a: [ 1 ] }", "{ $push: { a: { $each: [ 2, 3 ] } } }",
                "{ _id: 1, a: [ 1, 2, 3 ] }"},
       }) {
    insert("c", each.before);
    EXPECT_EQ(update("c", "{ _id: 1 }", each.update).matched, 1) << each.update;
    EXPECT_EQ(find("c"), json_each(each.after)) << each.update;
    remove("c", "{}");
  }
}

// "Atomicity": "No single write operation can change more than one document" atomically. Here a
// transaction changes several documents, or none of them.
TEST_F(AtomicOperations, SeveralDocuments_InOneTransaction) {
  insert("accounts", R"({ _id: "a", balance: 100 } { _id: "b", balance: 0 })");
  if (!has_transactions()) GTEST_SKIP() << "each write is seen at once";
  const auto move = [&](engine::Transaction& transaction) {
    const auto accounts = collection("accounts");
    EXPECT_THAT(accounts->update(transaction, document(R"({ _id: "a" })"),
                                 document("{ $inc: { balance: -30 } }")),
                Succeeded());
    EXPECT_THAT(accounts->update(transaction, document(R"({ _id: "b" })"),
                                 document("{ $inc: { balance: 30 } }")),
                Succeeded());
  };
  move(*begin());  // not committed
  EXPECT_EQ(distinct("accounts", "balance"), (Strings{"0", "100"}));
  const auto transaction = begin();
  move(*transaction);
  EXPECT_EQ(distinct("accounts", "balance"), (Strings{"0", "100"}));
  EXPECT_THAT(transaction->commit(), Succeeded());
  EXPECT_EQ(distinct("accounts", "balance"), (Strings{"30", "70"}));
}

}  // namespace
}  // namespace gridmount::manuals
