// The operand of $text: the terms and phrases that a text search looks for in the strings of a text
// index.
//
// Source: MongoDB manual, "$text", and mongod 6.0.5.
//
// Thread-safety: a TextQuery is immutable, so thread-safe.
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

// The limit for the different terms of one search. Each needs some 700 bytes while it is searched
// for.
inline constexpr size_t kSearchTermsMax = 100'000;

// Checks the form of $text's operand: {$search: <string>, $language: <string>, $caseSensitive:
// <bool>, $diacriticSensitive: <bool>}. Fails with BadValue (2) if the operand is no document, if
// it has other fields, or if there is no such language. Fails with NoSuchKey (4) if there is no
// $search, and with TypeMismatch (14) for a value of a wrong type.
Status check_text_operand(bson::ValueView operand);

class TextQuery {
 public:
  // Fails as check_text_operand() does, and with ExceededMemoryLimit (146) for more than
  // kSearchTermsMax different terms. `index` is the text index of the collection.
  static Result<std::shared_ptr<const TextQuery>> parse(bson::ValueView operand,
                                                        std::shared_ptr<const TextIndexSpec> index);

  // The terms that are looked up in the index. A document that has none of them does not match.
  const Terms& index_terms() const { return index_terms_; }
  // The terms and phrases as explain shows them. A document must have at least one of terms(), none
  // of negated_terms(), each of phrases(), and none of negated_phrases().
  const Terms& terms() const { return terms_; }
  const Terms& negated_terms() const { return negated_terms_; }
  const std::vector<std::string>& phrases() const { return phrases_; }
  const std::vector<std::string>& negated_phrases() const { return negated_phrases_; }

  // Returns whether every document that has one of index_terms() matches.
  bool is_plain() const;

  // Called with a number of bytes before the search passes over them. Returns false if the search
  // must end.
  using MayGoOn = std::function<bool(size_t bytes)>;
  // Returns whether the document matches. A document whose language is not valid does not match.
  // Returns false if `may_go_on` returns false.
  bool matches(
      bson::View document, const MayGoOn& may_go_on = [](size_t) { return true; }) const;
  // Returns the sum of the scores of index_terms() in the document, or nothing if it has none of
  // them.
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

// Returns {$search, $language, $caseSensitive, $diacriticSensitive} with the defaults filled in, as
// explain shows a $text. `default_language` is the name that the index gives it.
bson::Document complete_text_operand(bson::View operand, std::string_view default_language);

}  // namespace gridmount::query
