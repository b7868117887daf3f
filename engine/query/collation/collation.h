// A collation: the rules of a language for the comparison of strings, as a command gives them in
// {collation: {locale: "en", strength: 2}}. collator.h compares strings by a collation.
//
// Source: MongoDB manual, "Collation". The error codes and messages are those of servers.
//
// Thread-safety: a plain value type. The functions are pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

struct Collation {
  // The version that a collation names. MongoDB servers have a copy of ICU 57.1, show this version
  // in every collation, and refuse any other. gridmount compares strings with the system's ICU,
  // which orders a few characters differently. gridmount still names 57.1, so that a collation from
  // a server is valid here, and a collation from here is valid on a server.
  static constexpr std::string_view kVersion = "57.1";
  // The limit for the length of a locale's name, in bytes. A longer name is refused.
  static constexpr size_t kLocaleBytesMax = 64;

  std::string locale;
  bool case_level = false;
  std::string case_first = "off";  // or "upper", "lower"
  int32_t strength = 3;            // 1 to 5
  bool numeric_ordering = false;
  std::string alternate = "non-ignorable";  // or "shifted"
  std::string max_variable = "punct";       // or "space"
  bool normalization = false;
  std::optional<bool> backwards = {};  // unset: ICU's default for the locale; parse() sets it

  // Parses a collation, and fills in the defaults of its locale (collation_locale.h). Fields that
  // are null or undefined count as absent. Returns nullopt for {locale: "simple"}, which means that
  // strings are compared as bytes. Fails with the codes of servers:
  // - TypeMismatch (14) for a field of a wrong type.
  // - BadValue (2) for a value that is not allowed, for a locale that is_collation_locale() does
  //   not know, or for options that contradict each other.
  // - 51024 for a strength that is less than 0 or greater than 5 (0 fails with BadValue).
  // - 40414 if there is no locale.
  // - 40415 for an unknown field.
  // - IncompatibleCollationVersion (161) for a version other than kVersion, unless the locale is
  //   "simple".
  static Result<std::optional<Collation>> parse(bson::View specification);
  // Like parse(), but takes only the default of `backwards` from the locale. Servers do this for
  // the options of a new collection or view, so use it for these.
  static Result<std::optional<Collation>> parse_of_collection(bson::View specification);

  // Returns the collation with all its fields, as explain shows it. An unset `backwards` is shown
  // as false. parse() accepts this document.
  bson::Document document() const;

  friend bool operator==(const Collation&, const Collation&) = default;
};

}  // namespace gridmount::query
