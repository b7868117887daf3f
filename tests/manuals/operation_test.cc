// Goal: the consequences of a data model for the operation of a database. Sources: "Data Model
// Design for MongoDB", releases 2.4.9 and 3.2.6, section "Operational Factors and Data Models";
// "Data Modeling", section "Operational Considerations".
#include <chrono>
#include <thread>

#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class Operation : public Manual {
 protected:
  engine::CollectionStats stats(Text name) {
    const auto stats = collection(name)->stats(*snapshot());
    EXPECT_THAT(stats, Succeeded());
    return stats.value_or(engine::CollectionStats());
  }
};

// "Large Number of Collections": one collection of logs, and one for each kind.
TEST_F(Operation, CollectionsByKind) {
  insert("logs", R"({ log: "dev", ts: ISODate("2014-01-27"), info: "a" }
                    { log: "debug", ts: ISODate("2014-01-27"), info: "b" }
                    { log: "dev", ts: ISODate("2014-01-28"), info: "c" })");
  EXPECT_EQ(count("logs", R"({ log: "dev" })"), 2);
  for (const std::string kind : {"dev", "debug"}) {
    for (const std::string& each :
         find("logs", "{ log: \"" + kind + "\" }", {.projection = "{ log: 0 }"})) {
      insert("logs." + kind, each);
    }
  }
  EXPECT_THAT(collection_names(), UnorderedElementsAre("logs", "logs.dev", "logs.debug"));
  // "The logs.dev collection would contain only the documents related to the dev environment."
  EXPECT_EQ(count("logs.dev"), 2);
  EXPECT_EQ(count("logs.debug"), 1);
}

// The same section: db.system.namespaces.count().
TEST_F(Operation, NamespacesAreCounted) {
  insert("logs", "{ _id: 1 }");
  create_index("logs", "{ ts: 1 }");
  insert("other", "{ _id: 1 }");
  // Two collections and three indexes.
  EXPECT_EQ(count("system.namespaces"), 5);
  EXPECT_EQ(count("system.namespaces", R"({ name: "test.logs.$ts_1" })"), 1);
}

TEST_F(Operation, ManyCollections) {
  {
    const auto transaction = begin();
    for (int i = 0; i < 300; ++i) {
      ASSERT_THAT(collection("c" + std::to_string(i))
                      ->insert(*transaction, document("{ _id: " + std::to_string(i) + " }")),
                  Succeeded());
    }
    ASSERT_THAT(transaction->commit(), Succeeded());
  }
  EXPECT_EQ(collection_names().size(), 300U);
  EXPECT_THAT(ids("c123", "{}"), ElementsAre("123"));
}

// "Indexes": "MongoDB automatically creates a unique index on the _id field".
TEST_F(Operation, IndexOnIdIsUnique) {
  insert("c", "{ _id: 1 }");
  EXPECT_THAT(index_names("c"), ElementsAre("_id_"));
  EXPECT_THAT(try_insert("c", "{ _id: 1 }"), FailedWith(ErrorCode::kDuplicateKey));
  // "for all operations that return sorted results".
  insert("c", "{ _id: 3, a: 1 } { _id: 2, a: 2 }");
  EXPECT_EQ(explain("c", "{}", {.sort = "{ a: 1 }"}).plan, "SORT COLLSCAN");
  create_index("c", "{ a: 1 }");
  EXPECT_EQ(explain("c", "{}", {.sort = "{ a: -1 }"}).plan, "FETCH IXSCAN(a_1)");
  // "Indexes do not affect un-indexed read operations."
  EXPECT_EQ(explain("c", "{ b: 1 }").plan, "COLLSCAN");
}

// "Collection Contains Large Number of Small Documents": rolled up, common fields are stored and
// indexed once.
TEST_F(Operation, SmallDocumentsAreRolledUp) {
  create_index("small", "{ sensor: 1 }");
  create_index("rolled", "{ sensor: 1 }");
  for (int i = 0; i < 50; ++i) {
    insert("small", R"({ sensor: "north", value: )" + std::to_string(i) + " }");
  }
  const uint64_t of_small = index_entries();
  EXPECT_EQ(of_small, 100U);
  insert("rolled", R"({ sensor: "north" })");
  for (int i = 0; i < 50; ++i) {
    update("rolled", R"({ sensor: "north" })", "{ $push: { values: " + std::to_string(i) + " } }");
  }
  EXPECT_EQ(index_entries() - of_small, 2U);
  EXPECT_EQ(explain("small", R"({ sensor: "north" })").documents, 50);
  EXPECT_EQ(explain("rolled", R"({ sensor: "north" })").documents, 1);
  EXPECT_EQ(find("rolled", R"({ sensor: "north" })",
                 {.projection = "{ _id: 0, values: { $slice: [ 10, 2 ] }, sensor: 1 }"}),
            json_each(R"({ sensor: "north", values: [ 10, 11 ] })"));
}

// "Storage Optimization for Small Documents": "you could save 9 bytes per document".
TEST_F(Operation, ShorterNamesSaveBytes) {
  for (int i = 0; i < 10; ++i) {
    insert("long", R"({ last_name : "Smith", best_score: 3.9 })");
    insert("short", R"({ lname : "Smith", score : 3.9 })");
    // "Use the _id field explicitly": no ObjectId beside the value.
    insert("explicit", "{ _id: " + std::to_string(i) + ", score: 3.9 }");
    insert("generated", "{ n: " + std::to_string(i) + ", score: 3.9 }");
  }
  EXPECT_EQ(stats("long").document_bytes - stats("short").document_bytes, 90);
  EXPECT_LT(stats("explicit").document_bytes, stats("generated").document_bytes);
  EXPECT_EQ(stats("explicit").index_count, 1);
}

// "Document Growth": a document that grows keeps its place in the order of a scan.
TEST_F(Operation, DocumentsGrow) {
  insert("c", "{ _id: 1, a: [] } { _id: 2, a: [] } { _id: 3, a: [] }");
  for (int i = 0; i < 200; ++i) {
    update("c", "{ _id: 2 }",
           "{ $push: { a: { i: " + std::to_string(i) + R"(, text: "some text" } } })");
  }
  EXPECT_THAT(ids("c", "{}"), ElementsAre("1", "2", "3"));
  EXPECT_EQ(count("c", R"({ _id: 2, a: { $size: 200 }, "a.199.i": 199 })"), 1);
}

// "Data Lifecycle Management": "The Time to Live or TTL feature of collections expires documents
// after a period of time."
TEST_F(Operation, DocumentsExpire) {
  insert("log", R"({ _id: "old", createdAt: ISODate("2014-01-27") } { _id: "no date" })");
  const auto recent = bson::Date::now();
  insert("log", "{ _id: \"new\", createdAt: Date(" + std::to_string(recent.milliseconds) + ") }");
  create_index("log", "{ createdAt: 1 }", "{ expireAfterSeconds: 3600 }");
  for (int i = 0; i < 3000 && count("log", R"({ _id: "old" })") > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(ids("log", "{}"), ElementsAre("\"no date\"", "\"new\""));
}

// The same section: "Capped collections provide first-in-first-out (FIFO) management of inserted
// documents and efficiently support operations that insert and read documents based on insertion
// order."
TEST_F(Operation, CappedCollectionsKeepTheNewest) {
  ASSERT_THAT(create("log", "{ capped: true, size: 5242880, max: 5 }"), Succeeded());
  for (const int id : {9, 3, 7, 1, 8, 2, 6}) insert("log", "{ _id: " + std::to_string(id) + " }");
  EXPECT_THAT(ids("log", "{}"), ElementsAre("7", "1", "8", "2", "6"));
  EXPECT_THAT(ids("log", "{}", {.sort = "{ $natural: -1 }", .limit = 2}), ElementsAre("6", "2"));
}

}  // namespace
}  // namespace gridmount::manuals
