// Writes an archive (see archive_format.h): first the prelude, then one collection after the other.
//
// Not thread-safe.
#pragma once

#include <span>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "tools/gridstore/dump/archive_format.h"
#include "tools/gridstore/dump/crc64.h"
#include "tools/gridstore/dump/output_file.h"

namespace gridmount::tools {

class ArchiveWriter {
 public:
  // `file` must outlive the writer. The caller calls finish() on it.
  explicit ArchiveWriter(OutputFile& file) : file_(file) {}

  // Fails with BSONObjectTooLarge for metadata that are too large for a reader.
  Status write_prelude(const DumpOrigin& origin, std::span<const ArchivedCollection> collections);
  // All collections of the prelude must be written one at a time, including views, which have no
  // documents.
  Status begin(const engine::Namespace& ns);
  Status write(bson::View document);
  Status end();

 private:
  Status write_header(bool at_end, uint64_t crc);
  Status write_mark();

  OutputFile& file_;
  engine::Namespace ns_;
  Crc64 crc_;
};

}  // namespace gridmount::tools
