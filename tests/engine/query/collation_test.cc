// Goal: collations are read and completed as servers do, and strings are compared by them wherever
// values are compared, but nowhere else.
// Method: the codes and results are those that mongod 6.0.5 gave for the same commands. The sort
// keys of random strings are compared with the comparison of the strings.

#include "engine/query/collation/collation.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/bson/compare.h"
#include "engine/bson/key_string.h"
#include "engine/query/collation/collation_locale.h"
#include "engine/query/collation/collator.h"
#include "tests/engine/query/parse_json.h"

namespace gridmount::query {
namespace {

constexpr const char* kIgnoringCase = "{'locale': 'en', 'strength': 2}";

SharedCollator collator_of(const std::string& text) {
  Result<SharedCollator> collator = Collator::parse(parse_json(text));
  if (!collator) throw std::runtime_error(text + ": " + collator.error().message());
  return *std::move(collator);
}

int code_of_collation(const std::string& text) {
  const Result<std::optional<Collation>> parsed = Collation::parse(parse_json(text));
  return parsed ? 0 : static_cast<int>(parsed.error().code());
}

TEST(CollationTest, WrongFields_HaveTheCodesOfServers) {
  EXPECT_EQ(code_of_collation("{'locale': 'en'}"), 0);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'strength': 2.5}"), 0);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'strength': null}"), 0);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'version': '57.1'}"), 0);
  EXPECT_EQ(code_of_collation("{'locale': 'simple', 'strength': 1}"), 0);
  EXPECT_EQ(code_of_collation("{}"), 40414);
  EXPECT_EQ(code_of_collation("{'locale': 5}"), 14);
  EXPECT_EQ(code_of_collation("{'locale': ''}"), 2);
  EXPECT_EQ(code_of_collation("{'locale': 'xx'}"), 2);
  EXPECT_EQ(code_of_collation("{'locale': 'fr_FR'}"), 2);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'strength': 0}"), 2);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'strength': 6}"), 51024);
  EXPECT_EQ(code_of_collation("{'locale': 'simple', 'strength': 9}"), 51024);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'strength': '2'}"), 14);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'caseLevel': 1}"), 14);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'caseFirst': 'x'}"), 2);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'backwards': 3}"), 14);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'version': '72.1'}"), 161);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'x': 1}"), 40415);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'strength': 1, 'backwards': true}"), 2);
  EXPECT_EQ(code_of_collation("{'locale': 'en', 'strength': 2, 'caseFirst': 'upper'}"), 2);
  EXPECT_EQ(
      code_of_collation("{'locale': 'en', 'strength': 2, 'caseFirst': 'upper', 'caseLevel': true}"),
      0);
}

TEST(CollationTest, Locale_Long_IsRefused) {
  const std::string longer(Collation::kLocaleBytesMax + 1, 'a');
  const auto parsed = Collation::parse(parse_json("{'locale': '" + longer + "'}"));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code(), ErrorCode::kBadValue);
  EXPECT_NE(parsed.error().message().find("not valid"), std::string::npos);
}

TEST(CollationTest, Document_HasAllFields) {
  const auto parsed = Collation::parse(parse_json("{'locale': 'fr_CA', 'strength': 1.0}"));
  // The default of the locale is against the strength here, as on servers.
  ASSERT_FALSE(parsed);
  const auto whole = Collation::parse(parse_json("{'locale': 'fr_CA'}"));
  ASSERT_TRUE(whole && *whole);
  EXPECT_EQ(show((*whole)->document()),
            show(parse_json("{'locale': 'fr_CA', 'caseLevel': false, 'caseFirst': 'off', "
                            "'strength': 3, 'numericOrdering': false, "
                            "'alternate': 'non-ignorable', 'maxVariable': 'punct', "
                            "'normalization': false, 'backwards': true, 'version': '57.1'}")));
  const auto again = Collation::parse((*whole)->document());
  ASSERT_TRUE(again && *again);
  EXPECT_EQ(**again, **whole);
}

TEST(CollationTest, DefaultsOfLocales_AreThoseOfServers) {
  const auto defaults = [](const std::string& text) {
    const bson::Document document = (*Collation::parse(parse_json(text)))->document();
    return std::string(document.view()["caseFirst"].as_string()) + " " +
           std::string(document.view()["alternate"].as_string()) +
           (document.view()["normalization"].as_bool() ? " normalization" : "");
  };
  EXPECT_EQ(defaults("{'locale': 'en'}"), "off non-ignorable");
  EXPECT_EQ(defaults("{'locale': 'en@collation=search'}"), "off non-ignorable normalization");
  EXPECT_EQ(defaults("{'locale': 'da'}"), "upper non-ignorable");
  EXPECT_EQ(defaults("{'locale': 'da', 'caseFirst': 'off'}"), "off non-ignorable");
  EXPECT_EQ(defaults("{'locale': 'th'}"), "off shifted normalization");
  EXPECT_EQ(defaults("{'locale': 'th@collation=emoji'}"), "off non-ignorable");
  EXPECT_EQ(defaults("{'locale': 'vi@collation=traditional'}"), "off non-ignorable normalization");
  EXPECT_EQ(code_of_collation("{'locale': 'da', 'strength': 2}"), 2);
}

TEST(CollationTest, Locales_AreThoseOfServers) {
  for (const char* const known : {"en", "en_US", "de_AT@collation=phonebook", "zh_Hant",
                                  "es@collation=search", "sv@collation=standard", "zu"}) {
    EXPECT_TRUE(is_collation_locale(known)) << known;
    EXPECT_TRUE(Collator::parse(parse_json("{'locale': '" + std::string(known) + "'}"))) << known;
  }
  for (const char* const unknown :
       {"", "EN", "en-US", "en_XX", "root", "no", "en_US@collation=phonebook", "de@",
        "de@collation=", "de@collation=nope", "zh@collation=pinyin", "en@currency=EUR"}) {
    EXPECT_FALSE(is_collation_locale(unknown)) << unknown;
  }
}

TEST(CollatorTest, Options_ChangeTheOrder) {
  const auto compares = [](const char* collation, const char* a, const char* b) {
    const std::weak_ordering order = collator_of(collation)->compare(a, b);
    return order == 0 ? "=" : order < 0 ? "<" : ">";
  };
  EXPECT_STREQ(compares("{'locale': 'en'}", "a", "B"), "<");
  EXPECT_STREQ(compares("{'locale': 'en'}", "a", "A"), "<");
  EXPECT_STREQ(compares("{'locale': 'en', 'caseFirst': 'upper'}", "a", "A"), ">");
  EXPECT_STREQ(compares(kIgnoringCase, "a", "A"), "=");
  EXPECT_STREQ(compares(kIgnoringCase, "a", "ä"), "<");
  EXPECT_STREQ(compares("{'locale': 'en', 'strength': 1}", "a", "Ä"), "=");
  EXPECT_STREQ(compares("{'locale': 'en', 'strength': 1, 'caseLevel': true}", "a", "ä"), "=");
  EXPECT_STREQ(compares("{'locale': 'en', 'strength': 1, 'caseLevel': true}", "a", "A"), "<");
  EXPECT_STREQ(compares("{'locale': 'en'}", "10", "9"), "<");
  EXPECT_STREQ(compares("{'locale': 'en', 'numericOrdering': true}", "10", "9"), ">");
  EXPECT_STREQ(compares("{'locale': 'en', 'alternate': 'shifted'}", "a b", "ab"), "=");
  EXPECT_STREQ(
      compares("{'locale': 'en', 'alternate': 'shifted', 'maxVariable': 'space'}", "a.b", "ab"),
      "<");
  EXPECT_STREQ(compares("{'locale': 'fr'}", "cote\u0301", "co\u0302te"), "<");
  EXPECT_STREQ(compares("{'locale': 'fr', 'backwards': true}", "cot\u00e9", "c\u00f4te"), ">");
  EXPECT_STREQ(compares("{'locale': 'sv'}", "z", "ö"), "<");
  EXPECT_STREQ(compares("{'locale': 'de'}", "z", "ö"), ">");
}

TEST(CollatorTest, BytesThatAreNoUtf8_CountAsReplacementCharacters) {
  const SharedCollator collator = collator_of("{'locale': 'en'}");
  EXPECT_EQ(collator->compare("a\xFF", "a\uFFFD"), std::weak_ordering::equivalent);
  std::string invalid;
  std::string replaced;
  collator->append_sort_key(invalid, "a\xFF");
  collator->append_sort_key(replaced, "a\uFFFD");
  EXPECT_EQ(invalid, replaced);
}

TEST(CollatorTest, SortKeys_HaveTheOrderOfTheStrings) {
  const uint64_t seed = 20160101;
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::vector<std::string> pieces = {
      "a",  "A", "b",       "ä",     "Ä", " ", "-", "1", "02", "日", "\xFF", std::string(1, '\0'),
      "ss", "ß", "e\u0301", "\u00e9"};
  for (const char* const text :
       {"{'locale': 'en'}", kIgnoringCase, "{'locale': 'de', 'strength': 5}",
        "{'locale': 'fr', 'backwards': true}", "{'locale': 'en', 'numericOrdering': true}",
        "{'locale': 'sv', 'alternate': 'shifted', 'strength': 4}"}) {
    const SharedCollator collator = collator_of(text);
    std::vector<std::string> strings;
    for (int i = 0; i < 60; ++i) {
      std::string made;
      for (uint64_t n = random() % 6; n > 0; --n) made += pieces[random() % pieces.size()];
      strings.push_back(std::move(made));
    }
    strings.emplace_back(1000, 'x');  // its sort key does not fit into the usual memory
    for (const std::string& a : strings) {
      for (const std::string& b : strings) {
        std::string key_a;
        std::string key_b;
        bson::append_key_string(key_a, bson::Value(a).view(), false, collator.get());
        bson::append_key_string(key_b, bson::Value(b).view(), false, collator.get());
        ASSERT_EQ(key_a.compare(key_b) <=> 0, collator->compare(a, b)) << text << a << "|" << b;
      }
    }
  }
}

TEST(CollatorTest, Values_StringsInDocumentsAndArrays_NotNames) {
  const SharedCollator collator = collator_of(kIgnoringCase);
  const auto equal = [&](const char* a, const char* b) {
    return bson::compare(parse_json(a).view(), parse_json(b).view(), collator.get()) == 0;
  };
  EXPECT_TRUE(equal("{'a': 'x'}", "{'a': 'X'}"));
  EXPECT_TRUE(equal("{'a': [1, {'b': 'x'}]}", "{'a': [1.0, {'b': 'X'}]}"));
  EXPECT_FALSE(equal("{'a': 'x'}", "{'A': 'x'}"));
  EXPECT_FALSE(equal("{'a': {'$code': 'x'}}", "{'a': {'$code': 'X'}}"));
  EXPECT_FALSE(equal("{'a': 1}", "{'a': '1'}"));
}

}  // namespace
}  // namespace gridmount::query
