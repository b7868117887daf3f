// Bytes in documents: a string if they are valid UTF-8, else Binary. Other programs can then read
// them as text wherever possible. Pure functions, so thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"

namespace gridmount::gridfs {

// Appends a string if the bytes are UTF-8 without a NUL, else Binary of subtype 0.
void append_bytes(bson::Builder& builder, std::string_view key, std::string_view bytes);
// Do the reverse of append_bytes(). Return nothing if the field is neither string nor Binary. The
// view points into the document.
std::optional<std::string_view> view_bytes(bson::View document, std::string_view key);
std::optional<std::string> read_bytes(bson::View document, std::string_view key);

}  // namespace gridmount::gridfs
