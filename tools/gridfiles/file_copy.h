// Copies a file of the bucket to a new file of the bucket.
//
// Not thread-safe: gridfiles runs a command on one thread.
#pragma once

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "tools/gridfiles/command.h"

namespace gridmount::tools {

// Stores a file `name` with a new _id, the present uploadDate or `upload_date_min`, and the
// content, chunkSize, contentType, aliases and metadata of the file with that files document.
// Returns the new _id. The copy is durable if --writeConcern asks for it. If it fails, it leaves
// nothing in the bucket. `metadata` that is not a document is not copied.
//
// What a mount keeps in `metadata` about the source's own chunks and names is left out: the copy
// has no holes and no additional names. For the same reason `aliases` are left out in a bucket
// where they are names of files (gridfs/namespace/aliases.h). Fails with kInterrupted after a
// signal.
Result<bson::Value> copy_file(const CommandContext& context, bson::View source,
                              const std::string& name,
                              std::optional<bson::Date> upload_date_min = {});

}  // namespace gridmount::tools
