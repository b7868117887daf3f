// A tree of files for crash tests. Its steps are changes that the mount makes (create, write,
// truncate, rename, link, unlink, mkdir, rmdir, chmod, setxattr; close commits, fsync makes
// durable), and uploads that drivers make.
#pragma once

#include <memory>

#include "tests/engine/local/crash/crash_subject.h"

namespace gridmount::gridfs {

struct TreeOptions {
  bool late_chunks = false;  // breaks GridFS on purpose (late_chunks.h)
  bool removes_all = true;   // unlinked files are removed when the store is closed; otherwise the
                             // next mount removes them
  bool md5 = true;  // closing waits for the md5, even if the store can no longer be written
};

std::unique_ptr<local::testing::CrashSubject> make_tree(const TreeOptions& options = {});

}  // namespace gridmount::gridfs
