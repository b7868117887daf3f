// The documents of files' further names (`<bucket>.links`), see gridfs/NAMESPACE.md.
#pragma once

#include <functional>
#include <string>

#include "engine/bson/document.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/findings.h"

namespace gridmount::tools {

// Each name leads to a file that is there and has another filename, and each file notes how many
// there are of it.
Status check_links(const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Place& place,
                   Findings& findings);

// One thing that is wrong.
struct LinkFlaw {
  enum class Kind {
    kNobodys,  // the document of a name that leads nowhere, or stands for no further name
    kNumber,   // the files document's number
  };
  Kind kind;
  std::string what;
  bson::Value id;     // of the document in links, or of the file
  int64_t links = 0;  // kNumber: how many there are
};

// The same, for whoever mends them: until `visit` says that it is enough.
Status find_link_flaws(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                       const std::function<bool(LinkFlaw)>& visit);

}  // namespace gridmount::tools
