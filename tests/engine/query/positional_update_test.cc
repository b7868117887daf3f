// Goal: `$`, `$[]` and `$[id]` select the elements that MongoDB's manual and server say.
// Method: tables, including conflicts that appear only when the elements are known.

#include <gtest/gtest.h>

#include "engine/bson/builder.h"
#include "engine/query/update/update.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

Result<Update> parse(const char* update, const char* array_filters = "[]") {
  const bson::Document filters = parse_json("{'f': " + std::string(array_filters) + "}");
  return Update::parse(parse_json(update), {filters.view()["f"].as_document()});
}

Result<Update::Applied> apply(const Update& update, bson::View before, const char* filter) {
  const Result<Filter> parsed = Filter::parse(parse_json(filter));
  EXPECT_TRUE(parsed && parsed->matches(before)) << filter << show(before);
  return update.apply(
      before, update.needs_match() ? parsed->matched_position(before) : std::optional<size_t>());
}

struct Matched {
  const char* filter;
  const char* before;
  const char* update;
  const char* after;  // or the error's message
  int code = 0;
};

TEST(PositionalUpdateTest, TheMatchedElement) {
  const Matched kCases[] = {
      {"{'a': 2}", "{'a': [1, 2, 2]}", "{'$set': {'a.$': 9}}", "{'a': [1, 9, 2]}"},
      {"{'a.b': 2}", "{'a': [{'b': 1}, {'b': 2}]}", "{'$set': {'a.$.b': 9, 'a.$.c': 8}}",
       "{'a': [{'b': 1}, {'b': 9, 'c': 8}]}"},
      {"{'a': {'$elemMatch': {'b': 2, 'c': 1}}}", "{'a': [{'b': 2}, {'b': 2, 'c': 1}]}",
       "{'$inc': {'a.$.b': 1}}", "{'a': [{'b': 2}, {'b': 3, 'c': 1}]}"},
      {"{'a': 2}", "{'a': [1, 2]}", "{'$unset': {'a.$': ''}}", "{'a': [1, null]}"},
      {"{'a': 2}", "{'a': [1, 2], 'b': [5, 6]}", "{'$set': {'b.$': 9}}",
       "{'a': [1, 2], 'b': [5, 9]}"},
      // Without an array, the part is a name.
      {"{'a': 2}", "{'a': [1, 2]}", "{'$set': {'b.$': 9}}", "{'a': [1, 2], 'b': {'1': 9}}"},
      {"{'a': 2}", "{'a': [1, 2]}", "{'$set': {'a.0': 7, 'a.$': 9}}", "{'a': [7, 9]}"},
      {"{'a.b': 2}", "{'a': [{'b': 1}, {'b': 2}]}", "{'$set': {'a.1.c': 7, 'a.$.b': 9}}",
       "{'a': [{'b': 1}, {'b': 9, 'c': 7}]}"},
      {"{'a.b': 2}", "{'a': [{'b': [2, 3]}]}", "{'$push': {'a.$.b': 4}}",
       "{'a': [{'b': [2, 3, 4]}]}"},
      {"{'a.b': 2}", "{'a': [{'b': [2, 3]}]}", "{'$inc': {'a.$.b.$[]': 1}}",
       "{'a': [{'b': [3, 4]}]}"},
      {"{'a': 2}", "{'a': [2], 'b': [{'c': [5]}, {'c': [6]}]}", "{'$inc': {'b.$[].c.$': 1}}",
       "{'a': [2], 'b': [{'c': [6]}, {'c': [7]}]}"},
      {"{'a': 2}", "{'a': 2}", "{'$set': {'a.$': 9}}",
       "The positional operator did not find the match needed from the query.", 2},
      {"{'_id': 1}", "{'_id': 1}", "{'$set': {'b.$': 9}}",
       "The positional operator did not find the match needed from the query.", 2},
      // Conditions in a negation have no position.
      {"{'a': {'$not': {'$ne': 2}}}", "{'a': [1, 2]}", "{'$set': {'a.$': 9}}",
       "The positional operator did not find the match needed from the query.", 2},
      {"{'a': {'$not': {'$not': {'$gt': 1}}}}", "{'a': [1, 2]}", "{'$set': {'a.$': 9}}",
       "The positional operator did not find the match needed from the query.", 2},
      {"{'a': {'$not': {'$exists': false}}}", "{'a': [1, 2]}", "{'$set': {'a.$': 9}}",
       "The positional operator did not find the match needed from the query.", 2},
      {"{'a': 2}", "{'a': [1, 2]}", "{'$set': {'a.1': 7, 'a.$': 9}}",
       "Update created a conflict at 'a.1'", 40},
      {"{'a.b': 2}", "{'a': [{'b': 2}]}", "{'$set': {'a.0.b': 7}, '$inc': {'a.$.b': 9}}",
       "Update created a conflict at 'a.0.b'", 40},
      {"{'a.b': 2}", "{'a': [{'b': 'x'}, {'b': 2, 'c': 'x'}]}", "{'$inc': {'a.$.c': 1}}",
       "Cannot apply $inc to a value of non-numeric type. the new document has the field 'c' of "
       "non-numeric type string",
       14},
      {"{'a.b': 2}", "{'a': [{'b': 2, 'c': 1}]}", "{'$push': {'a.$.c': 1}}",
       "The field 'a.0.c' must be an array but is of type int in document the new document", 2},
  };
  for (const Matched& one : kCases) {
    const Result<Update> update = parse(one.update);
    ASSERT_TRUE(update) << one.update << update.error().message();
    EXPECT_TRUE(update->needs_match());
    const Result<Update::Applied> applied = apply(*update, parse_json(one.before), one.filter);
    if (one.code == 0) {
      ASSERT_TRUE(applied) << one.update << applied.error().message();
      EXPECT_EQ(show(applied->document), show(parse_json(one.after))) << one.update;
      EXPECT_TRUE(bson::validate(applied->document.view().bytes()));
    } else {
      ASSERT_FALSE(applied) << one.update << show(applied->document);
      EXPECT_EQ(applied.error().message(), one.after);
      EXPECT_EQ(static_cast<int>(applied.error().code()), one.code);
    }
  }
}

struct Elements {
  const char* before;
  const char* update;
  const char* filters;
  const char* after;  // or the error's message
  int code = 0;
};

TEST(PositionalUpdateTest, ElementsByFilter) {
  const Elements kCases[] = {
      {"{'a': [1, 2]}", "{'$inc': {'a.$[]': 1}}", "[]", "{'a': [2, 3]}"},
      {"{'a': []}", "{'$inc': {'a.$[]': 1}}", "[]", "{'a': []}"},
      {"{'a': [0, 1, 0]}", "{'$set': {'a.$[i]': 5}}", "[{'i': 0}]", "{'a': [5, 1, 5]}"},
      {"{'a': [0, 1, 0]}", "{'$unset': {'a.$[i]': 1}}", "[{'i': 0}]", "{'a': [null, 1, null]}"},
      {"{'a': [1, 5, 9]}", "{'$set': {'a.$[i]': 0}}", "[{'i': {'$gt': 1, '$lt': 9}}]",
       "{'a': [1, 0, 9]}"},
      {"{'a': [1, 5, 9]}", "{'$set': {'a.$[i]': 0}}", "[{'$or': [{'i': 1}, {'i': 9}]}]",
       "{'a': [0, 5, 0]}"},
      {"{'a': [{'b': 1}, {'b': 2}]}", "{'$set': {'a.$[elem].c': 0}}", "[{'elem.b': 2}]",
       "{'a': [{'b': 1}, {'b': 2, 'c': 0}]}"},
      {"{'a': [{'b': [1, 2]}, {'b': [2, 3]}]}", "{'$inc': {'a.$[].b.$[j]': 10}}", "[{'j': 2}]",
       "{'a': [{'b': [1, 12]}, {'b': [12, 3]}]}"},
      {"{'a': [{'n': 1, 'b': [1, 2]}, {'n': 2, 'b': [2, 3]}]}", "{'$inc': {'a.$[i].b.$[j]': 10}}",
       "[{'j': 2}, {'i.n': 2}]", "{'a': [{'n': 1, 'b': [1, 2]}, {'n': 2, 'b': [12, 3]}]}"},
      {"{'a': [[1, 2], [3]]}", "{'$inc': {'a.$[].$[]': 1}}", "[]", "{'a': [[2, 3], [4]]}"},
      {"{'a': [{'b': 1, 'c': 1}, {'b': 2, 'c': 1}]}", "{'$set': {'a.$[i].x': 1, 'a.$[j].y': 2}}",
       "[{'i.b': 1}, {'j.c': 1}]",
       "{'a': [{'b': 1, 'c': 1, 'x': 1, 'y': 2}, {'b': 2, 'c': 1, 'y': 2}]}"},
      {"{'a': [1, 2]}", "{'$set': {'a.$[i]': 5, 'a.$[j]': 6}}", "[{'i': 1}, {'j': 2}]",
       "{'a': [5, 6]}"},
      {"{'a': [1, 2]}", "{'$set': {'a.$[i]': 5, 'a.$[j]': 6}}", "[{'i': 1}, {'j': {'$lt': 5}}]",
       "Update created a conflict at 'a.0'", 40},
      {"{'a': [{'b': 1}]}", "{'$set': {'a.$[i].b': 5, 'a.$[].b': 6}}", "[{'i.b': 1}]",
       "Update created a conflict at 'a.0.b'", 40},
      {"{'a': [[1, 5], [2]]}", "{'$set': {'a.$[i]': 0}}", "[{'i': 5}]", "{'a': [0, [2]]}"},
      {"{'a': [[1, 2], [1]]}", "{'$pull': {'a.$[]': 1}}", "[]", "{'a': [[2], []]}"},
      {"{'a': [[1, 2], [1]]}", "{'$push': {'a.$[i]': 7}}", "[{'i': {'$size': 1}}]",
       "{'a': [[1, 2], [1, 7]]}"},
      {"{'b': 1}", "{'$set': {'a.$[]': 1}}", "[]",
       "The path 'a' must exist in the document in order to apply array updates.", 2},
      {"{'a': {'x': 1}}", "{'$unset': {'a.b.$[].c': 1}}", "[]",
       "The path 'a.b' must exist in the document in order to apply array updates.", 2},
      {"{'a': {'b': 5}}", "{'$set': {'a.b.$[]': 1}}", "[]",
       "Cannot apply array updates to non-array element b: 5", 2},
      {"{'a': [1]}", "{'$set': {'a.$[].b': 1}}", "[]", "Cannot create field 'b' in element {0: 1}",
       28},
  };
  for (const Elements& one : kCases) {
    const Result<Update> update = parse(one.update, one.filters);
    ASSERT_TRUE(update) << one.update << update.error().message();
    EXPECT_FALSE(update->needs_match());
    const Result<Update::Applied> applied = update->apply(parse_json(one.before));
    if (one.code == 0) {
      ASSERT_TRUE(applied) << one.update << applied.error().message();
      EXPECT_EQ(show(applied->document), show(parse_json(one.after))) << one.update;
      EXPECT_TRUE(bson::validate(applied->document.view().bytes()));
    } else {
      ASSERT_FALSE(applied) << one.update << show(applied->document);
      EXPECT_EQ(applied.error().message(), one.after);
      EXPECT_EQ(static_cast<int>(applied.error().code()), one.code);
    }
  }
}

TEST(PositionalUpdateTest, Refused) {
  struct Refusal {
    const char* update;
    const char* filters;
    int code;
    const char* message;
  };
  const Refusal kRefused[] = {
      {"{'$set': {'$': 1}}", "[]", 2,
       "Cannot have positional (i.e. '$') element in the first position in path '$'"},
      {"{'$set': {'a.$.b.$': 1}}", "[]", 2,
       "Too many positional (i.e. '$') elements found in path 'a.$.b.$'"},
      {"{'$set': {'$[].a': 1}}", "[]", 2,
       "Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path "
       "'$[].a'"},
      {"{'$set': {'a.$[i]': 1}}", "[]", 2,
       "No array filter found for identifier 'i' in path 'a.$[i]'"},
      {"{'$set': {'a.$[i]': 1}}", "[{'i': 0}, {'j': 0}]", 9,
       "The array filter for identifier 'j' was not used in the update { $set: { a.$[i]: 1 } }"},
      {"{'$set': {'a.$[i]': 1}}", "[{'i': 0}, {'i': 1}]", 9,
       "Found multiple array filters with the same top-level field name i"},
      {"{'$set': {'a.$[i]': 1}}", "[{'i': 0, 'j': 0}]", 9,
       "Error parsing array filter :: caused by :: Expected a single top-level field name, found "
       "'i' and 'j'"},
      {"{'$set': {'a.$[i]': 1}}", "[{}]", 9,
       "Cannot use an expression without a top-level field name in arrayFilters"},
      {"{'$set': {'a.$[i]': 1}}", "[{'I': 1}]", 2,
       "Error parsing array filter :: caused by :: The top-level field name must be an "
       "alphanumeric "
       "string beginning with a lowercase letter, found 'I'"},
      {"{'$set': {'a.$[i]': 1}}", "[{'i': {'$foo': 1}}]", 2,
       "Error parsing array filter :: caused by :: unknown operator: $foo"},
      {"{'$set': {'a.$[i]': 1}}", "[{'$expr': 1}]", 224,
       "Error parsing array filter :: caused by :: $expr is not allowed in this context"},
      {"{'$set': {'a.$[i]': 1}}", "[5]", 14,
       "BSON field 'arrayFilters.0' is the wrong type 'int', expected type 'object'"},
      {"{'b': 1}", "[{'i': 1}]", 9,
       "arrayFilters may not be specified for replacement-style updates"},
      {"{'$rename': {'a.$[i]': 'b'}}", "[{'i': 1}]", 2,
       "The source field for $rename may not be dynamic: a.$[i]"},
      {"{'$rename': {'a': 'b.$'}}", "[]", 2,
       "The destination field for $rename may not be dynamic: b.$"},
      {"{'$set': {'a.$': 1, 'a.$[]': 1}}", "[]", 40,
       "Updating the path 'a.$[]' would create a conflict at 'a'"},
      {"{'$set': {'a.$[]': 1, 'a.0': 1}}", "[]", 40,
       "Updating the path 'a.0' would create a conflict at 'a'"},
      {"{'$set': {'a.$[]': 1, 'a': 1}}", "[]", 40,
       "Updating the path 'a' would create a conflict at 'a'"},
      {"{'$set': {'a.$': 1, 'a.$.b': 1}}", "[]", 40,
       "Updating the path 'a.$.b' would create a conflict at 'a.$'"},
      {"{'$set': {'a.$[i]': 1, 'a.$[i].b': 1}}", "[{'i': 1}]", 40,
       "Updating the path 'a.$[i].b' would create a conflict at 'a.$[i]'"},
  };
  for (const Refusal& one : kRefused) {
    const Result<Update> update = parse(one.update, one.filters);
    ASSERT_FALSE(update) << one.update;
    EXPECT_EQ(update.error().message(), one.message);
    EXPECT_EQ(static_cast<int>(update.error().code()), one.code) << one.message;
  }
}

TEST(PositionalUpdateTest, Upserts) {
  const Result<Update> matched = parse("{'$set': {'a.$': 1}}");
  const Result<Filter> filter = Filter::parse(parse_json("{'_id': 1, 'a': [0]}"));
  const Result<bson::Document> refused = matched->upserted(*filter);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "The positional operator did not find the match needed from the query.");
  const Result<bson::Document> each =
      parse("{'$setOnInsert': {'a.$[i]': 1}}", "[{'i': 0}]")->upserted(*filter);
  ASSERT_TRUE(each) << each.error().message();
  EXPECT_EQ(show(*each), show(parse_json("{'_id': 1, 'a': [1]}")));
}

TEST(UpsertTest, NegationOfANegation_GivesNoValue) {
  const Result<Update> update = parse("{'$set': {'b': 1}}");
  for (const char* const specification :
       {"{'_id': 1, 'a': {'$not': {'$ne': 2}}}", "{'_id': 1, 'a': {'$not': {'$nin': [2]}}}",
        "{'_id': 1, 'a': {'$not': {'$not': {'$eq': 2}}}}"}) {
    const Result<Filter> filter = Filter::parse(parse_json(specification));
    const Result<bson::Document> upserted = update->upserted(*filter);
    ASSERT_TRUE(upserted) << specification << upserted.error().message();
    EXPECT_EQ(show(*upserted), show(parse_json("{'_id': 1, 'b': 1}"))) << specification;
  }
}

TEST(PositionalUpdateTest, TouchedPaths) {
  const Result<Update> update =
      parse("{'$set': {'a.b.$[i].c': 1, 'd.$': 1}, '$inc': {'e.$[]': 1}}", "[{'i': 1}]");
  EXPECT_EQ(update->touched_paths(), (std::vector<std::string>{"a.b", "d", "e"}));
}

// One update has a path into every element of an array. The other one names each element.
TEST(PositionalUpdateTest, ManyElements) {
  constexpr int kCount = 20'000;
  bson::Builder before;
  before.open_array("a");
  for (int32_t i = 0; i < kCount; ++i) before.push(bson::Value(i));
  before.close();
  bson::Builder specification;
  specification.open_document("$inc");
  for (int i = kCount - 1; i >= 0; --i) specification.append("a." + std::to_string(i), int32_t{1});
  specification.close();
  const bson::Document document = std::move(before).finish();
  const Result<Update> each = parse("{'$inc': {'a.$[]': 1}}");
  const Result<Update> named = Update::parse(std::move(specification).finish());
  ASSERT_TRUE(named) << named.error().message();
  EXPECT_EQ(show(each->apply(document)->document), show(named->apply(document)->document));
  EXPECT_EQ(each->apply(document)->document.view()["a"].as_document()["19999"].as_int32(), kCount);
}

}  // namespace
}  // namespace gridmount::query
