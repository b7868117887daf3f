// Filters for all paths below a directory. Pure functions, so thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/document.h"

namespace gridmount::gridfs {

// Returns the first string after all that begin with `path` and a slash. '0' is the byte after
// '/'.
inline std::string end_of_names_below(std::string_view path) {
  return std::string(path) + "0";
}

// Returns {`field`: {$gte: "path/", $lt: "path0"}}, or {`field`: {$gte: ""}} for the root.
bson::Document names_below(std::string_view field, std::string_view path);
// Returns the filter of those paths that are greater than `from`, or equal to it if `inclusive`:
// {`field`: {$gt or $gte: from, ...}}.
bson::Document names_below_from(std::string_view field, std::string_view path,
                                std::string_view from, bool inclusive);

}  // namespace gridmount::gridfs
