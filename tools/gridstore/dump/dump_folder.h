// Lists the files of a dump and reads their metadata.
//
// Thread-safe: a function without state.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "tools/gridstore/dump/restore_item.h"

namespace gridmount::tools {

// The folder of `gridstore dump` and `restore` if the command line names none. mongodump uses the
// same name.
inline constexpr const char* kDefaultDumpFolder = "dump";

struct DumpFolder {
  std::vector<RestoreItem> items;  // sorted by folder, then by file name without suffix
  // One line for each file that is skipped, except for prelude.json and for files that the caller
  // did not want (`names` of read_dump_folder()).
  std::vector<std::string> notices;
  // One line for each file that should be restored but cannot be.
  std::vector<std::string> problems;
};

struct DumpFolderOptions {
  // The root of the dump, with a folder for each database. If `database` is set, this may also be
  // that database's folder itself. The path may also be the file of one collection's documents:
  // NAME.bson, or with `gzip` NAME.bson.gz.
  std::filesystem::path path;
  // The only database that is read, or, if `path` is a file, the name of the file's database. If
  // empty: all databases of the root, or, if `path` is a file, the name of the file's folder.
  std::string database;
  // Used only if `path` is a file: the name of the file's collection. If empty: the collection's
  // name is taken from the file's name, or, if the file's name is truncated, from the metadata
  // (dump_file_name.h).
  std::string collection;
  bool gzip = false;  // the files are compressed, and their names end in ".gz"
};

// Lists the collections that `names` selects, and reads their metadata. Fails with NonExistentPath
// if `path` does not exist, with BadValue if it is neither a folder nor a file of a dump, and with
// the system's error if a folder cannot be read.
Result<DumpFolder> read_dump_folder(const DumpFolderOptions& options, const RestoreNames& names);

}  // namespace gridmount::tools
