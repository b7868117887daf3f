// Copies a file of the bucket to a new file of the bucket.
//
// Not thread-safe: for a command's main thread.
#pragma once

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/value.h"
#include "tools/gridfiles/command.h"

namespace gridmount::tools {

// Copies the file whose files document is `source`. The copy has the filename `name`, a new _id,
// and the source's content, chunkSize (at most kMaxChunkBytes), contentType, aliases and metadata.
// Its uploadDate is the present time, but not before `upload_date_min`. A contentType that is not a
// string, and metadata that are not a document, are not copied. Returns the new _id. The copy is
// durable if --writeConcern asks for it. After an error, the bucket has no such file, and the
// chunks of the copy are removed. If the removal fails, the next start of a program removes them.
//
// The copy has no holes and no additional names. So the fields of `metadata` in which a mount
// describes the source's chunks and additional names are not copied. `aliases` are not copied in a
// bucket where they are names of files (gridfs/namespace/aliases.h). Fails with kInterrupted after
// a signal.
Result<bson::Value> copy_file(const CommandContext& context, bson::View source,
                              const std::string& name,
                              std::optional<bson::Date> upload_date_min = {});

}  // namespace gridmount::tools
