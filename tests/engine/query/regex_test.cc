// Goal: a match finds what PCRE2 finds, whichever way it is executed, and takes a bounded time.
// Method: patterns that are matched piece by piece are compared with the same patterns behind an
// empty look-ahead. The look-ahead makes the matcher run the whole pattern at once, with a check at
// each item.

#include "engine/query/regex.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/engine/query/time_limit_interruption.h"

namespace gridmount::query {
namespace {

std::string shown(const Result<Regex::Captures>& captures) {
  if (!captures) return std::to_string(static_cast<int>(captures.error().code()));
  std::string text;
  for (const auto& range : *captures) {
    text +=
        range ? "[" + std::to_string(range->begin) + "," + std::to_string(range->end) + ")" : "-";
  }
  return text;
}

void expect_alike(const std::string& pattern, const std::string& options, const std::string& text,
                  size_t from = 0) {
  const Result<Regex> plain = Regex::compile(pattern, options);
  const Result<Regex> watched = Regex::compile("(?=)(?:" + pattern + ")", options);
  ASSERT_TRUE(plain) << pattern;
  ASSERT_TRUE(watched) << pattern;
  const auto found = plain->find(text, from);
  EXPECT_EQ(shown(found), shown(watched->find(text, from)))
      << pattern << " with '" << options << "' in " << text << " from " << from;
  if (from == 0) {
    EXPECT_EQ(*plain->try_match(text), !found->empty()) << pattern;
  }
}

TEST(RegexTest, Stretches_FindWhatIsThere) {
  for (const size_t before : {0, 1, 100, 5'000, 20'000, 40'000}) {
    std::string text;
    while (text.size() < before) text += "\u00E9a ";
    const std::string with = text + "needle\nx" + text;
    for (const std::string pattern :
         {"n[e]+dle", "needle", "\\bneedle\\b", "^x", "x$", "[^a]*needle", "q*needle", "\u00E9*n",
          "needle[a-z ]*$", "(need)(le)", "q+", "e*", "(n|x)e?", "\\Aneedle", "^.*x"}) {
      for (const char* const options : {"", "i", "m", "s", "x"}) {
        expect_alike(pattern, options, with);
        expect_alike(pattern, options, with, before / 2);
        expect_alike(pattern, options, text);
      }
    }
  }
}

TEST(RegexTest, RandomPatterns_AreAlike) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto choose = [&](const std::vector<std::string>& from) {
    return from[random() % from.size()];
  };
  const std::vector<std::string> kItems = {"a",   "b", "[ab]", ".",   "\\w",     "(a|ab)",
                                           "(b)", "^", "$",    "\\b", "\xC3\xA9"};
  const std::vector<std::string> kRepeats = {"", "", "", "*", "+", "?", "*?", "{1,3}"};
  const std::vector<std::string> kLetters = {"a", "b", "ab", " ", "\n", "\xC3\xA9"};
  for (int round = 0; round < 2000; ++round) {
    std::string pattern;
    for (size_t i = 0, items = 1 + random() % 5; i < items; ++i) {
      const std::string item = choose(kItems);
      pattern += item;
      const bool is_place = item == "^" || item == "$" || item == "\\b";
      if (!is_place) pattern += item[0] == '(' ? choose({"", "?"}) : choose(kRepeats);
    }
    std::string text;
    const size_t length = random() % 400;
    while (text.size() < length) text += choose(kLetters);
    expect_alike(pattern, choose({"", "i", "m", "s"}), text);
  }
}

// PCRE2 limits the attempts at each position, and there are many positions.
TEST(RegexTest, BeyondItsTime_AMatchIsGivenUp) {
  const Result<Regex> regex = Regex::compile("[ab]*c[ab]", "");
  ASSERT_TRUE(regex);
  const std::string text(size_t{8} << 20, 'a');
  const auto begin = processor_time();
  const Result<bool> matches = regex->try_match(text);
  ASSERT_FALSE(matches);
  EXPECT_EQ(matches.error().code(), kRegexGivenUp);
  EXPECT_LT(processor_time() - begin, std::chrono::seconds(4));
}

}  // namespace
}  // namespace gridmount::query
