// The locales that a collation may name. MongoDB accepts only the locales of its own copy of ICU,
// version 57.1: {locale: "fr"} is valid, but {locale: "fr_FR"} is not. The list is the list of
// mongod 6.0.5. The system's ICU has more locales. They are not accepted, so that a collation that
// works here also works on a server.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

namespace gridmount::query {

// Returns whether a collation may name this locale: "de", "fr_CA", "de@collation=phonebook".
bool is_collation_locale(std::string_view locale);

// The defaults of a locale, for the options whose defaults differ between locales.
struct LocaleDefaults {
  bool upper_first = false;  // caseFirst: "upper"
  bool shifted = false;      // alternate: "shifted"
  bool normalization = false;
  bool backwards = false;
};
// Returns the defaults of a locale, which are those of mongod 6.0.5 for the collation of a command
// or an index. For a collection, only the default of `backwards` applies
// (Collation::parse_of_collection()).
LocaleDefaults defaults_of_locale(std::string_view locale);

}  // namespace gridmount::query
