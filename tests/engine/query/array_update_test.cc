// Goal: $push, $addToSet, $pop, $pull, $pullAll and $bit do what MongoDB's manual and server say.
// Method: tables.

#include <gtest/gtest.h>

#include "engine/query/update/update.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

struct Case {
  const char* before;
  const char* update;
  const char* after;
};

struct Refused {
  const char* before;
  const char* update;
  int code;
  const char* message;
};

void expect_results(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    const Result<Update> update = Update::parse(parse_json(one.update));
    ASSERT_TRUE(update) << one.update << ": " << update.error().message();
    const Result<Update::Applied> applied = update->apply(parse_json(one.before));
    ASSERT_TRUE(applied) << one.update << ": " << applied.error().message();
    EXPECT_EQ(show(applied->document), show(parse_json(one.after)))
        << one.before << " " << one.update;
    EXPECT_EQ(applied->modified, show(parse_json(one.before)) != show(applied->document));
    EXPECT_TRUE(bson::validate(applied->document.view().bytes()));
  }
}

// If a case has no document, the update is refused when it is parsed.
void expect_refused(const std::vector<Refused>& cases) {
  for (const Refused& one : cases) {
    const Result<Update> update = Update::parse(parse_json(one.update));
    if (one.before == nullptr) {
      ASSERT_FALSE(update) << one.update;
      EXPECT_EQ(static_cast<int>(update.error().code()), one.code) << one.update;
      EXPECT_EQ(update.error().message(), one.message) << one.update;
      continue;
    }
    ASSERT_TRUE(update) << one.update << ": " << update.error().message();
    const Result<Update::Applied> applied = update->apply(parse_json(one.before));
    ASSERT_FALSE(applied) << one.update << " gave " << show(applied->document);
    EXPECT_EQ(static_cast<int>(applied.error().code()), one.code) << one.update;
    EXPECT_EQ(applied.error().message(), one.message) << one.update;
  }
}

TEST(ArrayUpdateTest, Push) {
  expect_results({
      {"{}", "{'$push': {'a': 1}}", "{'a': [1]}"},
      {"{'a': [1]}", "{'$push': {'a': 2}}", "{'a': [1, 2]}"},
      {"{'a': [1]}", "{'$push': {'a': [2, 3]}}", "{'a': [1, [2, 3]]}"},
      {"{'a': [1]}", "{'$push': {'a': {'b': 2}}}", "{'a': [1, {'b': 2}]}"},
      {"{}", "{'$push': {'a.b': 1}}", "{'a': {'b': [1]}}"},
      {"{'a': [[1]]}", "{'$push': {'a.0': 2}}", "{'a': [[1, 2]]}"},
      {"{'a': [1]}", "{'$push': {'a.2': 2}}", "{'a': [1, null, [2]]}"},
      {"{'a': [1]}", "{'$push': {'a': {'$each': [2, 3]}}}", "{'a': [1, 2, 3]}"},
      {"{}", "{'$push': {'a': {'$each': []}}}", "{'a': []}"},
      {"{'a': [1]}", "{'$push': {'a': {'$each': []}}}", "{'a': [1]}"},
      // Without $each, the operand is a value.
      {"{}", "{'$push': {'a': {'$slice': 1}}}", "{'a': [{'$slice': 1}]}"},
      {"{'a': [1, 2]}", "{'$pushAll': {'a': [3, [4]]}}", "{'a': [1, 2, 3, [4]]}"},
      {"{}", "{'$pushAll': {'a': []}}", "{'a': []}"},
  });
}

TEST(ArrayUpdateTest, PushAtAPosition) {
  const std::pair<int, const char*> kPositions[] = {
      {0, "[8, 9, 1, 2, 3]"},  {1, "[1, 8, 9, 2, 3]"},  {3, "[1, 2, 3, 8, 9]"},
      {7, "[1, 2, 3, 8, 9]"},  {-1, "[1, 2, 8, 9, 3]"}, {-3, "[8, 9, 1, 2, 3]"},
      {-9, "[8, 9, 1, 2, 3]"},
  };
  for (const auto& [position, expected] : kPositions) {
    const std::string update =
        "{'$push': {'a': {'$position': " + std::to_string(position) + ", '$each': [8, 9]}}}";
    const std::string after = "{'a': " + std::string(expected) + "}";
    expect_results({{"{'a': [1, 2, 3]}", update.c_str(), after.c_str()}});
  }
  expect_results({{"{'a': [1]}",
                   "{'$push': {'a': {'$each': [2], '$position': {'$numberLong': "
                   "'-9223372036854775808'}, '$slice': {'$numberLong': '-9223372036854775808'}}}}",
                   "{'a': [2, 1]}"},
                  {"{}", "{'$push': {'a': {'$each': [2], '$position': 5}}}", "{'a': [2]}"}});
}

TEST(ArrayUpdateTest, PushWithSliceAndSort) {
  expect_results({
      {"{'a': [1, 2]}", "{'$push': {'a': {'$each': [3], '$slice': 2}}}", "{'a': [1, 2]}"},
      {"{'a': [1, 2]}", "{'$push': {'a': {'$each': [3], '$slice': -2}}}", "{'a': [2, 3]}"},
      {"{'a': [1, 2]}", "{'$push': {'a': {'$each': [3], '$slice': 0}}}", "{'a': []}"},
      {"{'a': [1, 2]}", "{'$push': {'a': {'$each': [3], '$slice': 9.0}}}", "{'a': [1, 2, 3]}"},
      {"{}", "{'$push': {'a': {'$each': [3, 4], '$slice': -1}}}", "{'a': [4]}"},
      {"{'a': [3, 1]}", "{'$push': {'a': {'$each': [2], '$sort': 1}}}", "{'a': [1, 2, 3]}"},
      {"{'a': [3, 1]}", "{'$push': {'a': {'$each': [], '$sort': -1.0}}}", "{'a': [3, 1]}"},
      {"{'a': [3, 'x', null, {'b': 1}]}", "{'$push': {'a': {'$each': [[1]], '$sort': 1}}}",
       "{'a': [null, 3, 'x', {'b': 1}, [1]]}"},
      {"{'a': [{'s': 5, 'i': 1}, {'s': 3, 'i': 2}]}",
       "{'$push': {'a': {'$each': [{'s': 5, 'i': 0}, {'i': 9}, 7], '$sort': {'s': -1, 'i': 1}}}}",
       "{'a': [{'s': 5, 'i': 0}, {'s': 5, 'i': 1}, {'s': 3, 'i': 2}, 7, {'i': 9}]}"},
      {"{'a': [{'b': {'c': 2}}, {'b': {'c': 1}}]}",
       "{'$push': {'a': {'$each': [], '$sort': {'b.c': 1}, '$slice': 1}}}",
       "{'a': [{'b': {'c': 1}}]}"},
      // The sort is stable, and comes before the slice.
      {"{'a': [{'s': 1, 'i': 1}, {'s': 0, 'i': 2}]}",
       "{'$push': {'a': {'$slice': -2, '$each': [{'s': 1, 'i': 3}], '$sort': {'s': 1}}}}",
       "{'a': [{'s': 1, 'i': 1}, {'s': 1, 'i': 3}]}"},
  });
}

TEST(ArrayUpdateTest, PushRefused) {
  expect_refused({
      {"{'_id': 1, 'a': {'b': 5}}", "{'$push': {'a.b': 1}}", 2,
       "The field 'a.b' must be an array but is of type int in document {_id: 1}"},
      {"{'a': 5}", "{'$push': {'a.b': 1}}", 28, "Cannot create field 'b' in element {a: 5}"},
      {nullptr, "{'$push': {'a': {'$each': 1}}}", 2,
       "The argument to $each in $push must be an array but it was of type: int"},
      {nullptr, "{'$push': {'a': {'$each': [], 'b': 1}}}", 2, "Unrecognized clause in $push: b"},
      {nullptr, "{'$push': {'a': {'$each': [], '$slice': 'x'}}}", 2,
       "The value for $slice must be an integer value but was given type: string"},
      {nullptr, "{'$push': {'a': {'$each': [], '$slice': 1.5}}}", 2,
       "The value for $slice must be an integer value but was given type: double"},
      {nullptr, "{'$push': {'a': {'$each': [], '$position': null}}}", 2,
       "The value for $position must be an integer value, not of type: null"},
      {nullptr, "{'$push': {'a': {'$each': [], '$sort': 2}}}", 2,
       "The $sort element value must be either 1 or -1"},
      {nullptr, "{'$push': {'a': {'$each': [], '$sort': {'b': 2}}}}", 2,
       "The $sort element value must be either 1 or -1"},
      {nullptr, "{'$push': {'a': {'$each': [], '$sort': {}}}}", 2,
       "The $sort pattern is empty when it should be a set of fields."},
      {nullptr, "{'$push': {'a': {'$each': [], '$sort': {'': 1}}}}", 2,
       "The $sort field cannot be empty"},
      {nullptr, "{'$push': {'a': {'$each': [], '$sort': {'b..c': 1}}}}", 2,
       "The $sort field is a dotted field but has an empty part: b..c"},
      {nullptr, "{'$push': {'a': {'$each': [], '$sort': 'x'}}}", 2,
       "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded "
       "fields"},
      {nullptr, "{'$pushAll': {'a': 1}}", 2,
       "$pushAll requires an array of values but was given type: int"},
  });
}

TEST(ArrayUpdateTest, AddToSet) {
  expect_results({
      {"{}", "{'$addToSet': {'a': 1}}", "{'a': [1]}"},
      {"{'a': [1]}", "{'$addToSet': {'a': 2}}", "{'a': [1, 2]}"},
      {"{'a': [1]}", "{'$addToSet': {'a': 1.0}}", "{'a': [1]}"},
      {"{'a': [1]}", "{'$addToSet': {'a': [1]}}", "{'a': [1, [1]]}"},
      {"{'a': [{'b': 1, 'c': 2}]}", "{'$addToSet': {'a': {'c': 2, 'b': 1}}}",
       "{'a': [{'b': 1, 'c': 2}, {'c': 2, 'b': 1}]}"},
      {"{'a': [3, 1]}", "{'$addToSet': {'a': {'$each': [4, 1, 2, 4]}}}", "{'a': [3, 1, 4, 2]}"},
      {"{}", "{'$addToSet': {'a': {'$each': [2, 1, 2.0]}}}", "{'a': [2, 1]}"},
      {"{}", "{'$addToSet': {'a': {'$each': []}}}", "{'a': []}"},
      {"{'a': [1, 1]}", "{'$addToSet': {'a': {'$each': [1]}}}", "{'a': [1, 1]}"},
      {"{}", "{'$addToSet': {'a': {'b': 1, '$each': []}}}", "{'a': [{'b': 1, '$each': []}]}"},
  });
  expect_refused({
      {"{'a': 5}", "{'$addToSet': {'a': 1}}", 2,
       "Cannot apply $addToSet to non-array field. Field named 'a' has non-array type int"},
      {nullptr, "{'$addToSet': {'a': {'$each': 1}}}", 14,
       "The argument to $each in $addToSet must be an array but it was of type int"},
      {nullptr, "{'$addToSet': {'a': {'$each': [], 'b': 1}}}", 2,
       "Found unexpected fields after $each in $addToSet: { $each: [], b: 1 }"},
  });
}

TEST(ArrayUpdateTest, Pop) {
  expect_results({
      {"{'a': [1, 2, 3]}", "{'$pop': {'a': 1}}", "{'a': [1, 2]}"},
      {"{'a': [1, 2, 3]}", "{'$pop': {'a': -1.0}}", "{'a': [2, 3]}"},
      {"{'a': [1]}", "{'$pop': {'a': -1}}", "{'a': []}"},
      {"{'a': []}", "{'$pop': {'a': 1}}", "{'a': []}"},
      {"{'b': 1}", "{'$pop': {'a': 1, 'a1.b': 1, 'c.0': -1}}", "{'b': 1}"},
      {"{'a': [[1, 2]]}", "{'$pop': {'a.0': 1, 'a.1.b': 1}}", "{'a': [[1]]}"},
  });
  expect_refused({
      {"{'a': {'b': 5}}", "{'$pop': {'a.b': 1}}", 14,
       "Path 'a.b' contains an element of non-array type 'int'"},
      {"{'a': 'x'}", "{'$pop': {'a.b': 1}}", 28,
       "Cannot use the part (b) of (a.b) to traverse the element ({a: \"x\"})"},
      {"{'a': {'b': 1}}", "{'$pop': {'a.b.c.d': 1}}", 28,
       "Cannot use the part (c) of (a.b.c.d) to traverse the element ({b: 1})"},
      {"{'a': [[1]]}", "{'$pop': {'a.b': 1}}", 28,
       "Cannot use the part (b) of (a.b) to traverse the element ({a: [ [ 1 ] ]})"},
      {nullptr, "{'$pop': {'a': 2}}", 9, "$pop expects 1 or -1, found: 2"},
      {nullptr, "{'$pop': {'a': 'x'}}", 9, "Expected a number in: a: \"x\""},
      {nullptr, "{'$pop': {'a': 0.5}}", 9, "Expected an integer: a: 0.5"},
  });
}

TEST(ArrayUpdateTest, Pull) {
  expect_results({
      {"{'a': [1, 2, 1.0, 3]}", "{'$pull': {'a': 1}}", "{'a': [2, 3]}"},
      {"{'a': [1, 2]}", "{'$pull': {'a': 5}}", "{'a': [1, 2]}"},
      {"{'b': 1}", "{'$pull': {'a': 5, 'c.d': 1}}", "{'b': 1}"},
      {"{'a': [1, [1], [1, 2]]}", "{'$pull': {'a': [1]}}", "{'a': [1, [1, 2]]}"},
      {"{'a': [1, null, 2]}", "{'$pull': {'a': null}}", "{'a': [1, 2]}"},
      {"{'a': [1, 5, 9, 'x', [7]]}", "{'$pull': {'a': {'$gt': 4}}}", "{'a': [1, 'x']}"},
      {"{'a': [1, 5, 9]}", "{'$pull': {'a': {'$in': [1, 9]}}}", "{'a': [5]}"},
      {"{'a': [1, 5, 9]}", "{'$pull': {'a': {'$gte': 2, '$ne': 9}}}", "{'a': [1, 9]}"},
      {"{'a': [1, 5, 9]}", "{'$pull': {'a': {'$not': {'$gt': 4}}}}", "{'a': [5, 9]}"},
      {"{'a': ['ab', 'b', 3]}", "{'$pull': {'a': {'$regex': '^a'}}}", "{'a': ['b', 3]}"},
      {"{'a': ['ab', 'b']}",
       "{'$pull': {'a': {'$regularExpression': {'pattern': 'B', 'options': 'i'}}}}", "{'a': []}"},
      {"{'a': [{'b': 1, 'c': 1}, {'b': 2}, 1, [{'b': 1}]]}", "{'$pull': {'a': {'b': 1}}}",
       "{'a': [{'b': 2}, 1, [{'b': 1}]]}"},
      {"{'a': [{'b': 1}, {'b': 7}]}", "{'$pull': {'a': {'b': {'$gt': 5}}}}", "{'a': [{'b': 1}]}"},
      {"{'a': [{'b': 1}, {'c': 7}, {'d': 1}]}", "{'$pull': {'a': {'$or': [{'b': 1}, {'c': 7}]}}}",
       "{'a': [{'d': 1}]}"},
      {"{'a': [{'b': [{'c': 1}]}, {'b': [{'c': 2}]}]}",
       "{'$pull': {'a': {'b': {'$elemMatch': {'c': 2}}}}}", "{'a': [{'b': [{'c': 1}]}]}"},
      {"{'a': [{}, {'b': 1}, 3]}", "{'$pull': {'a': {}}}", "{'a': [3]}"},
      {"{'a': [3, 1, 2, 1.0]}", "{'$pullAll': {'a': [1, 2, 7]}}", "{'a': [3]}"},
      {"{'a': [[1], {'b': 1}, {'b': 1, 'c': 1}]}", "{'$pullAll': {'a': [[1], {'b': 1}]}}",
       "{'a': [{'b': 1, 'c': 1}]}"},
      {"{'a': [1]}", "{'$pullAll': {'a': []}}", "{'a': [1]}"},
  });
  expect_refused({
      {"{'a': 5}", "{'$pull': {'a': 5}}", 2, "Cannot apply $pull to a non-array value"},
      {"{'a': 5}", "{'$pullAll': {'a': [5]}}", 2, "Cannot apply $pull to a non-array value"},
      {"{'a': 5}", "{'$pull': {'a.b': 5}}", 28,
       "Cannot use the part (b) of (a.b) to traverse the element ({a: 5})"},
      {nullptr, "{'$pullAll': {'a': 1}}", 2,
       "$pullAll requires an array argument but was given a int"},
      {nullptr, "{'$pull': {'a': {'$foo': 1}}}", 2, "unknown operator: $foo"},
      {nullptr, "{'$pull': {'a': {'b': {'$foo': 1}}}}", 2, "unknown operator: $foo"},
  });
}

TEST(ArrayUpdateTest, Bit) {
  expect_results({
      {"{'a': 13}", "{'$bit': {'a': {'and': 10}}}", "{'a': 8}"},
      {"{'a': 3}", "{'$bit': {'a': {'or': 5}}}", "{'a': 7}"},
      {"{'a': 1}", "{'$bit': {'a': {'xor': 5}}}", "{'a': 4}"},
      {"{'a': 1}", "{'$bit': {'a': {'or': 6, 'and': 3}}}", "{'a': 3}"},
      {"{}", "{'$bit': {'a': {'or': 5}}}", "{'a': 5}"},
      {"{'a': -1}", "{'$bit': {'a': {'and': {'$numberLong': '4294967296'}}}}",
       "{'a': {'$numberLong': '4294967296'}}"},
  });
  const Result<Update> wide =
      Update::parse(parse_json("{'$bit': {'a': {'or': {'$numberLong': '1'}}}}"));
  for (const char* before : {"{}", "{'a': 1}"}) {
    EXPECT_EQ(wide->apply(parse_json(before))->document.view()["a"].type(), bson::Type::kInt64);
  }
  expect_refused({
      {"{'_id': 1, 'b': {'a': 1.5}}", "{'$bit': {'b.a': {'or': 5}}}", 2,
       "Cannot apply $bit to a value of non-integral type. {_id: 1} has the field a of non-integer "
       "type double"},
      {nullptr, "{'$bit': {'a': 1}}", 2,
       "The $bit modifier is not compatible with a int. You must pass in an embedded document: "
       "{$bit: {field: {and/or/xor: #}}"},
      {nullptr, "{'$bit': {'a': {}}}", 2,
       "You must pass in at least one bitwise operation. The format is: {$bit: {field: "
       "{and/or/xor: #}}"},
      {nullptr, "{'$bit': {'a': {'not': 1}}}", 2,
       "The $bit modifier only supports 'and', 'or', and 'xor', not 'not' which is an unknown "
       "operator: {not: 1}"},
      {nullptr, "{'$bit': {'a': {'or': 1.5}}}", 2,
       "The $bit modifier field must be an Integer(32/64 bit); a 'double' is not supported here: "
       "{or: 1.5}"},
  });
}

}  // namespace
}  // namespace gridmount::query
