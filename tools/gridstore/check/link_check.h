// Checks the documents of additional hard links (`<bucket>.links`); see gridfs/NAMESPACE.md.
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

// Checks that the name of each link is a string, that the link leads to a file that exists, and
// that the file's filename is not the name of the link. Checks that each files document that can
// have metadata.posix records the correct number of additional names (metadata.posix.links). After
// a document that cannot be read, checks neither these numbers any more, nor whether a file exists.
// If the collection of links does not exist, checks nothing.
Status check_links(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Location& place,
                   Findings& findings);

// One defect of a link or of a recorded number of links.
struct LinkProblem {
  enum class Kind {
    kStray,   // a link that is invalid, leads to no file, or has the filename of its file
    kNumber,  // a wrong number of additional names in a files document
  };
  Kind kind;
  std::string what;
  bson::Value id;     // _id of the document in links, or of the file
  int64_t links = 0;  // kNumber: the correct number of additional names
};

// For a repair: calls `visit` for each problem that check_links() reports. Ends with success when
// `visit` returns false. Fails with QueryExceededMemoryLimit if the index on `file` is missing and
// there are too many links to sort them in memory. check_links() reports this as a finding.
Status find_link_problems(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                          const std::function<bool(LinkProblem)>& visit);

// Reads the documents of the problem again, and returns false if they do not have this problem.
// Another process may have changed them while the check read them. Always returns true in a store
// with stable snapshots (Capabilities::stable_snapshots).
Result<bool> is_confirmed(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                          const LinkProblem& problem);

}  // namespace gridmount::tools
