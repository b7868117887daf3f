// The local file from which the command `put` reads, and the one to which `get` writes.
//
// Not thread-safe.
#pragma once

#include <time.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "command_line/atomic_file.h"
#include "command_line/progress.h"
#include "engine/base/error.h"
#include "gridfs/bucket/bucket.h"

namespace gridmount::tools {

// A file (or stdin, for "-") that put reads. Move-only.
class LocalInput {
 public:
  // Fails with IoError.
  static Result<LocalInput> open(const std::string& name);
  LocalInput(LocalInput&& other) noexcept;
  LocalInput& operator=(LocalInput&&) = delete;
  ~LocalInput();

  // Returns the next bytes, which are valid until the next call. Returns no bytes at the end. Fails
  // with Interrupted after a signal, and with IoError if the file cannot be read.
  Result<std::span<const uint8_t>> read();

 private:
  LocalInput(std::string name, int fd, bool owned);

  std::string name_;
  int fd_;
  bool owned_;
  std::vector<uint8_t> buffer_;
};

// The origin of the name of a file that get writes.
enum class LocalName {
  kOfOption,    // --local: "-" is stdout
  kOfArgument,  // an argument that the user has typed: "-" is the name of a file, not stdout
  // The program that put the file into the bucket has chosen the name. So create_local_file() does
  // not follow symbolic links. It does not check whether the name leads out of the current folder:
  // the caller must have called check_traversal() (target.h).
  kOfBucket,
};

// Creates the file (or opens stdout) that get writes.
//
// Without `overwrite`, an existing file is an error, even if another program creates it before
// commit(). With `overwrite`, a symbolic link is followed, unless `kind` is kOfBucket. With
// `makes_folders`, missing folders in the name are created. Fails with IoError, or with
// IllegalOperation for a symbolic link that must not be followed.
Result<AtomicFile> create_local_file(const std::string& name, LocalName kind, bool overwrite,
                                     bool makes_folders = false);

// For the command sync_get: creates the file `name` below an existing folder. Makes the folders in
// `name` that are missing. commit() replaces an existing file. Follows symbolic links in `folder`.
// Fails with IllegalOperation if a part of `name` is a symbolic link, even if the link replaces a
// folder while this function runs, or if `name` is a device, a pipe or a socket. Other failures are
// IoError. `name` must have no part "..". The file gets the modification time `mtime`.
Result<AtomicFile> create_file_below(const std::string& folder, const std::string& name,
                                     const timespec& mtime);
// Removes the file `name` below `folder`, and then the folders in `name` that have become empty. If
// there is no such file, only removes the empty folders. Fails with IoError.
Status remove_file_below(const std::string& folder, const std::string& name);

// Writes the rest of the stream to the file, and counts its bytes. Does not commit the file. Fails
// with the errors of DownloadStream::read() and AtomicFile::write().
Status write_all(gridfs::DownloadStream& stream, AtomicFile& output, Progress& progress);

}  // namespace gridmount::tools
