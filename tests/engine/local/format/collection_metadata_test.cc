// Goal: a collection whose catalog entry has no UUID, because an older program wrote it, gets a
// UUID that stays the same. The limits of a command do not apply to the stored filters that the
// command happens to read first. A validator that is interrupted accepts nothing.
#include "engine/local/format/collection_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>

#include "engine/bson/json.h"
#include "engine/checksum/crc32c.h"
#include "engine/local/format/keyspace.h"
#include "engine/local/validation.h"
#include "engine/query/filter/filter.h"
#include "engine/query/filter/filter_budget.h"
#include "engine/query/interruption.h"

namespace gridmount::local {
namespace {

const engine::Namespace kPeople{"library", "people"};

std::string entry_without_uuid(uint32_t prefix, const std::string& options = "{}") {
  const auto document = bson::document_from_json(
      R"({"records": {"tree": 3, "prefix": {"$numberLong": ")" + std::to_string(prefix) +
      R"("}}, "ns": "library.people", "options": )" + options + R"(, "indexes": [{"name": "_id_",
          "key": {"_id": 1}, "unique": true, "multikey": false, "tree": 4,
          "prefix": {"$numberLong": "2"}}]})");
  const bson::View view = *document;
  std::string bytes;
  append_big_endian_32(bytes, crc32c(view.bytes()));
  bytes.append(reinterpret_cast<const char*>(view.data()), view.size());
  return bytes;
}

std::string uuid_in(std::string_view bytes) {
  const auto entry = CollectionMetadata::decode(kPeople, bytes);
  return entry ? (*entry)->uuid : entry.error().message();
}

TEST(CollectionMetadata, WithoutUuid_HasOneOfItsOwn) {
  const std::string uuid = uuid_in(entry_without_uuid(1));
  ASSERT_EQ(uuid.size(), 16U) << uuid;
  EXPECT_EQ(static_cast<uint8_t>(uuid[6]) >> 4, 8);
  EXPECT_EQ(static_cast<uint8_t>(uuid[8]) >> 6, 2);
  EXPECT_EQ(uuid_in(entry_without_uuid(1)), uuid);
  EXPECT_NE(uuid_in(entry_without_uuid(2)), uuid);
}

TEST(CollectionMetadata, WithoutUuid_IsWrittenWithIt) {
  const auto entry = CollectionMetadata::decode(kPeople, entry_without_uuid(1));
  ASSERT_TRUE(entry);
  CollectionMetadata moved = **entry;
  moved.records.prefix = 77;
  const auto bytes = moved.encode();
  ASSERT_TRUE(bytes);
  EXPECT_EQ(uuid_in(*bytes), (*entry)->uuid);
}

class KilledCommand final : public query::Interruption {
 public:
  Status check() override { return fail(ErrorCode::kInterrupted, "killed"); }
};

TEST(CollectionMetadata, StoredFilter_IsParsedWithoutTheLimitsOfTheCommand) {
  std::string clauses;
  for (int i = 0; i < 5000; ++i) {
    clauses += (i == 0 ? "" : ", ") + (R"({"a": )" + std::to_string(i)) + "}";
  }
  const std::string validator = R"({"$or": [)" + clauses + "]}";
  const std::string entry = entry_without_uuid(1, R"({"validator": )" + validator + "}");
  const auto filter = bson::document_from_json(validator);
  ASSERT_TRUE(filter);
  {
    KilledCommand killed;
    const query::InterruptionScope command(killed);
    EXPECT_FALSE(query::Filter::parse(*filter)) << "takes no time";
    EXPECT_TRUE(CollectionMetadata::decode(kPeople, entry));
    EXPECT_FALSE(query::check_interruption_now()) << "the command is still killed";
  }
  const query::FilterBudgetScope command(std::make_shared<query::FilterBudget>(0));
  EXPECT_FALSE(query::Filter::parse(*filter)) << "the budget is large enough";
  const auto decoded = CollectionMetadata::decode(kPeople, entry);
  EXPECT_TRUE(decoded) << decoded.error().message();
}

// Ends the work at the check with this number, and at all later ones.
class EndingCommand final : public query::Interruption {
 public:
  explicit EndingCommand(int last) : last_(last) {}
  Status check() override {
    if (++checks_ < last_) return {};
    return fail(ErrorCode::kInterrupted, "killed");
  }
  int checks() const { return checks_; }

 private:
  const int last_;
  int checks_ = 0;
};

TEST(CollectionMetadata, Validator_InterruptedAtTheDocumentBefore_AcceptsNothing) {
  const std::string entry = entry_without_uuid(1, R"({"validationLevel": "moderate", "validator":
      {"$expr": {"$lt": [{"$reduce": {"input": {"$range": [0, 100000]}, "initialValue": 0,
                                      "in": {"$add": ["$$value", "$n"]}}}, 1000000]}}})");
  const auto metadata = CollectionMetadata::decode(kPeople, entry);
  ASSERT_TRUE(metadata) << metadata.error().message();
  const bson::Document before = bson::document_from_json(R"({"_id": 1, "n": 1})").value();
  const bson::Document after = bson::document_from_json(R"({"_id": 1, "n": 100})").value();
  EndingCommand whole(std::numeric_limits<int>::max());
  {
    const query::InterruptionScope command(whole);
    const auto is_valid = (*metadata)->validator->evaluate(after);
    ASSERT_TRUE(is_valid);
    ASSERT_FALSE(*is_valid);
  }
  ASSERT_GT(whole.checks(), 10);
  // The document before needs as many checks.
  EndingCommand killed(whole.checks() * 3 / 2);
  const query::InterruptionScope command(killed);
  const Status validated = validate(**metadata, before.view(), after);
  ASSERT_FALSE(validated);
  EXPECT_EQ(validated.error().code(), ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace gridmount::local
