// Goal: insert() stores valid documents and refuses invalid ones.

#include "tests/engine/contract/store_contract.h"

namespace gridmount::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_P(StoreContract, Insert_Document_IsFound) {
  insert(R"({"_id": 1, "a": "x"})");
  EXPECT_THAT(find(R"({"_id": 1})"), ElementsAre(R"({ "_id" : 1, "a" : "x" })"));
  EXPECT_EQ(count("{}"), 1);
}

TEST_P(StoreContract, Insert_WithoutId_GeneratesObjectIdAndPutsItFirst) {
  bson::Value id;
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_ASSIGN(const InsertResult result,
                          collection()->insert(transaction, doc(R"({"a": 1})")));
                id = result.id;
                return {};
              }),
              Succeeded());
  EXPECT_EQ(id.type(), bson::Type::kObjectId);
  const auto view = snapshot();
  const auto found = collection()->find_one(*view, bson::View());
  ASSERT_THAT(found, Succeeded());
  ASSERT_TRUE(found->has_value());
  const bson::Element first = *(**found).begin();
  EXPECT_EQ(first.key, "_id");
  EXPECT_EQ(first.value.as_object_id(), id.view().as_object_id());
}

TEST_P(StoreContract, Insert_IdNotFirst_IsMovedToTheFront) {
  insert(R"({"a": 1, "_id": 7, "b": 2})");
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 7, "a" : 1, "b" : 2 })"));
}

TEST_P(StoreContract, Insert_ReturnsTheGivenId) {
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_ASSIGN(const InsertResult result,
                          collection()->insert(transaction, doc(R"({"_id": "key"})")));
                EXPECT_EQ(result.id, bson::Value("key"));
                return {};
              }),
              Succeeded());
}

TEST_P(StoreContract, Insert_NestedTooDeep_IsRefused) {
  const auto nested = [](uint32_t levels) {
    bson::Document document;
    for (uint32_t i = 1; i < levels; ++i) {
      bson::Builder around;
      around.append("a", document);
      document = std::move(around).finish();
    }
    return bson::to_json(document, bson::JsonForm::kRelaxed);
  };
  insert(nested(bson::kMaxStoredDepth));
  EXPECT_THAT(try_insert(nested(bson::kMaxStoredDepth + 1)), FailedWith(ErrorCode::kOverflow));
  EXPECT_EQ(count("{}"), 1);
}

TEST_P(StoreContract, Insert_SameId_IsDuplicateKeyWithDetails) {
  insert(R"({"_id": 1})");
  const Status status = try_insert(R"({"_id": 1, "other": true})");
  EXPECT_THAT(status, FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(status.error().message(),
              testing::AllOf(testing::HasSubstr("E11000"), testing::HasSubstr("test.c"),
                             testing::HasSubstr("_id_")));
  const bson::Document details{std::vector<uint8_t>(status.error().details())};
  EXPECT_EQ(json(details), json(doc(R"({"keyPattern": {"_id": 1}, "keyValue": {"_id": 1}})")));
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 1 })"));
}

TEST_P(StoreContract, Insert_IdsEqualAcrossNumberTypes_AreDuplicates) {
  insert(R"({"_id": 5})");
  EXPECT_THAT(try_insert(R"({"_id": {"$numberLong": "5"}})"), FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(try_insert(R"({"_id": 5.0})"), FailedWith(ErrorCode::kDuplicateKey));
  EXPECT_THAT(try_insert(R"({"_id": {"$numberDecimal": "5.00"}})"),
              FailedWith(ErrorCode::kDuplicateKey));
  insert(R"({"_id": 5.5})");
  EXPECT_THAT(ids(R"({"_id": {"$numberDouble": "5.0"}})"), ElementsAre("5"));
}

TEST_P(StoreContract, Insert_IdsOfEveryKind_AreStoredAndFound) {
  const std::vector<std::string> kinds = {R"(1)",
                                          R"("text")",
                                          R"({"$oid": "0123456789abcdef01234567"})",
                                          R"({"sub": "document", "n": 1})",
                                          R"(true)",
                                          R"(null)",
                                          R"({"$date": "2020-01-02T03:04:05Z"})",
                                          R"({"$binary": {"base64": "AAEC", "subType": "00"}})",
                                          R"({"$timestamp": {"t": 5, "i": 6}})",
                                          R"({"$minKey": 1})",
                                          R"({"$maxKey": 1})",
                                          R"({"$numberDecimal": "0.1"})"};
  for (const std::string& kind : kinds) insert(R"({"_id": )" + kind + "}");
  for (const std::string& kind : kinds) {
    EXPECT_EQ(count(R"({"_id": )" + kind + "}"), 1) << kind;
  }
  EXPECT_EQ(count("{}"), static_cast<int64_t>(kinds.size()));
}

TEST_P(StoreContract, Insert_IdOfForbiddenType_IsRefused) {
  EXPECT_THAT(try_insert(R"({"_id": [1, 2]})"), FailedWith(ErrorCode::kInvalidIdField));
  EXPECT_THAT(try_insert(R"({"_id": {"$regularExpression": {"pattern": "a", "options": ""}}})"),
              FailedWith(ErrorCode::kInvalidIdField));
  EXPECT_THAT(try_insert(R"({"_id": {"$undefined": true}})"),
              FailedWith(ErrorCode::kInvalidIdField));
  EXPECT_EQ(count("{}"), 0);
}

// Servers since 5.0 accept names that begin with '$', except within an _id.
TEST_P(StoreContract, Insert_DollarNames_AreStoredButNotInTheId) {
  bson::Builder builder;
  builder.append("_id", int32_t{1}).append("$set", int32_t{1});
  const bson::Document document = std::move(builder).finish();
  ASSERT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(collection()->insert(transaction, document));
                return {};
              }),
              Succeeded());
  EXPECT_THAT(find("{}"), ElementsAre(R"({ "_id" : 1, "$set" : 1 })"));
  bson::Builder in_id;
  in_id.open_document("_id").append("$set", int32_t{1}).close();
  const bson::Document bad = std::move(in_id).finish();
  bson::Builder below_id;
  below_id.open_document("_id").open_array("a").push_open_document().append("$set", int32_t{1});
  below_id.close().close().close();
  const bson::Document as_bad = std::move(below_id).finish();
  for (const bson::View refused : {bad.view(), as_bad.view()}) {
    EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                  GM_TRY(collection()->insert(transaction, refused));
                  return {};
                }),
                FailedWith(ErrorCode::kDollarPrefixedFieldName));
  }
}

TEST_P(StoreContract, Insert_TwoIds_IsBadValue) {
  bson::Builder builder;
  builder.append("_id", int32_t{1}).append("_id", int32_t{2});
  const bson::Document bad = std::move(builder).finish();
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(collection()->insert(transaction, bad));
                return {};
              }),
              FailedWith(ErrorCode::kBadValue));
}

bson::Document document_of_size(uint32_t bytes) {
  bson::Builder empty;
  empty.append("_id", int32_t{1}).append("data", "");
  const uint32_t overhead = std::move(empty).finish().view().size();
  bson::Builder builder;
  builder.append("_id", int32_t{1}).append("data", std::string(bytes - overhead, 'x'));
  return std::move(builder).finish();
}

TEST_P(StoreContract, Insert_SixteenMebibytes_IsTheLargest) {
  const bson::Document largest = document_of_size(bson::kMaxDocumentBytes);
  const bson::Document larger = document_of_size(bson::kMaxDocumentBytes + 1);
  const auto insert_document = [&](const bson::Document& document) {
    return commit([&](Transaction& transaction) -> Status {
      GM_TRY(collection()->insert(transaction, document));
      return {};
    });
  };
  EXPECT_THAT(insert_document(larger), FailedWith(ErrorCode::kBadValue));
  EXPECT_THAT(insert_document(largest), Succeeded());
  const auto view = snapshot();
  const auto found = collection()->find_one(*view, doc(R"({"_id": 1})"));
  ASSERT_THAT(found, Succeeded());
  EXPECT_TRUE(std::ranges::equal((*found)->bytes(), largest.view().bytes()));
}

TEST_P(StoreContract, Insert_InvalidNamespace_IsRefused) {
  EXPECT_THAT(try_insert("{}", ""), FailedWith(ErrorCode::kInvalidNamespace));
  EXPECT_THAT(try_insert("{}", "a$b"), FailedWith(ErrorCode::kInvalidNamespace));
  EXPECT_THAT(try_insert("{}", std::string_view("a\0b", 3)),
              FailedWith(ErrorCode::kInvalidNamespace));
  EXPECT_THAT(try_insert("{}", std::string(300, 'n')), FailedWith(ErrorCode::kInvalidNamespace));
  EXPECT_THAT(collection_names(), IsEmpty());
}

TEST_P(StoreContract, Insert_KeepsBytes) {
  // Values of many types, an empty name, and a string with a NUL.
  const bson::Document original = doc(R"({"_id": 1, "double": 1.5, "string": "a\u0000b",
      "document": {"": 1}, "array": [1, [2, {"x": null}]], "undefined": {"$undefined": true},
      "bool": false, "int64": {"$numberLong": "9007199254740993"},
      "regex": {"$regularExpression": {"pattern": "^a", "options": "i"}},
      "code": {"$code": "f"}, "symbol": {"$symbol": "s"},
      "decimal": {"$numberDecimal": "1E+3"}, "min": {"$minKey": 1}, "max": {"$maxKey": 1}})");
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_TRY(collection()->insert(transaction, original));
                return {};
              }),
              Succeeded());
  const auto view = snapshot();
  const auto found = collection()->find_one(*view, doc(R"({"_id": 1})"));
  ASSERT_THAT(found, Succeeded());
  EXPECT_TRUE(std::ranges::equal((*found)->bytes(), original.view().bytes()));
}

TEST_P(StoreContract, Stats_CountDocumentsAndBytes) {
  insert(R"({"_id": 1, "a": "x"})");
  insert(R"({"_id": 2})");
  const int64_t bytes = int64_t{doc(R"({"_id": 1, "a": "x"})").view().size()} +
                        int64_t{doc(R"({"_id": 2})").view().size()};
  create_index(R"({"a": 1})");
  auto stats = collection()->stats(*snapshot());
  ASSERT_THAT(stats, Succeeded());
  EXPECT_EQ(stats->documents, 2);
  EXPECT_EQ(stats->document_bytes, bytes);
  EXPECT_EQ(stats->index_count, 2);
  remove(R"({"_id": 1})");
  update(R"({"_id": 2})", R"({"$set": {"a": 1}})");
  stats = collection()->stats(*snapshot());
  EXPECT_EQ(stats->documents, 1);
  EXPECT_EQ(stats->document_bytes, int64_t{doc(R"({"_id": 2, "a": 1})").view().size()});
}

TEST_P(StoreContract, MissingCollection_ReadsFindNothing) {
  EXPECT_THAT(find("{}"), IsEmpty());
  EXPECT_EQ(count("{}"), 0);
  EXPECT_THAT(index_names(), IsEmpty());
  EXPECT_EQ(collection()->stats(*snapshot())->documents, 0);
  EXPECT_EQ(remove("{}"), 0);
  EXPECT_EQ(update("{}", R"({"$set": {"a": 1}})").matched, 0);
  EXPECT_THAT(collection_names(), IsEmpty());
}

}  // namespace
}  // namespace gridmount::engine
