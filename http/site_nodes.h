// Finds the nodes of a bucket to which targets lead.
//
// Thread-safe: functions without state.
#pragma once

#include <memory>
#include <string>

#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/path_namespace.h"
#include "http/target.h"

namespace gridmount::http {

// Returns true for the mode of a regular file, and for a mode without type bits (S_IFMT).
bool is_regular(uint32_t mode);
// Returns true if the file is a regular file in the namespace: see gridfs::mode_of_file().
bool is_regular(const gridfs::FilesDocument& file);

// Returns the node of the target. The target's first component must be the bucket's name. Fails
// with kNoSuchEntry if the path leads nowhere, or if the path ends with a slash but leads to no
// directory. Also fails as PathNamespace::lookup() does.
Result<gridfs::Node> find_node(gridfs::PathNamespace& paths, const Target& target);

// Reads the files document. Fails with kFileNotFound if there is none, and with
// kInvalidFilesDocument if it is invalid.
Result<gridfs::FilesDocument> read_file(const gridfs::Bucket& bucket, bson::ValueView id);

// Returns the bucket of the namespace. The pointer keeps the namespace alive.
std::shared_ptr<const gridfs::Bucket> bucket_of(std::shared_ptr<gridfs::PathNamespace> paths);

}  // namespace gridmount::http
