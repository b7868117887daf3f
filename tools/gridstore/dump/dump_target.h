// The destination of a dump: a folder or an archive. In a folder, each collection has a file of
// documents and a file of metadata. A view has only the file of metadata.
//
// Not thread-safe.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "tools/gridstore/dump/archive_format.h"
#include "tools/gridstore/dump/dump_content.h"

namespace gridmount::tools {

class DumpTarget {
 public:
  virtual ~DumpTarget() = default;
  // For each collection, the caller must call begin(), then write() for each document, then end().
  // For a view, it must call only begin() and end(). The collections must come in the order in
  // which dump_to_archive() got them.
  virtual Status begin(const DumpedCollection& collection) = 0;
  virtual Status write(bson::View document) = 0;
  virtual Status end() = 0;
  // Must be called after the last collection. In a folder, writes prelude.json. Makes all files of
  // the dump durable. Without this call, the file of an archive does not appear.
  virtual Status finish() = 0;
  // Returns the path of the current collection's file or of the archive, for messages.
  virtual const std::string& place() const = 0;

  DumpTarget(const DumpTarget&) = delete;
  DumpTarget& operator=(const DumpTarget&) = delete;

 protected:
  DumpTarget() = default;
};

// Returns a target that writes the files of mongodump: <root>/<database>/<collection>.bson and
// <collection>.metadata.json for each collection, and prelude.json with `origin`. `only` is the
// name of the dump's only database, or empty if there may be several databases. prelude.json is in
// the folder of that database, or in `root`. With `gzip`, each file is compressed, and its name
// ends with ".gz". A file that exists already is replaced when the new file is complete.
std::unique_ptr<DumpTarget> dump_to_folder(std::filesystem::path root, std::string only, bool gzip,
                                           DumpOrigin origin);

// Returns a target that writes an archive to `file`, or to standard output if `file` is empty.
// `collections` must be all collections of the dump, because this function already writes the
// prelude. Fails as OutputFile::create() and ArchiveWriter::write_prelude() do.
Result<std::unique_ptr<DumpTarget>> dump_to_archive(const std::filesystem::path& file, bool gzip,
                                                    const DumpOrigin& origin,
                                                    std::span<const DumpedCollection> collections);

}  // namespace gridmount::tools
