// Stores bytes in documents: as a string if they are UTF-8 without a NUL, otherwise as Binary.
// Other programs can then read the bytes as text wherever possible. Functions without state, so
// thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"

namespace gridmount::gridfs {

// Appends a string if the bytes are UTF-8 without a NUL, otherwise Binary of subtype 0.
void append_bytes(bson::Builder& builder, std::string_view key, std::string_view bytes);
// Do the reverse of append_bytes(). Return nothing if the field is missing or is neither a string
// nor Binary. The view points into the document.
std::optional<std::string_view> view_bytes(bson::View document, std::string_view key);
std::optional<std::string> read_bytes(bson::View document, std::string_view key);

}  // namespace gridmount::gridfs
