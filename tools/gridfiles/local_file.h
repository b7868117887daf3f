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

// Where the name of a file that get writes comes from.
enum class LocalName {
  kOfOption,    // --local: "-" is stdout
  kOfArgument,  // somebody has typed it; "-" is a file too
  // The program that put the file into the bucket has chosen the name. So create_local_file() does
  // not follow symbolic links. It does not check whether the name leads out of the current folder:
  // the caller must have called check_traversal() (target.h).
  kOfBucket,
};

// Creates the file (or opens stdout) that get writes.
//
// Without `overwrite`, an existing file is an error, even if it appears only before commit(). With
// `overwrite`, a symbolic link is followed (but see LocalName). With `makes_folders`, missing
// folders in the name are created. Fails with IoError, or with IllegalOperation for a symbolic link
// that must not be followed.
Result<AtomicFile> create_local_file(const std::string& name, LocalName kind, bool overwrite,
                                     bool makes_folders = false);

// Creates the file `name` below a folder, which exists, for sync. The folders in the name that are
// missing are made, and an existing file is replaced at commit(). Links in `folder` are followed. A
// link in `name` is an error (IllegalOperation, other failures are IoError), also if it replaces a
// folder meanwhile. `name` must have no part "..". The file gets the modification time `mtime`.
Result<AtomicFile> create_file_below(const std::string& folder, const std::string& name,
                                     const timespec& mtime);
// Removes that file, and the folders in `name` that are empty then. If there is no such file, only
// removes these folders. Fails with IoError.
Status remove_file_below(const std::string& folder, const std::string& name);

// Writes the rest of the stream to the file, and counts its bytes. Does not commit the file. Fails
// with the errors of DownloadStream::read() and AtomicFile::write().
Status write_all(gridfs::DownloadStream& stream, AtomicFile& output, Progress& progress);

}  // namespace gridmount::tools
