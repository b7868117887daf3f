// A new content for a place in the tree: the body of a PUT, or a copy of a file.
//
// The content is an orphan in `<bucket>.detached` until close(). One transaction then gives it its
// name and removes what had the name before. An upload that is destroyed earlier leaves nothing.
//
// Used by one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "gridfs/bucket/bucket.h"
#include "http/place_change.h"
#include "http/write_options.h"

namespace gridmount::http {

class FileUpload {
 public:
  // Called in the transaction of close(), with the file that is to be replaced. If it fails, so
  // does close(), and the file stays.
  using Check = std::function<Status(const std::optional<gridfs::FilesDocument>& present)>;

  FileUpload(Place place, const WriteOptions& options, LockClaim claim,
             std::unique_ptr<gridfs::Bucket> bucket, Check check);

  // Must be called first. With `source`, a files document, the file gets its metadata. Otherwise it
  // keeps that of the file that is replaced.
  Status open(std::optional<std::string> content_type, std::optional<bson::Document> source = {});
  // Fails as UploadStream does.
  Status write(std::span<const uint8_t> bytes) { return stream_->write(bytes); }
  // Commits the file. Returns true if it replaces another one. Fails with Conflict if a directory
  // has the name, with Locked, as PlaceChange does, and with the error of the check.
  Result<bool> close();
  // Returns the tag of the file after close(), or nothing if it was replaced or removed since.
  std::optional<std::string> tag() const;

 private:
  // Runs in the transaction that commits the file.
  Result<gridfs::CommitFields> replace(engine::Transaction& transaction);

  const Place place_;
  const WriteOptions options_;
  const LockClaim claim_;
  const std::unique_ptr<gridfs::Bucket> bucket_;
  const Check check_;
  std::optional<bson::Document> source_;
  std::unique_ptr<gridfs::UploadStream> stream_;  // ends before the bucket does
  bool replaces_ = false;
  std::vector<bson::Value> detached_;
};

}  // namespace gridmount::http
