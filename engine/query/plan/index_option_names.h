// Knows the names of all index options of servers, including those that are not supported here.
// Source: MongoDB manual, "createIndexes". Thread-safety: a pure function.
#pragma once

#include <string_view>

namespace gridmount::query {

// Returns whether a kind of index has an option with this name, which need not be supported here.
// Other fields in the specifications of old drivers (`safe`, `w`) are not options:
// {ignoreUnknownIndexOptions: true} drops them.
bool is_index_option(std::string_view name);

}  // namespace gridmount::query
