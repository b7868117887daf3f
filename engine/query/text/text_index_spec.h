// The rules of a text index: the strings of a document that it holds, the language of each string,
// and its weight. A document has one entry for each of its terms, with the term's score.
//
// Source: MongoDB manual, "Text Indexes", and the entries and scores of mongod 6.0.5.
//
// Thread-safety: a TextIndexSpec is immutable, so thread-safe. The functions are pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/text/text_language.h"

namespace gridmount::query {

// The fields of a text index's key that stand for the terms and for their scores.
inline constexpr std::string_view kTextTermField = "_fts";
inline constexpr std::string_view kTextScoreField = "_ftsx";
inline constexpr std::string_view kTextIndexKind = "text";

// The score of each term of a document.
using TermScores = std::map<std::string, double, std::less<>>;

class TextIndexSpec {
 public:
  // `options` are those of a complete definition (plan/text_index_definition.h): {weights,
  // default_language, language_override, textIndexVersion}. Fails with CannotCreateIndex for a
  // missing or invalid option.
  static Result<TextIndexSpec> parse(bson::View options);

  const TextLanguage& default_language() const { return *default_language_; }
  // Returns the name by which the definition calls that language.
  const std::string& default_language_name() const { return default_language_name_; }

  // One indexed string of a document.
  struct Text {
    std::string_view text;
    const TextLanguage& language;
    double weight;
  };
  // Calls `visit` for each indexed string of the document, until it returns false. Fails with
  // 17261 if a document's language is not a string, and with 17262 if there is no such language.
  Status visit(bson::View document, const std::function<bool(const Text&)>& visit) const;

  // Returns the score of each term of the document. Fails as visit() does, and with 16732 for a
  // document with more than 400,000 different terms.
  Result<TermScores> scores_of(bson::View document) const;

  // Returns whether a change of the value at the dotted path may change the document's terms.
  bool depends_on(std::string_view path) const;

 private:
  class Walk;

  std::map<std::string, double, std::less<>> weights_;  // by dotted path
  bool is_wildcard_ = false;                            // all strings are indexed
  const TextLanguage* default_language_ = nullptr;
  std::string default_language_name_;
  std::string language_field_;
};

}  // namespace gridmount::query
