// Goal: capped collections, validators and collMod behave like MongoDB's.
// Source: MongoDB manual, "Capped Collections", "Schema Validation", "collMod", "convertToCapped".
#include "tests/engine/contract/store_contract.h"
#include "tests/sanitized.h"

namespace gridmount::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Options {
 public:
  Options(Database& database,
          std::function<Status(const std::function<Status(Transaction&)>&)> commit)
      : database_(database), commit_(std::move(commit)) {}

  Status create(std::string_view name, std::string_view options) {
    return commit_([&](Transaction& transaction) {
      return database_.create(transaction, name, doc(options));
    });
  }
  Result<std::string> modify(std::string_view name, std::string_view changes) {
    std::string reply;
    GM_TRY(commit_([&](Transaction& transaction) -> Status {
      GM_ASSIGN(const bson::Document document, database_.modify(transaction, name, doc(changes)));
      reply = json(document);
      return {};
    }));
    return reply;
  }
  Status convert_to_capped(std::string_view name, int64_t bytes) {
    return commit_([&](Transaction& transaction) {
      return database_.convert_to_capped(transaction, name, bytes);
    });
  }
  std::string shown(Snapshot& snapshot, std::string_view name) {
    const auto all = database_.collections(snapshot);
    for (const CollectionInfo& info : *all) {
      if (info.name == name) return json(info.options);
    }
    return "";
  }

 private:
  Database& database_;
  std::function<Status(const std::function<Status(Transaction&)>&)> commit_;
};

#define OPTIONS_OF_TEST()     \
  const auto database = db(); \
  Options options(            \
      *database, [this](const std::function<Status(Transaction&)>& work) { return commit(work); })

TEST_P(StoreContract, Options_ComeBackInTheirForm) {
  OPTIONS_OF_TEST();
  EXPECT_THAT(options.create("log", R"({"capped": true, "size": 1000, "max": 5})"), Succeeded());
  EXPECT_THAT(options.create("people", R"({"validator": {"name": {"$type": "string"}},
                 "validationLevel": "moderate", "validationAction": "warn"})"),
              Succeeded());
  const auto view = snapshot();
  EXPECT_EQ(options.shown(*view, "log"),
            json(doc(R"({"capped": true, "size": {"$numberLong": "1024"},
                         "max": {"$numberLong": "5"}})")));
  EXPECT_EQ(options.shown(*view, "people"), json(doc(R"({"validator": {"name": {"$type": "string"}},
                         "validationLevel": "moderate", "validationAction": "warn"})")));
}

TEST_P(StoreContract, Options_ThatAreWrong_AreRefused) {
  OPTIONS_OF_TEST();
  const auto expect = [&](ErrorCode code, std::string_view text) {
    EXPECT_THAT(options.create("c", text), FailedWith(code)) << text;
  };
  expect(ErrorCode::kInvalidOptions, R"({"capped": true})");
  expect(ErrorCode{51024}, R"({"capped": true, "size": 0})");
  expect(ErrorCode::kTypeMismatch, R"({"capped": true, "size": "1"})");
  expect(ErrorCode{51024}, R"({"capped": true, "size": 1, "max": 2147483648})");
  expect(ErrorCode::kInvalidOptions, R"({"max": 5})");
  expect(ErrorCode::kInvalidOptions, R"({"max": 0})");
  expect(ErrorCode::kInvalidOptions, R"({"size": 4096})");
  expect(ErrorCode::kInvalidOptions, R"({"capped": false, "size": 4096})");
  expect(ErrorCode::kTypeMismatch, R"({"validator": 5})");
  expect(ErrorCode::kBadValue, R"({"validator": {"a": {"$nosuch": 1}}})");
  expect(ErrorCode::kBadValue, R"({"validationLevel": "high"})");
  expect(ErrorCode::kBadValue, R"({"validationAction": "ignore"})");
  expect(ErrorCode::kInvalidOptions, R"({"pipeline": []})");
  EXPECT_THAT(collection_names(), IsEmpty());
}

TEST_P(StoreContract, Unsupported_Options_AreRefused) {
  OPTIONS_OF_TEST();
  for (const char* const text :
       {R"({"timeseries": {"timeField": "t"}})", R"({"autoIndexId": false})",
        R"({"viewOn": "a", "capped": true, "size": 1})"}) {
    EXPECT_THAT(options.create("c", text), FailedWith(ErrorCode::kInvalidOptions)) << text;
  }
  EXPECT_THAT(collection_names(), IsEmpty());
}

// A store must be able to read what it has accepted, so all options and indexes of a collection
// together must fit in a document.
TEST_P(StoreContract, OptionsAndIndexes_TogetherAreNoLargerThanADocument) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  OPTIONS_OF_TEST();
  insert(R"({"_id": 1, "a": 1})");
  const auto of = [](const std::string& field, size_t bytes) {
    return R"({")" + field + R"(": {"$ne": ")" + std::string(bytes, 'x') + R"("}})";
  };
  const auto index_of = [](const std::string& name, size_t bytes) {
    return R"({"key": {"a": 1}, "name": ")" + name +
           R"(", "partialFilterExpression": {"b": {"$in": [")" + std::string(bytes, 'x') +
           R"("]}}})";
  };
  create_index_as(index_of("one", 9'000'000));
  EXPECT_THAT(options.modify("c", R"({"validator": )" + of("b", 9'000'000) + "}"),
              FailedWith(ErrorCode::kBsonObjectTooLarge));
  EXPECT_THAT(options.modify("c", R"({"validator": )" + of("b", 7'000'000) + "}"), Succeeded());
  EXPECT_THAT(try_create_index_as(
                  R"({"key": {"b": 1}, "name": "two", "partialFilterExpression": )" +
                  std::string(R"({"b": {"$eq": ")") + std::string(1'000'000, 'x') + R"("}}})"),
              FailedWith(ErrorCode::kBsonObjectTooLarge));
  insert(R"({"_id": 2, "a": [1, 2]})");
  EXPECT_EQ(count("{}"), 2);
  std::string deep = R"({"a": 1})";
  for (int i = 0; i < 90; ++i) deep = R"({"a": )" + deep + "}";
  for (int more = 0; more < 6; ++more) {
    deep = R"({"a": )" + deep + "}";
    const std::string name = "deep" + std::to_string(more);
    if (const Status made = options.create(name, R"({"validator": {"a": {"$eq": )" + deep + "}}}");
        !made) {
      EXPECT_THAT(made, FailedWith(ErrorCode::kOverflow));
      EXPECT_EQ(more, 5);
    }
    EXPECT_EQ(count("{}", name), 0);
  }
}

TEST_P(StoreContract, Validators_AreRefusedWhereServersRefuseThem) {
  for (const char* name : {"admin", "local", "config"}) {
    EXPECT_THAT(commit([&](Transaction& transaction) {
                  return store().database(name)->create(transaction, "c",
                                                        doc(R"({"validator": {"a": 1}})"));
                }),
                FailedWith(ErrorCode::kInvalidOptions))
        << name;
  }
  OPTIONS_OF_TEST();
  EXPECT_THAT(options.create("system.x", R"({"validator": {"a": 1}})"),
              FailedWith(ErrorCode::kInvalidNamespace));
}

TEST_P(StoreContract, Capped_KeepsTheNewestBySize) {
  OPTIONS_OF_TEST();
  EXPECT_THAT(options.create("c", R"({"capped": true, "size": 4096})"), Succeeded());
  create_index(R"({"n": 1})");
  const std::string filler(100, 'x');
  for (int n = 0; n < 200; ++n) {
    insert(R"({"_id": )" + std::to_string(n) + R"(, "n": )" + std::to_string(n) + R"(, "s": ")" +
           filler + "\"}");
  }
  const std::vector<std::string> kept = ids("{}");
  ASSERT_FALSE(kept.empty());
  EXPECT_EQ(kept.back(), "199");
  EXPECT_EQ(kept.front(), std::to_string(200 - kept.size()));
  const auto stats = collection()->stats(*snapshot());
  EXPECT_LE(stats->document_bytes, 4096);
  EXPECT_GT(stats->document_bytes, 4096 - 200);
  EXPECT_EQ(count(R"({"n": {"$lt": 100}})"), 0) << "in the index";
  // A backward scan returns the reverse of the insertion order, after documents were removed.
  Find backward;
  bson::Builder natural;
  natural.append("$natural", int32_t{-1});
  backward.hint = bson::Value(std::move(natural).finish());
  std::vector<std::string> reversed = ids("{}", backward);
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(reversed, kept);
}

TEST_P(StoreContract, Capped_KeepsTheNewestByNumber) {
  OPTIONS_OF_TEST();
  EXPECT_THAT(options.create("c", R"({"capped": true, "size": 100000, "max": 3})"), Succeeded());
  for (int n = 0; n < 10; ++n) insert(R"({"_id": )" + std::to_string(n) + "}");
  EXPECT_THAT(ids("{}"), ElementsAre("7", "8", "9"));
  EXPECT_THAT(try_insert(R"({"_id": 9})"), FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(ids("{}"), ElementsAre("7", "8", "9"));
  EXPECT_EQ(remove(R"({"_id": 8})"), 1);
}

// The documents of a capped collection may grow on servers since 5.0, too.
TEST_P(StoreContract, Capped_DocumentsMayGrow_AndTheNewestStays) {
  OPTIONS_OF_TEST();
  EXPECT_THAT(options.create("c", R"({"capped": true, "size": 1024})"), Succeeded());
  insert(R"({"_id": 1, "n": 1})");
  EXPECT_EQ(update(R"({"_id": 1})", R"({"$inc": {"n": 1}})").modified, 1);
  EXPECT_EQ(update(R"({"_id": 1})", R"({"$set": {"more": 1}})").modified, 1);
  insert(R"({"_id": 2, "s": ")" + std::string(2000, 'x') + "\"}");
  EXPECT_THAT(ids("{}"), ElementsAre("2"));
  insert(R"({"_id": 3})");
  EXPECT_THAT(ids("{}"), ElementsAre("3"));
}

TEST_P(StoreContract, ConvertToCapped_KeepsTheNewest) {
  OPTIONS_OF_TEST();
  for (int n = 0; n < 100; ++n) insert(R"({"_id": )" + std::to_string(n) + R"(, "a": 1})");
  create_index(R"({"a": 1})");
  EXPECT_THAT(options.convert_to_capped("c", 512), Succeeded());
  const std::vector<std::string> kept = ids("{}");
  EXPECT_EQ(kept.back(), "99");
  EXPECT_EQ(kept.size(), 512U / doc(R"({"_id": 1, "a": 1})").view().size());
  EXPECT_THAT(index_names(), ElementsAre("_id_"));
  EXPECT_THAT(options.convert_to_capped("none", 512), FailedWith(ErrorCode::kNamespaceNotFound));
}

TEST_P(StoreContract, ConvertToCapped_KeepsTheNewestEvenIfItDoesNotFit) {
  OPTIONS_OF_TEST();
  insert(R"({"_id": 1})");
  insert(R"({"_id": 2, "s": ")" + std::string(2000, 'x') + "\"}");
  EXPECT_THAT(options.convert_to_capped("c", 512), Succeeded());
  EXPECT_THAT(ids("{}"), ElementsAre("2"));
  insert(R"({"_id": 3})");
  EXPECT_THAT(ids("{}"), ElementsAre("3"));
}

TEST_P(StoreContract, Validator_RefusesWhatDoesNotMatch) {
  OPTIONS_OF_TEST();
  EXPECT_THAT(options.create("c", R"({"validator": {"phone": {"$type": "string"}}})"), Succeeded());
  insert(R"({"_id": 1, "phone": "5"})");
  const Status refused = try_insert(R"({"_id": 2, "phone": 5})");
  EXPECT_THAT(refused, FailedWith(ErrorCode::kDocumentValidationFailure));
  const bson::Document details{std::vector<uint8_t>(refused.error().details())};
  EXPECT_THAT(json(details), HasSubstr("\"failingDocumentId\" : 2"));
  EXPECT_THAT(try_update(R"({"_id": 1})", R"({"$unset": {"phone": ""}})"),
              FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_THAT(try_update(R"({"_id": 3})", R"({"$set": {"a": 1}})", {.upsert = true}),
              FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_EQ(update(R"({"_id": 1})", R"({"$set": {"a": 1}})").modified, 1);
  reopen();
  EXPECT_THAT(try_insert("{}"), FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(collection()->insert(transaction, doc(R"({"_id": 9})"),
                                            {.bypass_validation = true}));
                return {};
              }),
              Succeeded());
  EXPECT_EQ(update(R"({"_id": 9})", R"({"$set": {"b": 1}})", {.bypass_validation = true}).modified,
            1);
  EXPECT_EQ(count("{}"), 2);
}

TEST_P(StoreContract, Validator_LevelsAndActions) {
  OPTIONS_OF_TEST();
  insert(R"({"_id": "old"})");
  EXPECT_THAT(options.modify("c", R"({"validator": {"a": {"$exists": true}},
                                      "validationLevel": "moderate"})"),
              Succeeded());
  EXPECT_THAT(try_insert(R"({"_id": "new"})"), FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_EQ(update(R"({"_id": "old"})", R"({"$set": {"b": 1}})").modified, 1);
  EXPECT_THAT(options.modify("c", R"({"validationLevel": "strict"})"), Succeeded());
  EXPECT_THAT(try_update(R"({"_id": "old"})", R"({"$set": {"b": 2}})"),
              FailedWith(ErrorCode::kDocumentValidationFailure));
  EXPECT_THAT(options.modify("c", R"({"validationAction": "warn"})"), Succeeded());
  insert(R"({"_id": "warned"})");
  EXPECT_THAT(options.modify("c", R"({"validationAction": "error", "validationLevel": "off"})"),
              Succeeded());
  insert(R"({"_id": "unchecked"})");
  EXPECT_EQ(count("{}"), 3);
}

TEST_P(StoreContract, Modify_ChangesIndexesAndLimits) {
  OPTIONS_OF_TEST();
  create_index_as(R"({"key": {"at": 1}, "name": "at", "expireAfterSeconds": 100})");
  EXPECT_EQ(*options.modify("c", R"({"index": {"name": "at", "expireAfterSeconds": 200}})"),
            json(doc(R"({"expireAfterSeconds_old": {"$numberLong": "100"},
                         "expireAfterSeconds_new": {"$numberLong": "200"}})")));
  EXPECT_EQ(*options.modify("c", R"({"index": {"keyPattern": {"at": 1}, "hidden": true}})"),
            json(doc(R"({"hidden_old": false, "hidden_new": true})")));
  EXPECT_EQ(*options.modify("c", R"({"index": {"name": "at", "hidden": 1}})"), json(doc("{}")))
      << "hidden already";
  EXPECT_THAT(index_specifications().back(), HasSubstr("200"));
  EXPECT_EQ(*options.modify("c", R"({"index": {"name": "at", "expireAfterSeconds": 1e300}})"),
            json(doc(R"({"expireAfterSeconds_old": {"$numberLong": "200"},
                         "expireAfterSeconds_new": {"$numberLong": "2147483647"}})")));
  EXPECT_THAT(options.create("log", R"({"capped": true, "size": 4096})"), Succeeded());
  EXPECT_THAT(options.modify("log", R"({"cappedMax": 2})"), Succeeded());
  for (int n = 0; n < 5; ++n) insert(R"({"_id": )" + std::to_string(n) + "}", "log");
  EXPECT_EQ(count("{}", "log"), 2);

  EXPECT_THAT(options.modify("none", "{}"), FailedWith(ErrorCode::kNamespaceNotFound));
  EXPECT_THAT(options.modify("c", R"({"nosuch": 1})"), FailedWith(ErrorCode::kUnknownField));
  EXPECT_THAT(options.modify("c", R"({"viewOn": "x"})"), FailedWith(ErrorCode::kInvalidOptions));
  EXPECT_THAT(options.modify("c", R"({"index": {"name": "none", "hidden": true}})"),
              FailedWith(ErrorCode::kIndexNotFound));
  const auto of_index = [&](std::string_view change) {
    return options.modify("c", R"({"index": )" + std::string(change) + "}");
  };
  for (const char* const change :
       {R"({"name": "at"})", R"({"name": "at", "hidden": null})", R"({"hidden": true})",
        R"({"name": "at", "keyPattern": {"at": 1}, "hidden": true})",
        R"({"name": "at", "expireAfterSeconds": -1})",
        R"({"name": "_id_", "expireAfterSeconds": 1})", R"({"name": "at", "unique": true})"}) {
    EXPECT_THAT(of_index(change), FailedWith(ErrorCode::kInvalidOptions)) << change;
  }
  for (const char* const change :
       {R"({"name": 5, "hidden": true})", R"({"keyPattern": "at", "hidden": true})",
        R"({"name": "at", "hidden": "yes"})", R"({"name": "at", "expireAfterSeconds": "1"})"}) {
    EXPECT_THAT(of_index(change), FailedWith(ErrorCode::kTypeMismatch)) << change;
  }
  EXPECT_THAT(of_index(R"({"name": "at", "odd": 1})"), FailedWith(ErrorCode{40415}));
  EXPECT_THAT(options.modify("log", R"({"cappedSize": {"$numberDouble": "NaN"}})"),
              FailedWith(ErrorCode{51024}));
  EXPECT_THAT(options.create("v", R"({"viewOn": "c", "pipeline": []})"), Succeeded());
  EXPECT_THAT(options.modify("v", R"({"viewOn": ""})"), FailedWith(ErrorCode::kBadValue));
}

TEST_P(StoreContract, Modify_Hidden_BeginsTheCountOfItsUses) {
  OPTIONS_OF_TEST();
  insert(R"({"_id": 1, "a": 1})");
  create_index(R"({"a": 1})");
  const auto uses = [&] {
    const auto view = snapshot();
    return collection()->index_stats(*view)->back().accesses;
  };
  find(R"({"a": 1})");
  EXPECT_GT(uses(), 0);
  for (const char* const hidden : {"true", "false"}) {
    EXPECT_THAT(
        options.modify("c", R"({"index": {"name": "a_1", "hidden": )" + std::string(hidden) + "}}"),
        Succeeded());
    EXPECT_EQ(uses(), 0);
  }
}

TEST_P(StoreContract, Insert_FillsEmptyTimestampsAtTheTop) {
  insert(R"({"_id": 1, "a": {"$timestamp": {"t": 0, "i": 0}}, "b": {"$timestamp": {"t": 0, "i": 0}},
             "in": {"c": {"$timestamp": {"t": 0, "i": 0}}}})");
  const auto view = snapshot();
  const auto found = collection()->find_one(*view, doc(R"({"_id": 1})"));
  const bson::Timestamp a = (**found)["a"].as_timestamp();
  EXPECT_GT(a.seconds, 1'600'000'000U);
  EXPECT_LT(a, (**found)["b"].as_timestamp());
  EXPECT_EQ((**found)["in"].as_document()["c"].as_timestamp(), bson::Timestamp{});
}

TEST_P(StoreContract, Rename_ToAnotherDatabase) {
  insert(R"({"_id": 1, "a": 5})");
  create_index(R"({"a": 1})");
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return db()->rename(transaction, "c", {"other", "moved"}, false);
              }),
              Succeeded());
  EXPECT_THAT(collection_names(), IsEmpty());
  const auto view = snapshot();
  EXPECT_EQ(*store().database("other")->collection("moved")->count(*view, doc(R"({"a": 5})")), 1);
}

}  // namespace
}  // namespace gridmount::engine
