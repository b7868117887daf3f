// Makes the reply to a GET or HEAD of one file. Evaluates the conditions and ranges of the request,
// and sets the fields that describe the file.
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
  std::string name;            // for Content-Type and Content-Disposition
  bool as_attachment = false;  // Content-Disposition: attachment
};

// Returns a reply with the status 200, 206, 304, 412 or 416. The method of the request must be GET
// or HEAD. Does not read the content: the body of the reply reads it (file_content.h).
Reply file_reply(const Request& request, const FileSource& source);

}  // namespace gridmount::http
