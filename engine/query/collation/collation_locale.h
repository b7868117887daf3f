// The locales that a collation may name. MongoDB knows those of its own copy of ICU, version 57.1,
// and no others: {locale: "fr"} is one and {locale: "fr_FR"} is not. This list is that of mongod
// 6.0.5. The system's ICU has more, which are not accepted, so that a collation that works here
// works on a server too.
//
// Thread-safety: a pure function.
#pragma once

#include <string_view>

namespace gridmount::query {

// Returns whether a collation may name this locale: "de", "fr_CA", "de@collation=phonebook".
bool is_collation_locale(std::string_view locale);

// The options that a locale has by default, where they differ from those of most locales.
struct LocaleDefaults {
  bool upper_first = false;  // caseFirst: "upper"
  bool shifted = false;      // alternate: "shifted"
  bool normalization = false;
  bool backwards = false;
};
// Returns the defaults of a locale, which are those of mongod 6.0.5 for the collation of a command
// or an index. Collections have only that of `backwards` (Collation::parse_of_collection()).
LocaleDefaults defaults_of_locale(std::string_view locale);

}  // namespace gridmount::query
