// Goal: text searches split texts into terms, match and score documents as servers do.
// Method: examples with the answers of mongod 6.0.5. tests/oracle compares random searches.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/query/plan/text_index_definition.h"
#include "engine/query/text/text_query.h"
#include "tests/engine/query/time_limit_interruption.h"
#include "tests/must.h"

namespace gridmount::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bson::Document json(std::string_view text) {
  return must(bson::document_from_json(text));
}

std::vector<std::string> terms_of(std::string_view text, std::string_view language,
                                  TextSensitivity sensitivity = {}) {
  TextTokenizer tokenizer(*find_text_language(language));
  tokenizer.begin(text, sensitivity);
  std::vector<std::string> terms;
  while (const auto term = tokenizer.next()) terms.emplace_back(*term);
  return terms;
}

std::shared_ptr<const TextIndexSpec> text_index(std::string_view specification) {
  const IndexDefinition definition = must(IndexDefinition::parse(json(specification)));
  return std::make_shared<const TextIndexSpec>(
      must(TextIndexSpec::parse(definition.other_options)));
}

std::shared_ptr<const TextQuery> text_query(std::string_view operand,
                                            std::string_view index = R"({"key": {"a": "text"}})") {
  const bson::Document wrapped = json(operand);
  return must(TextQuery::parse(bson::Value(wrapped.view()).view(), text_index(index)));
}

TEST(TextTokenizer, English_StemsAndLeavesOutStopWords) {
  EXPECT_THAT(terms_of("The dogs were running, O'Reilly's don't!", "english"),
              ElementsAre("dog", "run", "o'reilli"));
  EXPECT_THAT(terms_of("x-ray foo_bar a.b", "en"), ElementsAre("x", "ray", "foo_bar", "b"));
}

TEST(TextTokenizer, OtherLanguages_HaveTheirOwnRules) {
  EXPECT_THAT(terms_of("les études nationales", "french"), ElementsAre("etud", "national"));
  EXPECT_THAT(terms_of("the running", "none"), ElementsAre("the", "running"));
  EXPECT_THAT(terms_of("Ilık İstanbul", "turkish"), ElementsAre("ılık", "istanbul"));
  EXPECT_THAT(terms_of("don't", "none"), ElementsAre("don", "t"));
}

TEST(TextTokenizer, Diacritics_GoUnlessTheyCount) {
  EXPECT_THAT(terms_of("Café ÀÉ e\u0301te\u0301 Straße", "none"),
              ElementsAre("cafe", "ae", "ete", "straße"));
  EXPECT_THAT(terms_of("Café É", "none", {.to_diacritics = true}), ElementsAre("café", "é"));
  EXPECT_THAT(terms_of("Running Café", "english", {.to_case = true}), ElementsAre("Run", "Cafe"));
}

TEST(TextTokenizer, MalformedText_IsReadToItsEnd) {
  EXPECT_THAT(terms_of("\xFF\xC3 a\x80z", "none"), testing::SizeIs(2));
  EXPECT_THAT(terms_of("", "none"), IsEmpty());
  EXPECT_THAT(terms_of(" .,- ", "none"), IsEmpty());
}

TEST(TextLanguage, Names_AreInAnyCase) {
  EXPECT_EQ(find_text_language("EN"), find_text_language("english"));
  EXPECT_EQ(find_text_language("klingon"), nullptr);
  EXPECT_EQ(find_text_language(""), nullptr);
  EXPECT_EQ(text_rules_version(), text_rules_version());
}

TEST(TextQuery, Search_HasTermsPhrasesAndNegations) {
  const auto query = text_query(R"({"$search": "foo -bar-baz \"a phrase\" -\"no phrase\" qux"})");
  EXPECT_THAT(query->terms(), ElementsAre("foo", "phrase", "qux"));
  EXPECT_THAT(query->negated_terms(), ElementsAre("bar", "baz"));
  EXPECT_THAT(query->phrases(), ElementsAre("a phrase"));
  EXPECT_THAT(query->negated_phrases(), ElementsAre("no phrase"));
  EXPECT_FALSE(query->is_plain());
  // A hyphen negates only after a space and right before a word.
  EXPECT_THAT(text_query(R"({"$search": "- foo foo-bar"})")->negated_terms(), IsEmpty());
  EXPECT_TRUE(text_query(R"({"$search": "foo"})")->is_plain());
}

TEST(TextQuery, Operand_OfAWrongForm_IsRefusedWithTheServersCode) {
  const auto code = [](std::string_view operand) {
    const bson::Document document = json(operand);
    const Status checked = check_text_operand(document.view()["x"]);
    return checked ? ErrorCode(0) : checked.error().code();
  };
  EXPECT_EQ(code(R"({"x": 5})"), ErrorCode::kBadValue);
  EXPECT_EQ(code(R"({"x": {}})"), ErrorCode(4));
  EXPECT_EQ(code(R"({"x": {"$search": 5}})"), ErrorCode::kTypeMismatch);
  EXPECT_EQ(code(R"({"x": {"$search": "a", "y": 1}})"), ErrorCode::kBadValue);
  EXPECT_EQ(code(R"({"x": {"$search": "a", "$language": "klingon"}})"), ErrorCode::kBadValue);
  EXPECT_EQ(code(R"({"x": {"$search": "a", "$caseSensitive": 1}})"), ErrorCode::kTypeMismatch);
  EXPECT_EQ(code(R"({"x": {"$search": "a", "$language": ""}})"), ErrorCode(0));
}

TEST(TextQuery, Matches_TestsPhrasesAndNegations) {
  const bson::Document document = json(R"({"a": "An Apple pie", "b": "cherry"})");
  EXPECT_TRUE(text_query(R"({"$search": "apples"})")->matches(document));
  EXPECT_FALSE(text_query(R"({"$search": "cherry"})")->matches(document));
  EXPECT_FALSE(text_query(R"({"$search": "apple -pies"})")->matches(document));
  EXPECT_TRUE(text_query(R"({"$search": "\"apple PIE\""})")->matches(document));
  EXPECT_FALSE(text_query(R"({"$search": "\"apple cake\""})")->matches(document));
  EXPECT_FALSE(text_query(R"({"$search": "apple -\"apple pie\""})")->matches(document));
  EXPECT_FALSE(text_query(R"({"$search": "apple", "$caseSensitive": true})")->matches(document));
  EXPECT_FALSE(text_query(R"({"$search": "-cherry"})")->matches(document));
}

TEST(TextQuery, Search_ForTooManyTerms_IsRefused) {
  std::string words;
  for (size_t i = 0; i < kSearchTermsMax; ++i) words += "w" + std::to_string(i) + " ";
  const auto code_of = [](const std::string& search) {
    bson::Builder operand;
    operand.append("$search", search);
    const auto parsed = TextQuery::parse(bson::Value(std::move(operand).finish().view()).view(),
                                         text_index(R"({"key": {"a": "text"}})"));
    return parsed ? ErrorCode{0} : parsed.error().code();
  };
  EXPECT_EQ(code_of(words), ErrorCode{0});
  EXPECT_EQ(code_of(words + "w1"), ErrorCode{0});
  EXPECT_EQ(code_of(words + "apple"), ErrorCode::kExceededMemoryLimit);
}

// A search of quadratic time would take seconds.
TEST(TextQuery, Matches_FindsALongPhraseQuickly) {
  constexpr size_t kTextBytes = 1'000'000;
  bson::Builder document;
  document.append("a", "apple " + std::string(kTextBytes, 'x'));
  bson::Builder operand;
  operand.append("$search", "apple \"" + std::string(kTextBytes / 2, 'x') + "y\"");
  const auto query = must(TextQuery::parse(bson::Value(std::move(operand).finish().view()).view(),
                                           text_index(R"({"key": {"a": "text"}})")));
  const bson::Document text = std::move(document).finish();
  const auto begin = processor_time();
  EXPECT_FALSE(query->matches(text));
  EXPECT_LT(processor_time() - begin, std::chrono::seconds(2));
}

TEST(TextIndex, Scores_AreThoseOfServers) {
  const auto score = [](std::string_view document) {
    return text_query(R"({"$search": "apple"})",
                      R"({"key": {"a": "text", "b": "text", "n.x": "text"}, "weights": {"b": 3}})")
        ->score_of(json(document));
  };
  EXPECT_EQ(score(R"({"a": "apple pie apple", "b": "apple"})"), 4.25);
  EXPECT_EQ(score(R"({"a": ["apple tart", "apple"]})"), 1.75);
  EXPECT_EQ(score(R"({"a": "apple apple apple banana"})"), 1.53125);
  EXPECT_EQ(score(R"({"n": [{"x": "apple"}, {"x": "cherry apple"}]})"), 1.75);
  EXPECT_EQ(score(R"({"a": "apple", "language": "none"})"), std::nullopt);
  // The index omits arrays within arrays, and documents in place of texts.
  EXPECT_EQ(score(R"({"a": [["apple"]]})"), std::nullopt);
  EXPECT_EQ(score(R"({"a": {"x": "apple"}})"), std::nullopt);
}

TEST(TextIndex, Wildcard_HoldsAllStringsButTheLanguage) {
  const auto index = text_index(R"({"key": {"$**": "text"}, "weights": {"t": 7, "$**": 3}})");
  const auto scores = must(index->scores_of(json(
      R"({"t": "pear", "u": ["pear", {"v": "fig"}], "w": [["plum"]], "language": "danish"})")));
  EXPECT_THAT(scores, ElementsAre(testing::Pair("fig", 1.1), testing::Pair("pear", 8 * 1.1),
                                  testing::Pair("plum", 1.1)));
}

TEST(TextIndex, Language_IsThatOfTheNearestDocument) {
  const auto index = text_index(R"({"key": {"a": "text", "n.a": "text"}})");
  EXPECT_THAT(must(index->scores_of(
                  json(R"({"a": "running", "n": {"language": "none", "a": "running"}})"))),
              ElementsAre(testing::Key("run"), testing::Key("running")));
  const auto error = [&](std::string_view document) {
    return index->scores_of(json(document)).error().code();
  };
  EXPECT_EQ(error(R"({"language": 5})"), ErrorCode(17261));
  EXPECT_EQ(error(R"({"language": "klingon"})"), ErrorCode(17262));
  EXPECT_TRUE(index->scores_of(json(R"({"other": {"language": "klingon"}})")));
}

TEST(TextIndex, DocumentWithTooManyTerms_IsRefused) {
  std::string text;
  for (int i = 0; i < 400'001; ++i) text += std::to_string(i) + " ";
  bson::Builder document;
  document.append("a", text);
  const auto scores =
      text_index(R"({"key": {"a": "text"}})")->scores_of(std::move(document).finish());
  ASSERT_FALSE(scores);
  EXPECT_EQ(scores.error().code(), ErrorCode(16732));
}

TEST(TextIndex, DependsOn_KnowsWhichChangesMatter) {
  const auto index = text_index(R"({"key": {"a": "text", "n.a": "text"}})");
  for (const char* const path :
       {"a", "a.b", "n", "n.a", "language", "n.language", "language.x", "n.language.x"}) {
    EXPECT_TRUE(index->depends_on(path)) << path;
  }
  for (const char* const path : {"b", "n.b", "ab", "na"}) {
    EXPECT_FALSE(index->depends_on(path)) << path;
  }
}

TEST(TextIndexDefinition, IsCompletedAsServersDo) {
  const auto shown = [](const bson::Document& specification) {
    return bson::Value(must(IndexDefinition::parse(specification)).specification().view());
  };
  EXPECT_EQ(
      shown(json(R"({"key": {"p": 1, "b": "text", "a": "text", "s": -1}, "weights": {"b": 5.5}})")),
      bson::Value(json(R"({"v": 2, "key": {"p": 1, "_fts": "text", "_ftsx": 1, "s": -1},
          "name": "p_1_b_text_a_text_s_-1", "weights": {"a": 1, "b": 5},
          "default_language": "english", "language_override": "language",
          "textIndexVersion": 3})")
                      .view()));
  // A complete definition, as a dump has it, remains as it is.
  const bson::Value complete = shown(json(R"({"key": {"$**": "text"}})"));
  EXPECT_EQ(shown(bson::Document(complete.view().as_document())), complete);
}

TEST(TextIndexDefinition, OfAWrongForm_IsRefused) {
  for (const char* const specification :
       {R"({"key": {"a": "text", "p": 1, "b": "text"}})", R"({"key": {"p": 2, "a": "text"}})",
        R"({"key": {"p": "hashed", "a": "text"}})", R"({"key": {"_fts": "text", "_ftsx": 1}})",
        R"({"key": {"_fts": "text"}, "weights": {"a": 1}})", R"({"key": {"_fts": 1}})",
        R"({"key": {"a": "text"}, "weights": {"a": 0}})",
        R"({"key": {"a": 1}, "weights": {"a": 1}})",
        R"({"key": {"a": "text"}, "weights": {"a": 100000}})",
        R"({"key": {"a": "text"}, "weights": {"a": "x"}})",
        R"({"key": {"a": "text"}, "weights": {"$x": 1}})",
        R"({"key": {"a": "text"}, "weights": {"": 1}})", R"({"key": {"a.": "text"}})",
        R"({"key": {"a": "text"}, "default_language": "klingon"})",
        R"({"key": {"a": "text"}, "language_override": "$x"})",
        R"({"key": {"a": "text"}, "textIndexVersion": 2})",
        R"({"key": {"a": "text"}, "collation": {"locale": "fr"}})",
        R"({"key": {"a": "text"}, "unique": true})",
        R"({"key": {"a": "text"}, "expireAfterSeconds": 5})"}) {
    const auto parsed = IndexDefinition::parse(json(specification));
    ASSERT_FALSE(parsed) << specification;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kCannotCreateIndex) << specification;
  }
}

}  // namespace
}  // namespace gridmount::query
