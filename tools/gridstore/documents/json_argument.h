// Arguments with JSON: the text itself, `-` for standard input, or `@FILE` for a file.
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::tools {

// The longest text of an argument in a file or on standard input.
inline constexpr uint64_t kJsonArgumentBytesMax = 64 * 1024 * 1024;

// Parses an argument that is a document in Extended JSON. An empty argument gives an empty
// document. `what` names the argument in messages ("the filter"). Both functions fail as
// bson::document_from_json() does, with FailedToParse for text that is too long, and with the
// errors of InputFile.
Result<bson::Document> document_argument(std::string_view what, const std::string& argument);

// Parses an argument that is an array in Extended JSON. Returns its elements in the form of
// bson::array_from_json().
Result<bson::Document> array_argument(std::string_view what, const std::string& argument);

}  // namespace gridmount::tools
