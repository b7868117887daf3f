// Goal: databases and collections can be created, listed, dropped and renamed.

#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_P(StoreContract, Create_MakesAnEmptyCollectionWithItsIdIndex) {
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->create(transaction, "c", bson::View());
              }),
              Succeeded());
  EXPECT_THAT(collection_names(), ElementsAre("c"));
  EXPECT_THAT(index_names(), ElementsAre("_id_"));
  EXPECT_EQ(*db()->exists(*snapshot(), "c"), true);
  EXPECT_EQ(*db()->exists(*snapshot(), "d"), false);
}

TEST_P(StoreContract, Create_Existing_IsNamespaceExists) {
  insert(R"({"_id": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->create(transaction, "c", bson::View());
              }),
              FailedWith(ErrorCode::kNamespaceExists));
}

TEST_P(StoreContract, Create_InvalidNameOrOption_IsRefused) {
  EXPECT_THAT(
      commit([&](Transaction& transaction) { return db()->create(transaction, "", bson::View()); }),
      FailedWith(ErrorCode::kInvalidNamespace));
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return store().database("a b")->create(transaction, "c", bson::View());
              }),
              FailedWith(ErrorCode::kInvalidNamespace));
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->create(transaction, "c", doc(R"({"nosuch": 1})"));
              }),
              FailedWith(ErrorCode::kUnknownField));
  EXPECT_THAT(collection_names(), IsEmpty());
}

TEST_P(StoreContract, Collections_AreListedByNamePerDatabase) {
  for (const char* name : {"fs.files", "a", "fs.chunks"}) insert("{}", name);
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(store().database("other")->collection("x")->insert(transaction, doc("{}")));
                GM_TRY(store().database("tes")->collection("y")->insert(transaction, doc("{}")));
                return {};
              }),
              Succeeded());
  EXPECT_THAT(collection_names(), ElementsAre("a", "fs.chunks", "fs.files"));
  EXPECT_THAT(database_names(), ElementsAre("other", "tes", "test"));
}

TEST_P(StoreContract, Uuid_StaysUntilTheCollectionMovesToAnotherDatabase) {
  const auto uuid = [&](const std::string& name, const std::string& database = "test") {
    const auto info = store().database(database)->collection_info(*snapshot(), name);
    return info && *info ? (*info)->uuid : "none";
  };
  insert("{}");
  insert("{}", "other");
  const std::string first = uuid("c");
  EXPECT_EQ(first.size(), 16U);
  EXPECT_NE(uuid("other"), first);
  create_index(R"({"a": 1})");
  reopen();
  EXPECT_EQ(uuid("c"), first);
  const auto all = db()->collections(*snapshot());
  ASSERT_THAT(all, Succeeded());
  EXPECT_EQ(all->at(0).uuid, first);
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->rename(transaction, "c", {"test", "renamed"}, false);
              }),
              Succeeded());
  EXPECT_EQ(uuid("renamed"), first);
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->rename(transaction, "renamed", {"elsewhere", "c"}, false);
              }),
              Succeeded());
  EXPECT_EQ(uuid("c", "elsewhere").size(), 16U);
  EXPECT_NE(uuid("c", "elsewhere"), first);
}

TEST_P(StoreContract, Uuid_OfAnotherCollectionOfTheSameName_IsAnother) {
  const auto uuid = [&] { return db()->collection_info(*snapshot(), "c").value()->uuid; };
  insert("{}");
  const std::string first = uuid();
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->convert_to_capped(transaction, "c", 4096);
              }),
              Succeeded());
  const std::string capped = uuid();
  EXPECT_NE(capped, first);
  EXPECT_THAT(commit([&](Transaction& transaction) { return db()->drop(transaction, "c"); }),
              Succeeded());
  insert("{}");
  EXPECT_NE(uuid(), first);
  EXPECT_NE(uuid(), capped);
}

TEST_P(StoreContract, Uuid_OfAView_IsEmpty) {
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->create(transaction, "v", doc(R"({"viewOn": "c", "pipeline": []})"));
              }),
              Succeeded());
  EXPECT_EQ(db()->collection_info(*snapshot(), "v").value()->uuid, "");
}

TEST_P(StoreContract, Drop_RemovesDocumentsAndIndexes) {
  create_index(R"({"a": 1})", true);
  insert(R"({"_id": 1, "a": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) { return db()->drop(transaction, "c"); }),
              Succeeded());
  EXPECT_THAT(collection_names(), IsEmpty());
  EXPECT_EQ(count("{}"), 0);
  insert(R"({"_id": 1, "a": 1})");
  insert(R"({"_id": 2, "a": 1})");
  EXPECT_EQ(count("{}"), 2);
  EXPECT_THAT(index_names(), ElementsAre("_id_"));
}

TEST_P(StoreContract, Drop_Missing_IsNamespaceNotFound) {
  EXPECT_THAT(commit([&](Transaction& transaction) { return db()->drop(transaction, "c"); }),
              FailedWith(ErrorCode::kNamespaceNotFound));
}

TEST_P(StoreContract, Drop_LeavesOtherCollectionsAlone) {
  for (int i = 0; i < 100; ++i) {
    insert(R"({"_id": )" + std::to_string(i) + "}", "a");
    insert(R"({"_id": )" + std::to_string(i) + "}", "b");
  }
  EXPECT_THAT(commit([&](Transaction& transaction) { return db()->drop(transaction, "a"); }),
              Succeeded());
  EXPECT_EQ(find("{}", {}, "b").size(), 100u);
  reopen();
  EXPECT_EQ(find("{}", {}, "b").size(), 100u);
  EXPECT_EQ(count("{}", "a"), 0);
}

TEST_P(StoreContract, Rename_KeepsDocumentsAndIndexes) {
  create_index(R"({"a": 1})", true);
  insert(R"({"_id": 1, "a": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->rename(transaction, "c", {"test", "d"}, false);
              }),
              Succeeded());
  EXPECT_THAT(collection_names(), ElementsAre("d"));
  EXPECT_THAT(index_names("d"), ElementsAre("_id_", "a_1"));
  EXPECT_EQ(count(R"({"a": 1})", "d"), 1);
  EXPECT_THAT(try_insert(R"({"_id": 2, "a": 1})", "d"), FailedWith(ErrorCode::kDuplicateKey));
}

TEST_P(StoreContract, Rename_OntoAnother_NeedsDropTarget) {
  insert(R"({"_id": "from"})", "c");
  insert(R"({"_id": "to"})", "d");
  const auto rename = [&](std::string_view from, std::string_view to, bool drop_target) {
    return commit([&](Transaction& transaction) {
      return db()->rename(transaction, from, {"test", std::string(to)}, drop_target);
    });
  };
  EXPECT_THAT(rename("c", "d", false), FailedWith(ErrorCode::kNamespaceExists));
  EXPECT_THAT(rename("x", "d", true), FailedWith(ErrorCode::kNamespaceNotFound));
  EXPECT_THAT(rename("c", "c", true), FailedWith(ErrorCode::kIllegalOperation));
  EXPECT_THAT(rename("c", "", true), FailedWith(ErrorCode::kInvalidNamespace));
  EXPECT_EQ(count(R"({"_id": "to"})", "d"), 1);
  EXPECT_THAT(rename("c", "d", true), Succeeded());
  EXPECT_THAT(collection_names(), ElementsAre("d"));
  EXPECT_THAT(find("{}", {}, "d"), ElementsAre(R"({ "_id" : "from" })"));
}

TEST_P(StoreContract, DropDatabase_RemovesItsCollectionsOnly) {
  insert("{}", "a");
  insert("{}", "b");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(store().database("other")->collection("x")->insert(transaction, doc("{}")));
                return db()->drop_database(transaction);
              }),
              Succeeded());
  EXPECT_THAT(database_names(), ElementsAre("other"));
  EXPECT_THAT(commit([&](Transaction& transaction) { return db()->drop_database(transaction); }),
              Succeeded());
}

TEST_P(StoreContract, Ddl_InATransaction_IsSeenThereAndRolledBack) {
  GM_NEEDS(transactional_catalog);
  insert(R"({"_id": 1, "a": 1})", "c");
  {
    const auto transaction = begin();
    EXPECT_THAT(db()->create(*transaction, "new", bson::View()), Succeeded());
    EXPECT_THAT(collection()->create_index(*transaction, {"by_a", doc(R"({"a": 1})"), false}),
                Succeeded());
    EXPECT_THAT(db()->rename(*transaction, "c", {"test", "moved"}, false), Succeeded());
    EXPECT_EQ(*db()->exists(*transaction, "new"), true);
    EXPECT_EQ(*db()->exists(*transaction, "c"), false);
    EXPECT_EQ(*collection("moved")->count(*transaction, doc(R"({"a": 1})")), 1);
    EXPECT_EQ(collection("moved")->indexes(*transaction)->size(), 2u);
    EXPECT_EQ(*db()->exists(*snapshot(), "new"), false);
  }
  EXPECT_THAT(collection_names(), ElementsAre("c"));
  EXPECT_THAT(index_names(), ElementsAre("_id_"));
  EXPECT_EQ(count("{}"), 1);
}

TEST_P(StoreContract, Ddl_DropAndRecreateInOneTransaction_StartsEmpty) {
  GM_NEEDS(transactional_catalog);
  insert(R"({"_id": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(collection()->insert(transaction, doc(R"({"_id": 2})")));
                GM_TRY(db()->drop(transaction, "c"));
                EXPECT_EQ(*collection()->count(transaction, bson::View()), 0);
                GM_TRY(collection()->insert(transaction, doc(R"({"_id": 1})")));
                return {};
              }),
              Succeeded());
  EXPECT_THAT(ids("{}"), ElementsAre("1"));
  EXPECT_EQ(count("{}"), 1);
}

TEST_P(StoreContract, Ddl_RolledBackDrop_KeepsEverything) {
  GM_NEEDS(transactional_catalog);
  create_index(R"({"a": 1})");
  insert(R"({"_id": 1, "a": 1})");
  {
    const auto transaction = begin();
    EXPECT_THAT(db()->drop(*transaction, "c"), Succeeded());
    EXPECT_THAT(collection()->insert(*transaction, doc(R"({"_id": 9})")), Succeeded());
  }
  EXPECT_EQ(count(R"({"a": 1})"), 1);
  EXPECT_THAT(index_names(), ElementsAre("_id_", "a_1"));
  insert(R"({"_id": 2, "a": 1})");
  EXPECT_EQ(count("{}"), 2);
}

TEST_P(StoreContract, Ddl_AfterARolledBackOne_IsNotConfusedByIt) {
  GM_NEEDS(transactional_catalog);
  // The same index is made twice with different keys. The first transaction is rolled back.
  insert(R"({"_id": 1, "a": 1, "b": 2})");
  {
    const auto transaction = begin();
    EXPECT_THAT(collection()->create_index(*transaction, {"i", doc(R"({"a": 1})"), true}),
                Succeeded());
    EXPECT_EQ(*collection()->count(*transaction, doc(R"({"a": 1})")), 1);
  }
  create_index(R"({"b": 1})", false, "i");
  EXPECT_EQ(count(R"({"b": 2})"), 1);
  EXPECT_EQ(count(R"({"a": 1})"), 1);
  insert(R"({"_id": 2, "a": 1, "b": 2})");
  EXPECT_EQ(count(R"({"b": 2})"), 2);
}

TEST_P(StoreContract, ManyCollections_EachKeepsItsOwn) {
  constexpr int kCollections = 300;  // more than a store has trees
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                for (int i = 0; i < kCollections; ++i) {
                  bson::Builder builder;
                  builder.append("_id", int32_t{1}).append("i", int32_t{i});
                  GM_TRY(collection("c" + std::to_string(i))
                             ->insert(transaction, std::move(builder).finish()));
                }
                return {};
              }),
              Succeeded());
  const auto view = snapshot();
  for (int i = 0; i < kCollections; ++i) {
    const auto all = find_in(*view, "{}", {}, "c" + std::to_string(i));
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0], R"({ "_id" : 1, "i" : )" + std::to_string(i) + " }");
  }
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                for (int i = 0; i < kCollections; i += 2) {
                  GM_TRY(db()->drop(transaction, "c" + std::to_string(i)));
                }
                return {};
              }),
              Succeeded());
  EXPECT_EQ(collection_names().size(), kCollections / 2u);
  EXPECT_EQ(count("{}", "c1"), 1);
  EXPECT_EQ(count("{}", "c2"), 0);
}

}  // namespace
}  // namespace gridmount::engine
