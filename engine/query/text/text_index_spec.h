// The rules of a text index: which strings of a document the index covers, and which language and
// weight each string has. The index has one entry for each term of a document, with the score of
// the term.
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

// The score of each term of a document, by term.
using TermScores = std::map<std::string, double, std::less<>>;

class TextIndexSpec {
 public:
  // `options` are the other options of a complete definition (plan/text_index_definition.h):
  // {weights, default_language, language_override, textIndexVersion}. Ignores textIndexVersion.
  // Fails with CannotCreateIndex if `weights`, `default_language` or `language_override` is missing
  // or invalid.
  static Result<TextIndexSpec> parse(bson::View options);

  // Returns the language of strings in documents that do not name a language (see visit()).
  const TextLanguage& default_language() const { return *default_language_; }
  // Returns the name of the default language as the definition has it, such as "en" or "english".
  const std::string& default_language_name() const { return default_language_name_; }

  // One indexed string of a document.
  struct Text {
    std::string_view text;
    const TextLanguage& language;
    double weight;
  };
  // Calls `visit` for each indexed string of the document, until `visit` returns false. The views
  // that `visit` gets are valid as long as the document and this object. The option
  // `language_override` names the field that has the language of a document or of an embedded
  // document. Without this field, an embedded document has the language of the document around it.
  // Fails with 17261 if the value of this field is not a string, and with 17262 if the language is
  // unknown.
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
