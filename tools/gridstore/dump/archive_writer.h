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
  // `file` must outlive the writer. The writer does not finish the file: after the last collection,
  // the caller must call OutputFile::finish().
  explicit ArchiveWriter(OutputFile& file) : file_(file) {}

  // Must be called first. Fails with BSONObjectTooLarge if the options and indexes of a collection
  // do not fit into one document. All functions also fail as OutputFile::write() does.
  Status write_prelude(const DumpOrigin& origin, std::span<const ArchivedCollection> collections);
  // Must be called for each collection of the prelude, one collection after the other: begin(),
  // then write() for each document, then end(). A view has no documents, but begin() and end() must
  // be called for it, too.
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
