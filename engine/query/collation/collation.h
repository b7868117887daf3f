// A collation: the rules by which strings are compared for the speakers of a language, as a command
// gives them in {collation: {locale: "en", strength: 2}}. collator.h compares strings by them.
//
// Source: MongoDB manual, "Collation". The codes and messages of mistakes are those of servers.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

struct Collation {
  // The version that collations name. Servers have their own copy of ICU 57.1, show its version in
  // every collation, and refuse any other. Strings are compared here by the system's ICU, whose
  // order of a few characters differs, but a collation that a driver has read from one server must
  // be accepted by the other. So both name this version.
  static constexpr std::string_view kVersion = "57.1";
  // The longest locale.
  static constexpr size_t kLocaleBytesMax = 64;

  std::string locale;
  bool case_level = false;
  std::string case_first = "off";  // or "upper", "lower"
  int32_t strength = 3;            // 1 to 5
  bool numeric_ordering = false;
  std::string alternate = "non-ignorable";  // or "shifted"
  std::string max_variable = "punct";       // or "space"
  bool normalization = false;
  std::optional<bool> backwards = {};  // unset: ICU's default for the locale

  // Parses a collation, and fills in the defaults of its locale (collation_locale.h). Returns
  // nothing for {locale: "simple"}, with which strings are compared as bytes. Fails with
  // TypeMismatch (14), BadValue (2), 51024, 40414 or 40415 for a field with a wrong value, without
  // a locale or with an unknown field, with BadValue for a locale that is_collation_locale() does
  // not know or options that contradict each other, and with IncompatibleCollationVersion (161) for
  // a version other than kVersion.
  static Result<std::optional<Collation>> parse(bson::View specification);

  // Returns the collation with all its fields, as listCollections and listIndexes show it. parse()
  // reads this document again.
  bson::Document document() const;

  friend bool operator==(const Collation&, const Collation&) = default;
};

}  // namespace gridmount::query
