// Stores a local file in the bucket, for put, put_id and sync_put.
//
// Thread-safe: a function without state.
#pragma once

#include <time.h>

#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "tools/gridfiles/command.h"

namespace gridmount::tools {

struct LocalSource {
  std::string path;                    // "-": stdin
  std::string name;                    // the filename in GridFS
  std::optional<bson::Value> id = {};  // default: a new ObjectId
  std::optional<timespec> mtime = {};  // if set, stored as metadata.posix.mtime
};

// Stores the file with the options of put, and logs this as mongofiles does. If the upload fails,
// nothing of the file stays in the bucket, and with --replace the older files stay. If the removal
// of its chunks fails too, the next start of a program removes them. If the removal of the older
// files fails, the new file and the older files that are not yet removed stay.
Status store_file(const CommandContext& context, const LocalSource& source);

}  // namespace gridmount::tools
