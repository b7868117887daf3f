// The reply to a GET or HEAD of one file: conditions, ranges and the fields that describe it.
//
// Thread-safe: a function without state.
#pragma once

#include <memory>
#include <string_view>

#include "gridfs/bucket/bucket.h"
#include "http/reply.h"
#include "http/request.h"

namespace gridmount::http {

struct FileSource {
  std::shared_ptr<const gridfs::Bucket> bucket;
  gridfs::FilesDocument file;
  std::string name;            // for the type and for a download
  bool as_attachment = false;  // Content-Disposition: attachment
};

// Returns 200, 206, 304, 412 or 416. The request must be GET or HEAD. Reads no content yet.
Reply file_reply(const Request& request, const FileSource& source);

}  // namespace gridmount::http
