// The options that indexes have at all, here or on servers.
// Source: MongoDB manual, "createIndexes".
// Thread-safety: a pure function.
#pragma once

#include <string_view>

namespace gridmount::query {

// Whether a specification's field is one that some kind of index has, supported here or not. What
// old drivers left in it besides (`safe`, `w`) is none: {ignoreUnknownIndexOptions: true} drops it.
bool is_index_option(std::string_view name);

}  // namespace gridmount::query
