// The destination of a dump: a folder with two files for each collection, or an archive.
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
  // These three write the collections in the order in which they were given. For each collection,
  // call begin(), then write() for each document, then end().
  virtual Status begin(const DumpedCollection& collection) = 0;
  virtual Status write(bson::View document) = 0;
  virtual Status end() = 0;
  // Must be called after the last collection. Without it an archive file does not appear.
  virtual Status finish() = 0;
  // Returns the destination of the current collection, for messages.
  virtual const std::string& place() const = 0;

  DumpTarget(const DumpTarget&) = delete;
  DumpTarget& operator=(const DumpTarget&) = delete;

 protected:
  DumpTarget() = default;
};

// Writes the layout of mongodump: <root>/<database>/<collection>.bson and .metadata.json, and at
// the end prelude.json with `origin`. prelude.json is in `root`, or in the folder of the database
// if `only` names the single database of the dump. Existing files are replaced, each when the new
// one is complete.
std::unique_ptr<DumpTarget> dump_to_folder(std::filesystem::path root, std::string only, bool gzip,
                                           DumpOrigin origin);

// Writes the prelude of the archive at once. An empty path means standard output.
Result<std::unique_ptr<DumpTarget>> dump_to_archive(const std::filesystem::path& file, bool gzip,
                                                    const DumpOrigin& origin,
                                                    std::span<const DumpedCollection> collections);

}  // namespace gridmount::tools
