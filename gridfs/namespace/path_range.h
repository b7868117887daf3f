// Filters for all paths below a directory. Pure functions, so thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/document.h"

namespace gridmount::gridfs {

// Returns the least string that is greater than every string that begins with `path` and a slash.
// '0' is the byte after '/'.
inline std::string end_of_names_below(std::string_view path) {
  return std::string(path) + "0";
}

// Returns {`field`: {$gte: "path/", $lt: "path0"}}, or {`field`: {$gte: ""}} for the root.
bson::Document names_below(std::string_view field, std::string_view path);
// Returns {`field`: {$gt or $gte: from, $lt: "path0"}}, a filter for the strings from `from` up to
// the last name below `path`. It leaves `from` itself out unless `inclusive` is set. If `from` is
// less than "path/", the filter also matches strings that are not names below `path`. For the root
// there is no upper limit.
bson::Document names_below_from(std::string_view field, std::string_view path,
                                std::string_view from, bool inclusive);

}  // namespace gridmount::gridfs
