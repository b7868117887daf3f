// What there is in the folder of a dump.
//
// Thread-safety: a function without state.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "tools/gridstore/dump/restore_item.h"

namespace gridmount::tools {

struct DumpFolder {
  std::vector<RestoreItem> items;     // in the order of their names
  std::vector<std::string> notices;   // of files that are passed over, but not by `names`
  std::vector<std::string> problems;  // of files that should have been restored and cannot be
};

struct DumpFolderOptions {
  // The dump's root, with a folder for each database; with `database` also that database's own
  // folder; or the `.bson` file of one collection, whose folder has its database's name.
  std::filesystem::path path;
  std::string database;    // empty: all, or as the file's place says
  std::string collection;  // of a file, if it is not to be as the file's name says
  bool gzip = false;
};

// Reads the metadata of what is wanted. An error if `path` is neither.
Result<DumpFolder> read_dump_folder(const DumpFolderOptions& options, const RestoreNames& names);

}  // namespace gridmount::tools
