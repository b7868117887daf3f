// The documents of a bucket's folders (`<bucket>.directories`), see gridfs/NAMESPACE.md.
#pragma once

#include <functional>
#include <string>

#include "engine/bson/document.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/findings.h"

namespace gridmount::tools {

// Each folder has a usable parent and name, and its parent a document of its own: a folder is made
// explicit together with all above it, so one without is reached by no listing.
Status check_folders(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Place& place,
                     Findings& findings);

// One thing that is wrong with a folder's document.
struct FolderFlaw {
  enum class Kind { kPosix, kRoot, kUnusable, kDuplicate, kNoParent };
  Kind kind;
  std::string what;
  bson::View document;  // valid during the visit
  std::string parent;   // with kNoParent: the path of the folder it is in
};

// The same, for whoever mends them: until `visit` says that it is enough.
Status find_folder_flaws(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                         const std::function<bool(const FolderFlaw&)>& visit);

}  // namespace gridmount::tools
