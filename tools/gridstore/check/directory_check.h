// Checks the documents of a bucket's directories (`<bucket>.directories`); see gridfs/NAMESPACE.md.
//
// Thread-safe: functions without state.
#pragma once

#include <functional>
#include <string>

#include "engine/bson/document.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/findings.h"

namespace gridmount::tools {

// Reports the problems that DirectoryProblem lists, and documents that cannot be read. `place`
// names the bucket in the findings.
Status check_directories(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                         const Location& place, Findings& findings);

// One defect of a directory's document.
struct DirectoryProblem {
  enum class Kind {
    kPosix,      // the field `posix` is not a document
    kRoot,       // an earlier document describes the root directory too
    kUnusable,   // the parent or the name is missing or cannot be used
    kDuplicate,  // an earlier document has the same parent and name
    // The parent directory has no document, although a mount makes documents for all directories
    // above an explicit directory (NAMESPACE.md). The directory then appears in no listing.
    kNoParent,
  };
  Kind kind;
  std::string what;
  bson::View document;  // valid during the visit
  std::string parent;   // with kNoParent: the path of the parent directory
};

// For a repair: calls `visit` for each defect of a document that can be read. When `visit` returns
// false, ends with success after this document, but may still pass further defects of this
// document. Fails with QueryExceededMemoryLimit if the index on parent and name is missing and
// there are too many directories to sort them in memory. check_directories() reports this as a
// finding.
Status find_directory_problems(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                               const std::function<bool(const DirectoryProblem&)>& visit);

}  // namespace gridmount::tools
