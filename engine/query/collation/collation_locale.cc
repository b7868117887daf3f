#include "engine/query/collation/collation_locale.h"

#include <algorithm>

namespace gridmount::query {
namespace {

// In the order of their bytes.
constexpr std::string_view kLocales[] = {
    "af",      "am",      "ar",  "as",    "az",          "be", "bg", "bn",      "bo",  "bs",
    "bs_Cyrl", "ca",      "chr", "cs",    "cy",          "da", "de", "de_AT",   "dsb", "dz",
    "ee",      "el",      "en",  "en_US", "en_US_POSIX", "eo", "es", "et",      "fa",  "fa_AF",
    "fi",      "fil",     "fo",  "fr",    "fr_CA",       "ga", "gl", "gu",      "ha",  "haw",
    "he",      "hi",      "hr",  "hsb",   "hu",          "hy", "id", "ig",      "is",  "it",
    "ja",      "ka",      "kk",  "kl",    "km",          "kn", "ko", "kok",     "ky",  "lb",
    "lkt",     "ln",      "lo",  "lt",    "lv",          "mk", "ml", "mn",      "mr",  "ms",
    "mt",      "my",      "nb",  "ne",    "nl",          "nn", "om", "or",      "pa",  "pl",
    "ps",      "pt",      "ro",  "ru",    "se",          "si", "sk", "sl",      "smn", "sq",
    "sr",      "sr_Latn", "sv",  "sw",    "ta",          "te", "th", "to",      "tr",  "ug",
    "uk",      "ur",      "vi",  "wae",   "yi",          "yo", "zh", "zh_Hant", "zu"};

// Every locale has these variants.
constexpr std::string_view kVariants[] = {"emoji", "eor", "search"};

// The further variants of some locales, without "collation=".
constexpr std::string_view kFurtherVariants[] = {
    "ar@compat",       "bn@traditional",    "de@phonebook",   "de_AT@phonebook",  "es@traditional",
    "fi@traditional",  "ja@unihan",         "kn@traditional", "ko@searchjl",      "ko@unihan",
    "ln@phonetic",     "si@dictionary",     "sv@standard",    "vi@traditional",   "zh@big5han",
    "zh@gb2312han",    "zh@standard",       "zh@stroke",      "zh@unihan",        "zh@zhuyin",
    "zh_Hant@big5han", "zh_Hant@gb2312han", "zh_Hant@pinyin", "zh_Hant@standard", "zh_Hant@unihan",
    "zh_Hant@zhuyin"};

// The locales that normalize strings by default, because their letters may carry several marks. In
// the order of their bytes.
constexpr std::string_view kNormalizing[] = {"as", "bn", "el", "fa",  "fa_AF", "gu", "he", "hi",
                                             "ig", "km", "kn", "kok", "mr",    "my", "or", "pa",
                                             "ps", "si", "ta", "te",  "th",    "vi", "yi", "yo"};

}  // namespace

LocaleDefaults defaults_of_locale(std::string_view locale) {
  const size_t at = locale.find('@');
  const std::string_view language = locale.substr(0, at);
  LocaleDefaults defaults;
  if (at == std::string_view::npos) {
    defaults.upper_first = language == "da" || language == "mt";
    defaults.shifted = language == "th";
    defaults.backwards = language == "fr_CA";
  } else if (locale.ends_with("=search") || locale.ends_with("=searchjl")) {
    defaults.normalization = true;
    return defaults;
  } else if (locale.ends_with("=emoji") || locale.ends_with("=eor")) {
    return defaults;
  }
  defaults.normalization = std::ranges::binary_search(kNormalizing, language);
  return defaults;
}

bool is_collation_locale(std::string_view locale) {
  constexpr std::string_view kKeyword = "@collation=";
  const size_t at = locale.find('@');
  const std::string_view language = locale.substr(0, at);
  if (!std::ranges::binary_search(kLocales, language)) return false;
  if (at == std::string_view::npos) return true;
  if (!locale.substr(at).starts_with(kKeyword)) return false;
  const std::string_view variant = locale.substr(at + kKeyword.size());
  if (std::ranges::find(kVariants, variant) != std::end(kVariants)) return true;
  return std::ranges::any_of(kFurtherVariants, [&](std::string_view known) {
    return known.size() == language.size() + 1 + variant.size() && known.starts_with(language) &&
           known[language.size()] == '@' && known.ends_with(variant);
  });
}

}  // namespace gridmount::query
