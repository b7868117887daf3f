#include "engine/query/text/text_tokenizer.h"

#include <libstemmer.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include <array>
#include <utility>

namespace gridmount::query {
namespace {

constexpr UChar32 kReplacement = 0xFFFD;
// Longer words are not reduced to stems, because a stemmer may need time that grows with the square
// of the length.
constexpr size_t kStemmedBytesMax = 2048;

// Reads the code point at `at`, and moves `at` behind it.
UChar32 next_code_point(std::string_view text, size_t& at) {
  UChar32 code = 0;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
  U8_NEXT(bytes, at, text.size(), code);
  return code < 0 ? kReplacement : code;
}

void append_code_point(std::string& out, UChar32 code) {
  std::array<char, U8_MAX_LENGTH> bytes{};
  int32_t size = 0;
  U8_APPEND_UNSAFE(bytes.data(), size, code);
  out.append(bytes.data(), static_cast<size_t>(size));
}

// Returns whether the character separates words, by the properties of Unicode that servers use. In
// English, the apostrophe is part of a word.
bool separates_words(UChar32 code, bool is_english) {
  if (code == '\'' && is_english) return false;
  for (const UProperty property :
       {UCHAR_WHITE_SPACE, UCHAR_DASH, UCHAR_HYPHEN, UCHAR_QUOTATION_MARK,
        UCHAR_TERMINAL_PUNCTUATION, UCHAR_PATTERN_SYNTAX, UCHAR_S_TERM}) {
    if (u_hasBinaryProperty(code, property)) return true;
  }
  return false;
}

bool is_turkish(const TextLanguage& language) {
  return language.code == "tr";
}

UChar32 lower_case(UChar32 code, bool turkish) {
  return u_foldCase(code, turkish ? U_FOLD_CASE_EXCLUDE_SPECIAL_I : U_FOLD_CASE_DEFAULT);
}

// Returns the character without diacritics, or nothing if it is a diacritic itself. A character
// that has other marks as well remains as it is.
std::optional<UChar32> without_diacritics(UChar32 code) {
  if (u_hasBinaryProperty(code, UCHAR_DIACRITIC)) return std::nullopt;
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2* const normalizer = unorm2_getNFDInstance(&status);
  std::array<UChar, 32> parts{};
  const int32_t size = unorm2_getDecomposition(normalizer, code, parts.data(),
                                               static_cast<int32_t>(parts.size()), &status);
  if (U_FAILURE(status) != 0 || size <= 0) return code;
  int32_t at = 0;
  UChar32 base = 0;
  U16_NEXT(parts.data(), at, size, base);
  while (at < size) {
    UChar32 mark = 0;
    U16_NEXT(parts.data(), at, size, mark);
    if (!u_hasBinaryProperty(mark, UCHAR_DIACRITIC)) return code;
  }
  return base;
}

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

void remove_diacritics(std::string& text) {
  if (is_ascii(text)) return;
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    const std::optional<UChar32> code = without_diacritics(next_code_point(text, at));
    if (code) append_code_point(plain, *code);
  }
  text = std::move(plain);
}

// Says which ASCII characters separate words.
struct AsciiTable {
  std::array<bool, 128> separates{};
  AsciiTable() {
    for (UChar32 code = 0; code < 128; ++code) {
      separates[static_cast<size_t>(code)] = separates_words(code, false);
    }
  }
};

}  // namespace

struct TextTokenizer::Stemmer {
  struct Deletion {
    void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
  };
  std::unique_ptr<sb_stemmer, Deletion> handle;
};

TextTokenizer::TextTokenizer(const TextLanguage& language) : language_(&language) {
  if (language.stemmer == nullptr) return;
  stemmer_ = std::make_unique<Stemmer>();
  stemmer_->handle.reset(sb_stemmer_new(language.stemmer, "UTF_8"));
}

TextTokenizer::~TextTokenizer() = default;
TextTokenizer::TextTokenizer(TextTokenizer&&) noexcept = default;
TextTokenizer& TextTokenizer::operator=(TextTokenizer&&) noexcept = default;

void TextTokenizer::begin(std::string_view text, TextSensitivity sensitivity) {
  text_ = text;
  at_ = 0;
  sensitivity_ = sensitivity;
}

bool TextTokenizer::read_word() {
  static const AsciiTable ascii;
  const bool is_english = language_->code == "en";
  const bool turkish = is_turkish(*language_);
  word_.clear();
  folded_.clear();
  while (at_ < text_.size()) {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    const size_t begin = at_;
    UChar32 code = byte;
    bool separates = false;
    if (byte < 0x80) {
      ++at_;
      separates = ascii.separates[byte] && !(byte == '\'' && is_english);
    } else {
      code = next_code_point(text_, at_);
      separates = separates_words(code, is_english);
    }
    if (separates) {
      if (!folded_.empty()) return true;
      continue;
    }
    if (sensitivity_.to_case) word_.append(text_.substr(begin, at_ - begin));
    if (byte < 0x80 && !turkish) {
      folded_.push_back(static_cast<char>(byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte));
    } else {
      append_code_point(folded_, lower_case(code, turkish));
    }
  }
  return !folded_.empty();
}

std::optional<std::string_view> TextTokenizer::next() {
  while (read_word()) {
    if (is_stop_word(*language_, folded_)) continue;
    // Diacritics are removed only from the stem, because the stemmer needs them.
    const std::string& word = sensitivity_.to_case ? word_ : folded_;
    term_ = word;
    if (stemmer_ != nullptr && stemmer_->handle != nullptr && word.size() <= kStemmedBytesMax) {
      const sb_symbol* const stem =
          sb_stemmer_stem(stemmer_->handle.get(), reinterpret_cast<const sb_symbol*>(word.data()),
                          static_cast<int>(word.size()));
      if (stem != nullptr) {
        term_.assign(reinterpret_cast<const char*>(stem),
                     static_cast<size_t>(sb_stemmer_length(stemmer_->handle.get())));
      }
    }
    if (!sensitivity_.to_diacritics) remove_diacritics(term_);
    return std::string_view(term_);
  }
  return std::nullopt;
}

std::string folded_text(std::string_view text, TextSensitivity sensitivity,
                        const TextLanguage& language) {
  const bool turkish = is_turkish(language);
  std::string folded;
  folded.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    std::optional<UChar32> code = next_code_point(text, at);
    if (!sensitivity.to_case) code = lower_case(*code, turkish);
    if (!sensitivity.to_diacritics && *code >= 0x80) code = without_diacritics(*code);
    if (code) append_code_point(folded, *code);
  }
  return folded;
}

}  // namespace gridmount::query
