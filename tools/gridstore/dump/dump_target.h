// Where a dump goes: a folder with two files for each collection, or an archive.
//
// Thread-safety: one thread at a time.
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
  // The collections come in the order in which they were given, each with its documents.
  virtual Status begin(const DumpedCollection& collection) = 0;
  virtual Status write(bson::View document) = 0;
  virtual Status end() = 0;
  // After the last one. Without it an archive in a file does not appear.
  virtual Status finish() = 0;
  // For messages: where the collection begun last goes.
  virtual const std::string& place() const = 0;

  DumpTarget(const DumpTarget&) = delete;
  DumpTarget& operator=(const DumpTarget&) = delete;

 protected:
  DumpTarget() = default;
};

// mongodump's layout: <root>/<database>/<collection>.bson and .metadata.json, and last of all
// prelude.json with `origin`: in `root`, or in the folder of the `only` database that is dumped.
// Files of these names are replaced, each when it is complete.
std::unique_ptr<DumpTarget> dump_to_folder(std::filesystem::path root, std::string only, bool gzip,
                                           DumpOrigin origin);

// Writes the archive's prelude at once. An empty path is standard output.
Result<std::unique_ptr<DumpTarget>> dump_to_archive(const std::filesystem::path& file, bool gzip,
                                                    const DumpOrigin& origin,
                                                    std::span<const DumpedCollection> collections);

}  // namespace gridmount::tools
