// The operand of $text: the terms and phrases that a text search looks for in the strings that a
// text index covers. A term is the stem of a word (text_tokenizer.h).
//
// Source: MongoDB manual, "$text", and mongod 6.0.5.
//
// Thread-safety: a TextQuery is immutable, so thread-safe. The functions are pure.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "engine/query/text/text_index_spec.h"
#include "engine/query/text/text_tokenizer.h"

namespace gridmount::query {

using Terms = std::set<std::string, std::less<>>;

// The limit for the number of different terms of one search. The negated terms are counted
// separately, and have the same limit. The search for one term needs about 700 bytes of memory.
inline constexpr size_t kSearchTermsMax = 100'000;

// Checks the form of $text's operand: {$search: <string>, $language: <string>, $caseSensitive:
// <bool>, $diacriticSensitive: <bool>}. Only $search is required. Fails with BadValue (2) if the
// operand is no document, if it has other fields, or if servers do not know the language. Fails
// with NoSuchKey (4) if $search is missing, and with TypeMismatch (14) for a value of a wrong type.
Status check_text_operand(bson::ValueView operand);

class TextQuery {
 public:
  // Parses the operand of $text. `index` is the text index of the collection, and must not be null.
  // `operand` need not outlive the call. Fails as check_text_operand() does, and with
  // ExceededMemoryLimit (146) for more than kSearchTermsMax different terms or different negated
  // terms.
  static Result<std::shared_ptr<const TextQuery>> parse(bson::ValueView operand,
                                                        std::shared_ptr<const TextIndexSpec> index);

  // Returns the terms that the search looks up in the index. These terms never keep case or
  // diacritics, because the index does not. A document that has none of these terms does not match.
  const Terms& index_terms() const { return index_terms_; }
  // Return the terms and phrases as explain shows them. A document matches if it has at least one
  // of terms(), none of negated_terms(), each of phrases(), and none of negated_phrases(). If the
  // search is sensitive to case or diacritics, so are these terms and phrases.
  const Terms& terms() const { return terms_; }
  const Terms& negated_terms() const { return negated_terms_; }
  const std::vector<std::string>& phrases() const { return phrases_; }
  const std::vector<std::string>& negated_phrases() const { return negated_phrases_; }

  // Returns whether every document that has one of index_terms() matches. If so, the index alone
  // answers the search.
  bool is_plain() const;

  // matches() calls this function before each piece of work. `bytes` is the number of bytes that
  // matches() is going to read. If the function returns false, matches() ends and returns false.
  using MayGoOn = std::function<bool(size_t bytes)>;
  // Returns whether the document matches. Also returns false if matches() finds an invalid language
  // in the document (TextIndexSpec::visit()), or if `may_go_on` returns false.
  bool matches(
      bson::View document, const MayGoOn& may_go_on = [](size_t) { return true; }) const;
  // Returns the sum of the scores of index_terms() in the document. Returns nothing if the document
  // has none of these terms, or if TextIndexSpec::scores_of() fails for the document.
  std::optional<double> score_of(bson::View document) const;

 private:
  Status read_search(std::string_view search);
  Status add_terms(const std::string& sentence, Terms& terms, bool is_negated);
  bool match_phrases(bson::View document, const MayGoOn& may_go_on) const;

  std::shared_ptr<const TextIndexSpec> index_;
  const TextLanguage* language_ = nullptr;
  TextSensitivity sensitivity_;
  Terms index_terms_;
  Terms terms_;
  Terms negated_terms_;
  std::vector<std::string> phrases_;
  std::vector<std::string> negated_phrases_;
};

// Returns {$search, $language, $caseSensitive, $diacriticSensitive} as explain shows a $text.
// Fields that `operand` lacks have their defaults. `operand` must have passed check_text_operand().
// `default_language` is TextIndexSpec::default_language_name() of the index.
bson::Document complete_text_operand(bson::View operand, std::string_view default_language);

}  // namespace gridmount::query
