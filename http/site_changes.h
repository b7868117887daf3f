// The changes that clients make in the tree of a site: PUT, DELETE and MKCOL.
//
// A change is made as a driver makes it, with the documents of GridFS, so a mount of the same
// process must watch the store (WatchedStore). Each change is one transaction, which also checks
// the conditions of the request, sets the mtime of the directory, and makes implied directories
// explicit (rules V1 and V2 of path_namespace.h).
//
// An upload is an orphan in `<bucket>.detached` until its last byte is there. One transaction then
// gives it its name and removes what had the name before. An upload that ends earlier leaves
// nothing: its destructor removes the orphan, or after a kill the next opening of the bucket does.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "engine/store.h"
#include "gridfs/namespace/path_namespace.h"
#include "http/request_handler.h"
#include "http/target.h"

namespace gridmount::http {

struct WriteOptions {
  int32_t chunk_bytes = gridfs::kDefaultChunkBytes;  // of new files
  bool md5 = true;
  // How nodes without POSIX fields are shown, and how many earlier contents a replaced file keeps.
  gridfs::NamespaceOptions paths;
  uint64_t upload_bytes_max = 0;  // longer bodies get the status 413; 0: no limit
  size_t uploads_max = 16;        // at a time; further ones get the status 503
};

class SiteChanges {
 public:
  // `store` must outlive the object and the receivers that put() returns.
  SiteChanges(engine::Store& store, std::shared_ptr<engine::Database> database,
              WriteOptions options);

  // The target of these three must lead into a bucket: it has two components or more. `paths` is
  // the bucket of the first one. They fail with the errors of site_error.h and of PathNamespace.
  //
  // Begins to replace or create a file.
  Result<Answer> put(const Request& request, const Target& target,
                     const std::shared_ptr<gridfs::PathNamespace>& paths) const;
  // Removes a file with all its revisions, or an empty directory.
  Result<Answer> remove(const Request& request, const Target& target,
                        const std::shared_ptr<gridfs::PathNamespace>& paths) const;
  Result<Answer> make_directory(const Request& request, const Target& target,
                                const std::shared_ptr<gridfs::PathNamespace>& paths) const;

 private:
  gridfs::BucketOptions bucket_options(const std::string& name) const;

  engine::Store& store_;
  const std::shared_ptr<engine::Database> database_;
  const WriteOptions options_;
  // The number of uploads. Shared with the receivers, which may outlive the object.
  const std::shared_ptr<std::atomic<size_t>> uploads_ = std::make_shared<std::atomic<size_t>>(0);
};

}  // namespace gridmount::http
