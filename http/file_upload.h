// Writes a new file to a place in the tree: the body of a PUT, or a copy of a file.
//
// Until close(), the new file is an orphan in `<bucket>.detached`. One transaction in close() then
// gives the new file its name, and removes the files that had the name before (except for the
// revisions that the bucket keeps). The destructor removes the orphan if close() was not called or
// has failed. If the process is killed, a later start of a program removes the orphan.
//
// Not thread-safe.
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
  // Called in the transaction of close(), perhaps several times. `present` is the file that close()
  // is about to replace, or nothing. If the check fails, close() fails too, and the file stays.
  using Check = std::function<Status(const std::optional<gridfs::FilesDocument>& present)>;

  // The object copies `options`. `check` must not be empty.
  FileUpload(Place place, const WriteOptions& options, LockClaim claim,
             std::unique_ptr<gridfs::Bucket> bucket, Check check);

  // Must be called once, before all other functions. `source` is a files document: the new file
  // gets the metadata of `source`. Without `source`, the new file gets the metadata of the file
  // that it replaces, if there is one. In both cases the new file does not get a content type,
  // times or set-ID bits from the other file: its content type is `content_type`, and its times are
  // the time of close().
  Status open(std::optional<std::string> content_type, std::optional<bson::Document> source = {});
  // Appends the bytes to the content. Fails as UploadStream::write() does.
  Status write(std::span<const uint8_t> bytes) { return stream_->write(bytes); }
  // Commits the new file under its name. Returns true if it has replaced another file. Fails as
  // UploadStream::close() does, with the error of the check, and as PlaceChange::begin(),
  // check_locks(), present(), check_replaceable() and remove_files() do.
  Result<bool> close();
  // Returns the entity tag of the new file, or nothing if the file cannot be read, for example
  // because somebody has already replaced or removed it. May be called only after close() has
  // succeeded.
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
  std::unique_ptr<gridfs::UploadStream> stream_;  // uses *bucket_, so it is destroyed first
  bool replaces_ = false;
  std::vector<bson::Value> detached_;  // the _ids of files that must be reclaimed after the commit
};

}  // namespace gridmount::http
