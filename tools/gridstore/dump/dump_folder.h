// Reads the contents of a dump's folder.
//
// Thread-safe: a function without state.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "tools/gridstore/dump/restore_item.h"

namespace gridmount::tools {

// The folder that dump writes and restore reads if none is named, as mongodump's.
inline constexpr const char* kDefaultDumpFolder = "dump";

struct DumpFolder {
  std::vector<RestoreItem> items;  // sorted by name
  // One line for each file that is skipped, except those that `names` excludes.
  std::vector<std::string> notices;
  // One line for each file that should be restored but cannot be.
  std::vector<std::string> problems;
};

struct DumpFolderOptions {
  // The root of the dump, with a folder for each database. Also accepted: the folder of one
  // database, if `database` is set; and the `.bson` file of one collection, in a folder with the
  // database's name.
  std::filesystem::path path;
  std::string database;    // empty: all, or for a file the name of its folder
  std::string collection;  // of a file; empty: the name of the file
  bool gzip = false;
};

// Reads the metadata of the wanted collections. Fails if `path` is neither a folder nor a file of a
// dump.
Result<DumpFolder> read_dump_folder(const DumpFolderOptions& options, const RestoreNames& names);

}  // namespace gridmount::tools
