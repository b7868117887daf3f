// The indexes that GridFS and the path namespace need.
#pragma once

#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/findings.h"

namespace gridmount::tools {

// Reports those that a collection of the bucket lacks. A collection that does not exist lacks none.
Status check_indexes(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Place& place,
                     Findings& findings);

struct MissingIndex {
  std::string collection;
  engine::IndexDefinition definition;
  std::string what;  // in words
};
Result<std::vector<MissingIndex>> missing_indexes(const gridfs::Bucket& bucket,
                                                  engine::Snapshot& snapshot);

}  // namespace gridmount::tools
