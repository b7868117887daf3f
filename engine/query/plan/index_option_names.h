// The names of all index options of servers, including options that are not supported here. Source:
// MongoDB manual, "createIndexes". Thread-safety: a pure function.
#pragma once

#include <string_view>

namespace gridmount::query {

// Returns whether servers know an index option with this name, for any kind of index. This project
// need not support the option. `v`, `key`, `name` and `ns` count as options. The fields `safe` and
// `w`, which old drivers send, are not options. createIndexes drops fields that are not options if
// its argument ignoreUnknownIndexOptions is true.
bool is_index_option(std::string_view name);

}  // namespace gridmount::query
