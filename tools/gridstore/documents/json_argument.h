// Arguments that hold JSON: the text itself, `-` for standard input, or `@FILE` for a file.
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

// Returns the document of the argument, which is Extended JSON, or an empty one for an empty
// argument. `what` names the argument in messages ("the filter"). Fails with FailedToParse for
// other text, and with the errors of InputFile.
Result<bson::Document> document_argument(std::string_view what, const std::string& argument);

// Returns the elements of the array that the argument is, as bson::array_from_json() does.
Result<bson::Document> array_argument(std::string_view what, const std::string& argument);

}  // namespace gridmount::tools
