// The nodes of a bucket that targets lead to.
//
// Thread-safe: functions without state.
#pragma once

#include <memory>
#include <string>

#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/path_namespace.h"
#include "http/target.h"

namespace gridmount::http {

// Returns true if the mode is that of a regular file.
bool is_regular(uint32_t mode);

// Returns the node of the target, whose first component is the bucket's name. Fails with
// NoSuchEntry if the path leads nowhere, or to a file although it ends with a slash, and with the
// errors of PathNamespace.
Result<gridfs::Node> find_node(gridfs::PathNamespace& paths, const Target& target);

// Reads the files document. Fails with FileNotFound.
Result<gridfs::FilesDocument> read_file(const gridfs::Bucket& bucket, bson::ValueView id);

// Returns the bucket, which keeps the namespace alive.
std::shared_ptr<const gridfs::Bucket> bucket_of(std::shared_ptr<gridfs::PathNamespace> paths);

}  // namespace gridmount::http
