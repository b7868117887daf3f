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

  // Fails with BSONObjectTooLarge if a collection's metadata are so large that no reader would
  // accept them.
  Status write_prelude(const DumpOrigin& origin, std::span<const ArchivedCollection> collections);
  // Each collection of the prelude must be written: begin(), write() for each document, end().
  // Views, which have no documents, must be written too.
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
