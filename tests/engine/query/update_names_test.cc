// Goal: updates treat the _id, names that begin with '$' and empty timestamps as servers do, and
// count the same changes.
// Method: tables of a server's answers.

#include <gtest/gtest.h>

#include "engine/query/update/update.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

Result<Update> parse_update(const std::string& update) {
  const bson::Document specification = parse_json("{'u': " + update + "}");
  const bson::ValueView value = specification.view()["u"];
  return Update::parse(value.as_document(), {.is_pipeline = value.type() == bson::Type::kArray});
}

// Returns JSON without spaces.
std::string shown(bson::View document) {
  std::string text = show(document);
  std::erase(text, ' ');
  return text;
}

// Returns the document, the code of an error, or "parsing: " and the message of a parse error.
std::string applied(const std::string& update, const std::string& before) {
  const Result<Update> parsed = parse_update(update);
  if (!parsed) return "parsing: " + parsed.error().message();
  const Result<Update::Applied> result = parsed->apply(parse_json(before));
  if (!result) return std::to_string(static_cast<int>(result.error().code()));
  return shown(result->document);
}

std::string upserted(const std::string& update, const std::string& filter) {
  const Result<Update> parsed = parse_update(update);
  if (!parsed) return "parsing: " + parsed.error().message();
  const Result<bson::Document> result = parsed->upserted(*Filter::parse(parse_json(filter)));
  if (!result) return std::to_string(static_cast<int>(result.error().code()));
  return shown(*result);
}

TEST(UpdateNames, OfExistingDocuments_HaveNoDollarInFront) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{'$set': {'$a': 1}}", "52"},
      {"{'$set': {'$a.b': 1}}", "52"},
      {"{'$set': {'$': 1}}",
       "parsing: Cannot have positional (i.e. '$') element in the first "
       "position in path '$'"},
      {"{'$push': {'$a': 1}}", "52"},
      {"{'$rename': {'a': '$b'}}", "52"},
      {"{'$rename': {'no': '$b'}}", "{'_id':1,'a':1}"},
      {"{'$unset': {'$a': 1}}", "{'_id':1,'a':1}"},
      {"{'$setOnInsert': {'$a': 1}}", "{'_id':1,'a':1}"},
      {"{'$set': {'$db': 1}}", "55"},
      {"{'$set': {'$ref': 'x'}}", "55"},
      {"{'$set': {'$ref': 'x', '$id': 5}}", "55"},
      {"{'$set': {'$id': 1}}", "55"},
      {"{'b': 1, '$a': 1}", "52"},
      {"{'a': 1, '$ref': 'x'}", "55"},
      {"{'a': 1, '$ref': 'x', 'b': 1}", "55"},
      {"{'a': 1, '$ref': 1, '$id': 2}", "55"},
      {"{'a': 1, '$id': 2}", "55"},
      {"{'a': 1, '$ref': 'x', '$id': 2, 'b': 1, '$db': 'y'}", "55"},
      {"{'a': 1, '$ref': 'x', '$id': 2, '$db': 1}", "55"},
      {"[{'$replaceWith': {'$literal': {'$a': 1}}}]", "{'_id':1,'$a':1}"},
  };
  for (const auto& [update, after] : kCases) {
    EXPECT_EQ(applied(update, "{'_id': 1, 'a': 1}"), after) << update;
  }
  // An existing field stays, but may not be changed.
  EXPECT_EQ(applied("{'$set': {'$a': 1, 'b': 2}}", "{'_id': 1, '$a': 1}"),
            "{'_id':1,'$a':1,'b':2}");
  EXPECT_EQ(applied("{'$set': {'$a': 2}}", "{'_id': 1, '$a': 1}"), "52");
}

TEST(UpdateNames, OfNewDocuments_MayHaveADollarInFront) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{'$set': {'$a': 1}}", "{'_id':1,'$a':1}"},
      {"{'$setOnInsert': {'$a.b': 1}}", "{'_id':1,'$a':{'b':1}}"},
      {"{'$inc': {'$db': 1}}", "{'_id':1,'$db':1}"},
      {"{'a': 1, '$b': 1}", "{'_id':1,'a':1,'$b':1}"},
      {"{'a': 1, '$id': 2}", "{'_id':1,'a':1,'$id':2}"},
  };
  for (const auto& [update, after] : kCases) {
    EXPECT_EQ(upserted(update, "{'_id': 1}"), after) << update;
  }
}

TEST(UpdateNames, TheId_StaysByteForByte_UnderOperators) {
  const std::pair<const char*, const char*> kCases[] = {
      {"{'$set': {'_id': 1}}", "{'_id':1,'a':1}"},
      {"{'$set': {'_id': 1.0}}", "66"},
      {"{'$set': {'_id': {'$numberLong': '1'}}}", "66"},
      {"{'$inc': {'_id': 0}}", "{'_id':1,'a':1}"},
      {"{'$inc': {'_id': 0.0}}", "66"},
      {"{'$min': {'_id': 5}}", "{'_id':1,'a':1}"},
      {"{'$rename': {'a': '_id'}}", "66"},
      {"{'$rename': {'_id': 'b'}}", "66"},
      {"{'$rename': {'no': '_id'}}", "{'_id':1,'a':1}"},
      // A replacement may have an equal _id of another type.
      {"{'_id': 1.0, 'a': 2}", "{'_id':1.0,'a':2}"},
      {"[{'$set': {'_id': 1.0}}]", "{'_id':1.0,'a':1}"},
      {"{'_id': 2, 'a': 2}", "66"},
      {"[{'$set': {'_id': 2}}]", "66"},
  };
  for (const auto& [update, after] : kCases) {
    EXPECT_EQ(applied(update, "{'_id': 1, 'a': 1}"), after) << update;
  }
  EXPECT_EQ(applied("{'$rename': {'a': '_id.x'}}", "{'_id': {'x': 1}, 'a': 1}"), "66");
  EXPECT_EQ(upserted("{'$set': {'_id': 1.0}}", "{'_id': 1}"), "66");
  EXPECT_EQ(upserted("{'_id': 1.0}", "{'_id': 1}"), "{'_id':1.0}");
  EXPECT_EQ(upserted("{'$rename': {'a': '_id'}}", "{'a': 1}"), "{'_id':1}");
}

TEST(UpdateNames, AReplacement_CountsAsItIsGiven) {
  const std::pair<const char*, bool> kCases[] = {
      {"{'_id': 1, 'a': 1}", false},  {"{'a': 1}", true},
      {"{'a': 1, '_id': 1}", true},   {"{'_id': 1, 'a': 1.0}", true},
      {"{'_id': 1.0, 'a': 1}", true}, {"[{'$set': {'a': 1}}]", false},
      {"[{'$unset': '_id'}]", true},  {"[{'$replaceWith': {'a': '$a'}}]", true},
      {"{'$set': {'a': 1}}", false},  {"{'$set': {'a': 1.0}}", true},
  };
  for (const auto& [update, modified] : kCases) {
    const Result<Update> parsed = parse_update(update);
    ASSERT_TRUE(parsed) << update;
    const Result<Update::Applied> result = parsed->apply(parse_json("{'_id': 1, 'a': 1}"));
    ASSERT_TRUE(result) << update;
    EXPECT_EQ(result->modified, modified) << update;
  }
}

// Returns true if {$timestamp: {t: 0, i: 0}} was replaced in a document.
bool is_filled_in(const std::string& shown) {
  return shown.find("'t':0,'i':0") == std::string::npos;
}

TEST(UpdateNames, EmptyTimestamps_AreFilledIn_InReplacementsAlone) {
  constexpr char kEmpty[] = "{'$timestamp': {'t': 0, 'i': 0}}";
  const std::string field = "'t': " + std::string(kEmpty);
  const std::pair<std::string, bool> kCases[] = {
      {"{" + field + "}", true},
      {"{'a': {" + field + "}}", false},
      {"{'$set': {" + field + "}}", false},
      {"{'$setOnInsert': {" + field + "}, '$set': {'b': " + kEmpty + "}}", false},
      {"[{'$set': {" + field + "}}]", false},
      {"[{'$replaceWith': {'_id': 1, " + field + "}}]", false},
  };
  for (const auto& [update, filled] : kCases) {
    EXPECT_EQ(is_filled_in(applied(update, "{'_id': 1}")), filled) << update;
    EXPECT_EQ(is_filled_in(upserted(update, "{'_id': 1}")), filled) << update;
  }
}

}  // namespace
}  // namespace gridmount::query
