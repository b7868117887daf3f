// Goal: updates do what MongoDB's manual and server say, and invalid ones are refused with
// MongoDB's codes.

#include "engine/query/update/update.h"

#include <gtest/gtest.h>

#include "engine/bson/builder.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

struct UpdateCase {
  const char* before;
  const char* update;
  const char* after;
};

TEST(UpdateTest, Results) {
  const UpdateCase kCases[] = {
      {"{'_id': 1, 'a': 1}", "{'$set': {'a': 2}}", "{'_id': 1, 'a': 2}"},
      {"{'_id': 1}", "{'$set': {'b': 1, 'a': 2}}", "{'_id': 1, 'a': 2, 'b': 1}"},
      {"{'_id': 1}", "{'$set': {'10': 1, '9': 2}}", "{'_id': 1, '9': 2, '10': 1}"},
      {"{'_id': 1}", "{'$set': {'\u00e9': 1, 'a': 2, '0': 3, '-': 4}}",
       "{'_id': 1, '-': 4, '0': 3, 'a': 2, '\u00e9': 1}"},
      {"{'_id': 1}", "{'$set': {'a.b.c': 2}}", "{'_id': 1, 'a': {'b': {'c': 2}}}"},
      {"{'_id': 1, 'a': {'x': 1}}", "{'$set': {'a.b': 2}}", "{'_id': 1, 'a': {'x': 1, 'b': 2}}"},
      {"{'_id': 1, 'a': [1, 2]}", "{'$set': {'a.1': 5}}", "{'_id': 1, 'a': [1, 5]}"},
      {"{'_id': 1, 'a': [1]}", "{'$set': {'a.3': 5}}", "{'_id': 1, 'a': [1, null, null, 5]}"},
      {"{'_id': 1, 'a': [{'b': 1}]}", "{'$set': {'a.0.c': 5}}",
       "{'_id': 1, 'a': [{'b': 1, 'c': 5}]}"},
      {"{'_id': 1, 'a': [{}]}", "{'$set': {'a.2.c': 5}}", "{'_id': 1, 'a': [{}, null, {'c': 5}]}"},
      {"{'_id': 1, 'a': 1, 'b': 2}", "{'$unset': {'a': ''}}", "{'_id': 1, 'b': 2}"},
      {"{'_id': 1, 'a': [1, 2]}", "{'$unset': {'a.0': ''}}", "{'_id': 1, 'a': [null, 2]}"},
      {"{'_id': 1, 'a': 1}", "{'$unset': {'a.b': '', 'x.y': ''}}", "{'_id': 1, 'a': 1}"},
      {"{'_id': 1, 'a': 1}", "{'$inc': {'a': 2, 'b': 3}}", "{'_id': 1, 'a': 3, 'b': 3}"},
      {"{'_id': 1, 'a': 1}", "{'$inc': {'a': 0.5}}", "{'_id': 1, 'a': 1.5}"},
      {"{'_id': 1, 'a': 2147483647}", "{'$inc': {'a': 1}}", "{'_id': 1, 'a': 2147483648}"},
      {"{'_id': 1, 'a': 3}", "{'$mul': {'a': 4, 'b': 5}}", "{'_id': 1, 'a': 12, 'b': 0}"},
      {"{'_id': 1, 'a': 3}", "{'$min': {'a': 2}}", "{'_id': 1, 'a': 2}"},
      {"{'_id': 1, 'a': 3}", "{'$min': {'a': 4, 'b': 1}}", "{'_id': 1, 'a': 3, 'b': 1}"},
      {"{'_id': 1, 'a': 3}", "{'$max': {'a': 4}}", "{'_id': 1, 'a': 4}"},
      {"{'_id': 1, 'a': 3}", "{'$rename': {'a': 'b.c'}}", "{'_id': 1, 'b': {'c': 3}}"},
      {"{'_id': 1, 'a': 3, 'b': 4}", "{'$rename': {'a': 'b'}}", "{'_id': 1, 'b': 3}"},
      {"{'_id': 1, 'b': 4}", "{'$rename': {'a': 'b'}}", "{'_id': 1, 'b': 4}"},
      {"{'_id': 1, 'b': 4}", "{'$rename': {'a': 'b.c'}}", "{'_id': 1, 'b': 4}"},
      {"{'_id': 1, 'a': [1], 'b': [2]}", "{'$rename': {'a': 'b'}}", "{'_id': 1, 'b': [1]}"},
      {"{'_id': 1}", "{'$setOnInsert': {'a': 1}}", "{'_id': 1}"},
      {"{'_id': 1, 'a': 1}", "{'$set': {'a': 2}, '$unset': {'b': 1}, '$inc': {'c': 1}}",
       "{'_id': 1, 'a': 2, 'c': 1}"},
      {"{'_id': 1, 'a': 1}", "{'$set': {'_id': 1, 'a': 2}}", "{'_id': 1, 'a': 2}"},
      {"{'_id': 1, 'a': 1}", "{}", "{'_id': 1}"},
      {"{'_id': 1, 'a': 1}", "{'b': 2, 'c': 3}", "{'_id': 1, 'b': 2, 'c': 3}"},
      {"{'_id': 1, 'a': 1}", "{'b': 2, '_id': 1}", "{'_id': 1, 'b': 2}"},
      // Names with dots and dollar signs.
      {"{'_id': 1}", "{'a.b': 2, 'c': {'$d': 3}}", "{'_id': 1, 'a.b': 2, 'c': {'$d': 3}}"},
      {"{'_id': 1}", "{'a': 1, '$ref': 'x', '$id': 2, '$db': 'y'}",
       "{'_id': 1, 'a': 1, '$ref': 'x', '$id': 2, '$db': 'y'}"},
      {"{'_id': 1, 'a': {}}", "{'$set': {'a.$b': {'$c': 1}}}",
       "{'_id': 1, 'a': {'$b': {'$c': 1}}}"},
      {"{'_id': 1, '$a': 1}", "{'$unset': {'$a': 1}}", "{'_id': 1}"},
  };
  for (const UpdateCase& one : kCases) {
    const Result<Update> update = Update::parse(parse_json(one.update));
    ASSERT_TRUE(update) << one.update << ": " << update.error().message();
    const bson::Document before = parse_json(one.before);
    const Result<Update::Applied> applied = update->apply(before);
    ASSERT_TRUE(applied) << one.update << ": " << applied.error().message();
    EXPECT_EQ(show(applied->document), show(parse_json(one.after))) << one.update;
    EXPECT_EQ(applied->modified, show(before) != show(applied->document)) << one.update;
    EXPECT_TRUE(bson::validate(applied->document.view().bytes()));
  }
}

TEST(UpdateTest, SameNumberOfAnotherType_IsAChange) {
  const Result<Update> update = Update::parse(parse_json("{'$set': {'a': {'$numberLong': '1'}}}"));
  const Result<Update::Applied> applied = update->apply(parse_json("{'a': 1}"));
  EXPECT_TRUE(applied->modified);
  EXPECT_EQ(applied->document.view()["a"].type(), bson::Type::kInt64);
}

// The _id moves to the front, even if the replacement is equal to the document.
TEST(UpdateTest, Replacement_OfADocumentWithItsIdBehind_IsAChange) {
  const bson::Document before = parse_json("{'a': 1, '_id': 2}");
  const Result<Update::Applied> applied = Update::parse(before)->apply(before);
  ASSERT_TRUE(applied);
  EXPECT_TRUE(applied->modified);
  EXPECT_EQ(show(applied->document), show(parse_json("{'_id': 2, 'a': 1}")));
}

TEST(UpdateTest, Arithmetic_GivesTheWiderType) {
  // Values in canonical form, which shows types and the digits of decimals.
  struct Sum {
    const char* before;
    const char* update;
    const char* after;
  };
  const Sum kSums[] = {
      {"{'$numberInt': '1'}", "{'$inc': {'a': {'$numberLong': '2'}}}", "{'$numberLong': '3'}"},
      {"{'$numberLong': '1'}", "{'$inc': {'a': {'$numberInt': '2'}}}", "{'$numberLong': '3'}"},
      {"{'$numberLong': '1'}", "{'$inc': {'a': {'$numberDouble': '0.5'}}}",
       "{'$numberDouble': '1.5'}"},
      {"{'$numberInt': '-2147483648'}", "{'$inc': {'a': -1}}", "{'$numberLong': '-2147483649'}"},
      {"{'$numberInt': '65536'}", "{'$mul': {'a': 65536}}", "{'$numberLong': '4294967296'}"},
      {"{'$numberInt': '1'}", "{'$inc': {'a': {'$numberDecimal': '0.10'}}}",
       "{'$numberDecimal': '1.10'}"},
      {"{'$numberDecimal': '9999999999999999999999999999999999'}", "{'$inc': {'a': 1}}",
       "{'$numberDecimal': '1.000000000000000000000000000000000E+34'}"},
      // A double contributes 15 digits.
      {"{'$numberDecimal': '1'}", "{'$inc': {'a': {'$numberDouble': '0.1'}}}",
       "{'$numberDecimal': '1.100000000000000'}"},
      {"{'$numberDecimal': '1'}", "{'$inc': {'a': {'$numberDouble': '0.0'}}}",
       "{'$numberDecimal': '1'}"},
      // An equal value leaves the document unchanged.
      {"{'$numberDouble': '-0.0'}", "{'$inc': {'a': {'$numberDouble': '0.0'}}}",
       "{'$numberDouble': '-0.0'}"},
      {"{'$numberDecimal': '1.0'}", "{'$mul': {'a': {'$numberDecimal': '1.0'}}}",
       "{'$numberDecimal': '1.0'}"},
      {"{'$numberDouble': '-Infinity'}", "{'$inc': {'a': {'$numberDecimal': '1'}}}",
       "{'$numberDecimal': '-Infinity'}"},
      {"{'$numberDecimal': '1.5'}", "{'$mul': {'a': {'$numberLong': '-9223372036854775808'}}}",
       "{'$numberDecimal': '-13835058055282163712.0'}"},
      {"{'$numberDecimal': '9E+6144'}", "{'$mul': {'a': 10}}", "{'$numberDecimal': 'Infinity'}"},
  };
  for (const Sum& sum : kSums) {
    const Result<Update> update = Update::parse(parse_json(sum.update));
    ASSERT_TRUE(update) << sum.update << ": " << update.error().message();
    const Result<Update::Applied> applied =
        update->apply(parse_json("{'a': " + std::string(sum.before) + "}"));
    ASSERT_TRUE(applied) << sum.update << ": " << applied.error().message();
    const bson::Document after = parse_json("{'a': " + std::string(sum.after) + "}");
    EXPECT_EQ(bson::to_json(applied->document.view(), bson::JsonForm::kCanonical),
              bson::to_json(after.view(), bson::JsonForm::kCanonical))
        << sum.before << " " << sum.update;
  }
}

TEST(UpdateTest, MultiplyingNothing_IsZeroOfTheOperandsType) {
  for (const auto& [operand, zero] :
       {std::pair("{'$numberInt': '5'}", "{'$numberInt': '0'}"),
        std::pair("{'$numberLong': '5'}", "{'$numberLong': '0'}"), std::pair("5.5", "0.0"),
        std::pair("{'$numberDecimal': '5.5'}", "{'$numberDecimal': '0.0'}")}) {
    const Result<Update> update =
        Update::parse(parse_json("{'$mul': {'a': " + std::string(operand) + "}}"));
    EXPECT_EQ(
        bson::to_json(update->apply(bson::View())->document.view(), bson::JsonForm::kCanonical),
        bson::to_json(parse_json("{'a': " + std::string(zero) + "}").view(),
                      bson::JsonForm::kCanonical));
  }
}

TEST(UpdateTest, Timestamps_AreNeverTheSame) {
  const Result<Update> update =
      Update::parse(parse_json("{'$currentDate': {'b': {'$type': 'timestamp'}}}"));
  bson::Timestamp last;
  for (int i = 0; i < 100; ++i) {
    const Result<Update::Applied> applied = update->apply(bson::View());
    const bson::Timestamp next = applied->document.view()["b"].as_timestamp();
    EXPECT_LT(last, next);
    last = next;
  }
}

TEST(UpdateTest, Messages) {
  const std::pair<const char*, const char*> kMessages[] = {
      {"{'$poke': {'a': 1}}",
       "Unknown modifier: $poke. Expected a valid update modifier or pipeline-style update "
       "specified as an array"},
      {"{'$inc': {'a': 'x'}}", "Cannot increment with non-numeric argument: {a: \"x\"}"},
      {"{'$set': {'a.b': 1, 'a': 1}}", "Updating the path 'a' would create a conflict at 'a'"},
      {"{'$set': {'a..b': 1}}",
       "The update path 'a..b' contains an empty field name, which is not allowed."},
  };
  for (const auto& [json, message] : kMessages) {
    const Result<Update> update = Update::parse(parse_json(json));
    ASSERT_FALSE(update) << json;
    EXPECT_EQ(update.error().message(), message);
  }
  EXPECT_EQ(
      Update::parse(parse_json("{'_id': 2}"))->apply(parse_json("{'_id': 1}")).error().message(),
      "After applying the update, the (immutable) field '_id' was found to have been altered to "
      "_id: 2");
  const Result<Update> update = Update::parse(parse_json("{'$set': {'a.b': 1}}"));
  EXPECT_EQ(update->apply(parse_json("{'a': 5}")).error().message(),
            "Cannot create field 'b' in element {a: 5}");
}

TEST(UpdateTest, CurrentDate) {
  const Result<Update> update =
      Update::parse(parse_json("{'$currentDate': {'a': true, 'b': {'$type': 'timestamp'}}}"));
  ASSERT_TRUE(update);
  const Result<Update::Applied> applied = update->apply(parse_json("{'_id': 1}"));
  EXPECT_EQ(applied->document.view()["a"].type(), bson::Type::kDate);
  EXPECT_EQ(applied->document.view()["b"].type(), bson::Type::kTimestamp);
}

TEST(UpdateTest, RefusedWhenParsed) {
  const std::pair<const char*, int> kRefused[] = {
      {"{'$foo': {'a': 1}}", 9},
      {"{'$set': 1}", 9},
      {"{'$set': {'a': 1}, 'b': 2}", 9},
      {"{'$poke': {'a': 1}}", 9},
      {"{'$set': {'': 1}}", 56},
      {"{'$set': {'a..b': 1}}", 56},
      {"{'$set': {'a.': 1}}", 56},
      {"{'$set': {'a': 1}, '$inc': {'a': 1}}", 40},
      {"{'$set': {'a': 1, 'a.b': 1}}", 40},
      {"{'$set': {'a.b': 1, 'a': 1}}", 40},
      {"{'$inc': {'a': 'x'}}", 14},
      {"{'$mul': {'a': null}}", 14},
      {"{'$rename': {'a': 1}}", 2},
      {"{'$rename': {'a': 'a'}}", 2},
      {"{'$rename': {'a': 'a.b'}}", 2},
      {"{'$rename': {'a.b': 'a'}}", 2},
      {"{'$rename': {'a': 'b'}, '$set': {'a.c': 1}}", 40},
      {"{'$rename': {'a': 'b', 'c': 'b'}}", 40},
      {"{'$rename': {'a': 'b..c'}}", 56},
      {"{'$currentDate': {'a': 1}}", 2},
      {"{'$currentDate': {'a': {'$type': 'x'}}}", 2},
  };
  for (const auto& [json, code] : kRefused) {
    const Result<Update> update = Update::parse(parse_json(json));
    ASSERT_FALSE(update) << json;
    EXPECT_EQ(static_cast<int>(update.error().code()), code)
        << json << ": " << update.error().message();
  }
}

TEST(UpdateTest, RefusedWhenApplied) {
  struct RefusedUpdate {
    const char* before;
    const char* update;
    int code;
  };
  const RefusedUpdate kRefused[] = {
      {"{'_id': 1, 'a': 1}", "{'$set': {'a.b': 1}}", 28},
      {"{'_id': 1, 'a': [1]}", "{'$set': {'a.b': 1}}", 28},
      {"{'_id': 1, 'a': null}", "{'$set': {'a.b.c': 1}}", 28},
      {"{'_id': 1}", "{'$set': {'_id': 2}}", 66},
      {"{'_id': 1}", "{'$unset': {'_id': ''}}", 66},
      {"{'_id': {'x': 1}}", "{'$set': {'_id.x': 2}}", 66},
      {"{'_id': 1}", "{'_id': 2}", 66},
      {"{'_id': 1, 'a': 'x'}", "{'$inc': {'a': 1}}", 14},
      {"{'_id': 1, 'a': {'$numberLong': '9223372036854775807'}}", "{'$inc': {'a': 1}}", 2},
      {"{'_id': 1, 'a': [1]}", "{'$set': {'a.2000000': 1}}", 34},
      {"{'_id': 1, 'a': {'$numberLong': '-9223372036854775808'}}", "{'$mul': {'a': -1}}", 2},
      {"{'_id': 1, 'a': [{'b': 1}]}", "{'$rename': {'a.b': 'c'}}", 28},
      {"{'_id': 1, 'a': 5}", "{'$rename': {'a.b': 'c'}}", 28},
      {"{'_id': 1, 'a': [{'b': 1}]}", "{'$rename': {'a.0.b': 'c'}}", 2},
      {"{'_id': 1, 'a': [], 'c': 1}", "{'$rename': {'c': 'a.0'}}", 2},
      {"{'_id': 1, 'a': [], 'c': 1}", "{'$rename': {'c': 'a.b'}}", 2},
      {"{'_id': 1, 'a': 5, 'c': 1}", "{'$rename': {'c': 'a.b'}}", 28},
      {"{'_id': 1}", "{'$rename': {'_id': 'c'}}", 66},
  };
  for (const RefusedUpdate& one : kRefused) {
    const Result<Update> update = Update::parse(parse_json(one.update));
    ASSERT_TRUE(update) << one.update;
    const Result<Update::Applied> applied = update->apply(parse_json(one.before));
    ASSERT_FALSE(applied) << one.update << " gave " << show(applied->document);
    EXPECT_EQ(static_cast<int>(applied.error().code()), one.code) << one.update;
  }
}

// The first error in the order of the names counts, wherever the fields are in the document.
TEST(UpdateTest, SeveralErrors_AreInTheOrderOfTheNames) {
  const auto refused = [](const char* before, const char* update) {
    const Result<Update> parsed = Update::parse(parse_json(update));
    EXPECT_TRUE(parsed) << update;
    const Result<Update::Applied> applied = parsed->apply(parse_json(before));
    EXPECT_FALSE(applied) << update;
    return applied ? 0 : static_cast<int>(applied.error().code());
  };
  EXPECT_EQ(refused("{'b': 1, 'a': 1}", "{'$set': {'a.$[]': 1, 'b.c': 1}}"), 2);
  EXPECT_EQ(refused("{'b': 1, 'a': 1}", "{'$set': {'a.c': 1, 'b.$[]': 1}}"), 28);
  EXPECT_EQ(refused("{'b': 1}", "{'$set': {'a.$[]': 1}, '$mul': {'b.c': 2}}"), 2);
  EXPECT_EQ(refused("{'b': 1}", "{'$set': {'c.$[]': 1}, '$mul': {'b.c': 2}}"), 28);
  EXPECT_EQ(refused("{'x': {'b': 1, 'a': 1}}", "{'$set': {'x.a.$[]': 1, 'x.b.c': 1}}"), 2);
  EXPECT_EQ(refused("{'c': 's', 'x': {'b': 1, 'a': 1}}",
                    "{'$set': {'x.a.c': 1, 'x.b.$[]': 1}, '$inc': {'c': 1}}"),
            14);
  // Positions come before names.
  EXPECT_EQ(refused("{'a': [1]}", "{'$set': {'a.0.$[]': 1, 'a.b': 1}}"), 2);
  EXPECT_EQ(refused("{'a': [1]}", "{'$set': {'a.1.b.$[]': 1, 'a.b': 1}}"), 2);
  EXPECT_EQ(refused("{'a': [[1]]}", "{'$set': {'a.0.$[]': 1, 'a.b': 1}}"), 28);
}

TEST(UpdateTest, TooLarge) {
  bson::Builder specification;
  specification.open_document("$set");
  specification.append("a", std::string(bson::kMaxDocumentBytes - 20, 'x')).close();
  const Result<Update> update = Update::parse(std::move(specification).finish());
  ASSERT_TRUE(update);
  EXPECT_TRUE(update->apply(parse_json("{}")));
  EXPECT_EQ(update->apply(parse_json("{'_id': 'more than there is room for'}")).error().code(),
            ErrorCode::kUpdatedDocumentTooLarge);
}

TEST(UpdateTest, TooDeep) {
  const auto applied_to_parts = [](uint32_t parts) {
    std::string path = "a";
    for (uint32_t i = 1; i < parts; ++i) path += ".a";
    bson::Builder specification;
    specification.open_document("$set").append(path, parse_json("{'b': {'c': 1}}")).close();
    return Update::parse(std::move(specification).finish())->apply(parse_json("{}"));
  };
  // The value itself has two levels.
  EXPECT_TRUE(applied_to_parts(bson::kMaxStoredDepth - 2));
  const auto applied = applied_to_parts(bson::kMaxStoredDepth - 1);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code(), ErrorCode::kOverflow) << applied.error().message();
}

TEST(UpdateTest, Upserted) {
  const UpdateCase kCases[] = {
      {"{'_id': 5}", "{'$set': {'a': 1}}", "{'_id': 5, 'a': 1}"},
      {"{'b.c': 2, '_id': 5, 'd': {'$gt': 1}}", "{'$set': {'a': 1}}",
       "{'_id': 5, 'b': {'c': 2}, 'a': 1}"},
      {"{'_id': 5}", "{'$setOnInsert': {'a': 1}, '$inc': {'n': 2}}", "{'_id': 5, 'a': 1, 'n': 2}"},
      {"{'_id': 5, 'x': 1}", "{'a': 1}", "{'_id': 5, 'a': 1}"},
      {"{'x': 1}", "{'a': 1, '_id': 6}", "{'_id': 6, 'a': 1}"},
      {"{'$and': [{'_id': 5}, {'x': {'$eq': 1}}]}", "{'$inc': {'x': 1}}", "{'_id': 5, 'x': 2}"},
  };
  for (const UpdateCase& one : kCases) {
    const Result<Filter> filter = Filter::parse(parse_json(one.before));
    const Result<Update> update = Update::parse(parse_json(one.update));
    const Result<bson::Document> document = update->upserted(*filter);
    ASSERT_TRUE(document) << one.before << ": " << document.error().message();
    EXPECT_EQ(show(*document), show(parse_json(one.after))) << one.before << one.update;
  }
  const Result<Filter> twice = Filter::parse(parse_json("{'a': 1, '$and': [{'a': 1}]}"));
  const Result<Update> update = Update::parse(parse_json("{'$set': {'b': 1}}"));
  EXPECT_EQ(update->upserted(*twice).error().code(), ErrorCode::kNotSingleValueField);
  const Result<Filter> other = Filter::parse(parse_json("{'_id': 1}"));
  EXPECT_EQ(Update::parse(parse_json("{'_id': 2}"))->upserted(*other).error().code(),
            ErrorCode::kImmutableField);
  const Result<Filter> part = Filter::parse(parse_json("{'_id.x': 1}"));
  EXPECT_EQ(static_cast<int>(Update::parse(parse_json("{'a': 1}"))->upserted(*part).error().code()),
            111);
  EXPECT_EQ(show(*update->upserted(*part)), "{ '_id' : { 'x' : 1 }, 'b' : 1 }");
  const Result<bson::Document> generated =
      update->upserted(*Filter::parse(parse_json("{'_id': {'$gt': 1}}")));
  EXPECT_EQ(generated->view()["_id"].type(), bson::Type::kObjectId);
}

TEST(UpdateTest, TouchedPaths) {
  const Result<Update> update =
      Update::parse(parse_json("{'$set': {'a.b': 1}, '$rename': {'c': 'd'}}"));
  EXPECT_EQ(update->touched_paths(), (std::vector<std::string>{"a.b", "c", "d"}));
}

}  // namespace
}  // namespace gridmount::query
