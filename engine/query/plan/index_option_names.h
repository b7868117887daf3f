// The names of all index options, supported here or by servers only. Source: MongoDB manual,
// "createIndexes". Thread-safety: a pure function.
#pragma once

#include <string_view>

namespace gridmount::query {

// Returns whether the name is an option of some kind of index, supported here or not. Other fields
// that old drivers leave in a specification (`safe`, `w`) are not options.
// {ignoreUnknownIndexOptions: true} drops them.
bool is_index_option(std::string_view name);

}  // namespace gridmount::query
