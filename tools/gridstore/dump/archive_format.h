// The format of mongodump's archives, version 0.1. All numbers are little-endian. The magic number
// and each mark have 4 bytes.
//
//   archive = magic number, prelude, block*
//   prelude = header document {concurrent_collections, version, server_version, tool_version},
//             a document {db, collection, metadata, size, type} for each collection, mark
//   block   = header document {db, collection, EOF: false, CRC: 0}, the documents, mark
//           | header document {db, collection, EOF: true, CRC: of the collection's documents}, mark
//
// Blocks of several collections may alternate. Each collection of the prelude ends with a block of
// the second kind (EOF: true). `metadata` has the text that a dump in a folder has in the metadata
// file (metadata_file.h).
//
// The constants may be used by any thread. The types are plain values and not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/store.h"

namespace gridmount::tools {

inline constexpr uint32_t kArchiveMagic = 0x8199E26D;
inline constexpr uint32_t kArchiveMark = 0xFFFFFFFF;
inline constexpr std::string_view kArchiveVersion = "0.1";

// A collection in the prelude.
struct ArchivedCollection {
  engine::Namespace ns;
  std::string metadata;  // empty: none
  std::string type;      // "collection", "view", "timeseries"; empty in old archives
};

// The versions of the programs that made a dump.
struct DumpOrigin {
  std::string server_version;
  std::string tool_version;
};

}  // namespace gridmount::tools
