// Moves the names below a directory, as part of the move of that directory.
//
// Stateless, so thread-safe.
#pragma once

#include <functional>
#include <string>

#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::gridfs {

// Makes the directory that was moved to `path` explicit, unless it is explicit already, so that it
// keeps its Node::ino. `implied` is the node of the directory before the move. The function must
// obey S6 of engine/store.h.
using KeepIno = std::function<Status(const Node& implied, const std::string& path)>;

// Changes all filenames below `from` to filenames below `to`, a bounded number at a time. Calls
// `keep_ino` for each directory below `from` that these filenames imply. The times of the files do
// not change. Does not move the documents of directories (DirectoryStore::move()) or additional
// names (Links::move_below()).
Status move_filenames_below(const Bucket& bucket, const NamespaceOptions& options,
                            engine::Transaction& transaction, const std::string& from,
                            const std::string& to, const KeepIno& keep_ino);

}  // namespace gridmount::gridfs
