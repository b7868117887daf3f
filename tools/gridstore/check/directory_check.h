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

// Reports the problems that DirectoryProblem lists. A mount creates the documents of all
// directories above an explicit one. A directory without its parent's document appears in no
// listing. `place` names the bucket in the findings.
Status check_directories(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                         const Location& place, Findings& findings);

// One defect of a directory's document.
struct DirectoryProblem {
  enum class Kind {
    kPosix,      // the field `posix` is not a document
    kRoot,       // another document describes the root directory too
    kUnusable,   // the parent or the name is missing or cannot be used
    kDuplicate,  // another document has the same parent and name
    kNoParent,   // the parent directory has no document
  };
  Kind kind;
  std::string what;
  bson::View document;  // valid during the visit
  std::string parent;   // with kNoParent: the path of the parent directory
};

// Passes each defect that check_directories() reports to `visit`, for a repair. Ends with success
// when `visit` returns false. Fails with QueryExceededMemoryLimit if the index is missing and there
// are too many directories to sort them in memory. check_directories() reports this as a finding.
Status find_directory_problems(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                               const std::function<bool(const DirectoryProblem&)>& visit);

}  // namespace gridmount::tools
