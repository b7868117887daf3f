// How the files of a dump are named, as mongodump does: a collection's name is escaped as in the
// query of a URL; a name that gets too long for a file system is cut, with a digest of the whole
// behind it, and then stands in full in the metadata file alone.
//
// Thread-safety: functions without state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace gridmount::tools {

inline constexpr std::string_view kDocumentsSuffix = ".bson";
inline constexpr std::string_view kMetadataSuffix = ".metadata.json";
inline constexpr std::string_view kGzipSuffix = ".gz";

// Without suffix; at most 238 bytes. InternalError where OpenSSL refuses SHA-1 and the name needs
// it.
Result<std::string> dump_file_name(std::string_view collection);

// A file's name without its suffixes has been cut: it does not tell the collection's.
bool is_cut_name(std::string_view stem);
// The collection's name; nothing if the text is no escaped one.
std::optional<std::string> collection_of_stem(std::string_view stem);

}  // namespace gridmount::tools
