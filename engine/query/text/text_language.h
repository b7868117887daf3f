// The languages of text indexes: their names, their stop words and their stemmers.
//
// Source: MongoDB manual, "Text Search Languages". The stop words are the words that mongod 6.0.5
// leaves out of text indexes. Most of them are in the lists of the Snowball project.
//
// Thread-safety: pure functions. A TextLanguage is never changed.
#pragma once

#include <string>
#include <string_view>

namespace gridmount::query {

struct TextLanguage {
  std::string_view name;        // "english"
  std::string_view code;        // "en"; the code of "none" is "none" too
  const char* stemmer;          // the name of Snowball's stemmer; null: words are not stemmed
  std::string_view stop_words;  // in lower case, separated by spaces
};

// Returns the language with this name or code, or null if there is none. Ignores the case of ASCII
// letters. The returned object exists until the process ends.
const TextLanguage* find_text_language(std::string_view name);

// Returns whether `word`, which must be in lower case, is a stop word of the language. `language`
// must be an object that find_text_language() has returned, not a copy of it.
bool is_stop_word(const TextLanguage& language, std::string_view word);

// Returns a text that identifies the rules by which this program makes terms: the version of ICU,
// and a checksum of the stems that libstemmer makes of all stop words. If two programs have
// different texts, their terms may differ. If the texts are the same, the terms are almost
// certainly the same: another version of libstemmer goes unnoticed only if it changes the stem of
// no stop word.
const std::string& text_rules_version();

}  // namespace gridmount::query
