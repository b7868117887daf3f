// Finds the indexes that GridFS, directories and links need and that a bucket does not have.
//
// Thread-safe: functions without state.
#pragma once

#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/findings.h"

namespace gridmount::tools {

// Reports the indexes that the bucket's collections lack. A collection that does not exist lacks
// none.
Status check_indexes(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                     const Location& place, Findings& findings);

struct MissingIndex {
  std::string collection;
  engine::IndexDefinition definition;
  std::string what;  // description for messages
};
// Returns the indexes that check_indexes() reports.
Result<std::vector<MissingIndex>> missing_indexes(const gridfs::Bucket& bucket,
                                                  engine::Snapshot& snapshot);

}  // namespace gridmount::tools
