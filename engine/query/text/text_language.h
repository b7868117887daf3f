// The languages of text indexes: their names, their stop words and their stemmers.
//
// Source: MongoDB manual, "Text Search Languages". The stop words are those that mongod 6.0.5
// leaves out of text indexes. Most of them are those of the Snowball project.
//
// Thread-safety: pure functions. A TextLanguage is never changed.
#pragma once

#include <string>
#include <string_view>

namespace gridmount::query {

struct TextLanguage {
  std::string_view name;        // "english"
  std::string_view code;        // "en"; that of "none" is "none"
  const char* stemmer;          // the name of Snowball's stemmer; null: words are not stemmed
  std::string_view stop_words;  // in lower case, separated by spaces
};

// Returns the language with this name or code, whatever the case of its letters is. The language
// exists until the process ends. Returns null if there is no such language.
const TextLanguage* find_text_language(std::string_view name);

// Returns whether `word`, which must be in lower case, is a stop word of the language. `language`
// must be one that find_text_language() has returned, not a copy.
bool is_stop_word(const TextLanguage& language, std::string_view word);

// Returns a text that identifies the rules by which this program makes terms: the version of ICU,
// and a checksum of the stems that libstemmer makes of some words. Two programs with the same text
// make the same terms of every string.
const std::string& text_rules_version();

}  // namespace gridmount::query
