// Media types of files.
//
// Thread-safe: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace gridmount::http {

// Returns the value of Content-Type for a file. `recorded` is the type in the file's files
// document. Returns `recorded` if this is a media type in ASCII of at most 255 bytes. Otherwise
// returns the type that belongs to the extension of `name`, and ignores the case of the extension.
// If the extension is unknown, returns application/octet-stream.
std::string media_type_of(const std::optional<std::string>& recorded, std::string_view name);

// Returns true if a browser that opens a file of this type may run scripts in it.
bool may_have_scripts(std::string_view media_type);

}  // namespace gridmount::http
