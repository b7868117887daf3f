// Splits a text into the terms that a text index holds: words in lower case, without stop words and
// diacritics, reduced to their stems. A word of more than 2048 bytes is not reduced. A search that
// is sensitive to case or diacritics gets terms that keep them.
//
// Source: the terms that mongod 6.0.5 shows in explain's `parsedTextQuery`, for text indexes of
// version 3. Characters that Unicode has added or changed since its version 8 may differ.
//
// Thread-safety: one thread at a time may use a tokenizer. The functions are pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/query/text/text_language.h"

namespace gridmount::query {

// Says whether a search is sensitive to case and to diacritics. By default, it is sensitive to
// neither.
struct TextSensitivity {
  bool to_case = false;
  bool to_diacritics = false;

  bool is_plain() const { return !to_case && !to_diacritics; }
};

class TextTokenizer {
 public:
  // `language` must outlive the tokenizer.
  explicit TextTokenizer(const TextLanguage& language);
  ~TextTokenizer();
  TextTokenizer(TextTokenizer&&) noexcept;
  TextTokenizer& operator=(TextTokenizer&&) noexcept;

  // Begins a text. Its bytes must be valid until the last term has been read. Bytes that are not
  // UTF-8 count as U+FFFD, but stay as they are in terms that keep both case and diacritics.
  void begin(std::string_view text, TextSensitivity sensitivity = {});
  // Returns the next term, or nothing at the end of the text. The view is valid until the next
  // call.
  std::optional<std::string_view> next();

 private:
  struct Stemmer;
  // Reads the next word into word_ and folded_. Returns false at the end of the text.
  bool read_word();

  const TextLanguage* language_;
  std::unique_ptr<Stemmer> stemmer_;  // null if the words of the language are not stemmed
  std::string_view text_;
  size_t at_ = 0;
  TextSensitivity sensitivity_;
  std::string word_;    // as it is in the text
  std::string folded_;  // in lower case
  std::string term_;
};

// Returns the text in the form in which phrases are compared: in lower case unless
// TextSensitivity::to_case is set, and without diacritics unless TextSensitivity::to_diacritics is
// set. Bytes that are not UTF-8 become U+FFFD.
std::string folded_text(std::string_view text, TextSensitivity sensitivity,
                        const TextLanguage& language);

}  // namespace gridmount::query
