// The body of a reply with one or more ranges of a file's content. A body with several ranges has
// the type multipart/byteranges: each range follows the head of its part, and the last boundary
// follows the last range.
//
// Each piece is read from a snapshot of its own, so a slow client does not keep the store from
// reusing space. If the content of the file has changed since the reply began, or the file was
// removed, next() fails with FileChanged or FileNotFound. So a reply never mixes the bytes from
// before and after a change.
//
// Not thread-safe.
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

  // `bucket` must also keep alive the object that owns the bucket. `file` must be the files
  // document that the head of the reply describes.
  FileContent(std::shared_ptr<const gridfs::Bucket> bucket, const gridfs::FilesDocument& file,
              std::vector<Part> parts, std::string trailer);

  // Returns the number of bytes of all pieces together.
  uint64_t length() const;

  Result<std::string_view> next() override;

 private:
  // Reads the next bytes of the range into piece_, at most kPieceBytesMax. Stops at the end of the
  // chunk, but not before kPieceBytesMax / 2 bytes, because chunks may be small.
  Status read_piece(const gridfs::ByteRange& range);

  const std::shared_ptr<const gridfs::Bucket> bucket_;
  const bson::Value id_;
  const std::string tag_;
  const int64_t chunk_bytes_;
  // The parts before at_ are sent. The range of the part at at_ shrinks while it is sent.
  std::vector<Part> parts_;
  const std::string trailer_;
  size_t at_ = 0;
  bool has_sent_lead_ = false;
  bool has_sent_trailer_ = false;
  std::string piece_;
};

}  // namespace gridmount::http
