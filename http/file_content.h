// The body of a reply with the content of a file: some ranges of it, with text before, between and
// after them.
//
// Each piece is read from a snapshot of its own, so a slow client does not keep the store from
// reusing space. If the file got another content since the reply began, or was removed, next()
// fails with FileChanged or FileNotFound: bytes of two contents never come together.
//
// Used by one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gridfs/bucket/bucket.h"
#include "http/reply.h"

namespace gridmount::http {

class FileContent final : public Body {
 public:
  struct Part {
    std::string lead;         // the text before the bytes
    gridfs::ByteRange range;  // within the file
  };

  // `bucket` keeps the object alive that it points to. `file` is the file as the head of the reply
  // describes it.
  FileContent(std::shared_ptr<const gridfs::Bucket> bucket, const gridfs::FilesDocument& file,
              std::vector<Part> parts, std::string trailer);

  // Returns the number of bytes of all pieces together.
  uint64_t length() const;

  Result<std::string_view> next() override;

 private:
  // Reads the next bytes of the range, but no further than to the end of a chunk.
  Status read_piece(const gridfs::ByteRange& range);

  const std::shared_ptr<const gridfs::Bucket> bucket_;
  const bson::Value id_;
  const std::string tag_;
  const int64_t chunk_bytes_;
  std::vector<Part> parts_;  // what is left of the parts from at_ on
  const std::string trailer_;
  size_t at_ = 0;
  bool has_sent_lead_ = false;
  bool has_sent_trailer_ = false;
  std::string piece_;
};

}  // namespace gridmount::http
