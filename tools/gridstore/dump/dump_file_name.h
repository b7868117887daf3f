// The names of a dump's files, as mongodump forms them. The name of the collection is escaped as in
// the query of a URL. If the escaped name is too long for a file system, it is truncated, and a
// digest of the whole name is appended. Then only the content of the metadata file has the full
// name.
//
// Thread-safe: functions without state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace gridmount::tools {

inline constexpr std::string_view kDocumentsSuffix = ".bson";
inline constexpr std::string_view kMetadataSuffix = ".metadata.json";
inline constexpr std::string_view kGzipSuffix = ".gz";

// Returns the name without suffix, at most 238 bytes. Fails with InternalError if the name needs a
// digest and OpenSSL refuses SHA-1.
Result<std::string> dump_file_name(std::string_view collection);

// Returns true if `stem`, a file name without its suffixes, was truncated, so that the collection's
// name cannot be read from it.
bool is_cut_name(std::string_view stem);
// Returns the collection's name, or nothing if the text is not an escaped name.
std::optional<std::string> collection_of_stem(std::string_view stem);

}  // namespace gridmount::tools
