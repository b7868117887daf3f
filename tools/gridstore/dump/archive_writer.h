// Writes an archive, see archive_format.h: the prelude first, then one collection after the other.
//
// Thread-safety: one thread at a time.
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
  // `file` outlives it and is finished by the caller.
  explicit ArchiveWriter(OutputFile& file) : file_(file) {}

  // BSONObjectTooLarge for metadata that no reader would take.
  Status write_prelude(const DumpOrigin& origin, std::span<const ArchivedCollection> collections);
  // All of the prelude, views too, one at a time.
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
