// A file that appears under its name only when it is complete. It is written under a temporary name
// in the same folder, and commit() renames it. Without commit(), the destructor removes the
// temporary file.
//
// A device, a pipe or another file that is not regular cannot be replaced, so it is written
// directly, unless AtomicFileOptions::regular_only is set. A new file gets the permissions of the
// file that it replaces, before it has content.
//
// Not thread-safe.
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "engine/base/error.h"

namespace gridmount {

enum class AtomicFileStep { kOpen, kWrite, kClose, kRename };

struct AtomicFileOptions {
  // If false, an existing file or symbolic link is an error (EEXIST), even if another program
  // creates it before commit(). On a file system without RENAME_NOREPLACE, commit() first creates
  // an empty file under the name, and a kill may leave this file.
  bool overwrite = true;
  // If true, a device, a pipe or a socket under the name is an error (EEXIST) and is not opened.
  bool regular_only = false;
  // If true, commit() makes the content durable before it renames the file, so that a power failure
  // cannot leave an incomplete file under the name. The name itself is durable only after the
  // folder has been synced too.
  bool sync = false;
  // The modification time that commit() gives a regular file. Default: the present time.
  std::optional<timespec> mtime = {};
  // Makes the error of a failed step. `error_number` is an errno. Required.
  std::function<Error(AtomicFileStep step, int error_number)> error;
  // Called before each write(2), also before one that repeats an interrupted write(2). An error
  // ends the write. May be empty.
  std::function<Status()> check_interrupt = {};
};

// A file that is being written. Move-only.
class AtomicFile {
 public:
  // Follows symbolic links, so that the file they lead to is replaced.
  static Result<AtomicFile> create(const std::filesystem::path& path, AtomicFileOptions options);
  // Creates the file `name` in a folder. `folder` is a descriptor that is open with O_PATH or for
  // reading. The AtomicFile closes it, even if this function fails. A symbolic link under that name
  // is an error: EEXIST if AtomicFileOptions::overwrite is false, otherwise ELOOP.
  static Result<AtomicFile> create_in(int folder, std::string name, AtomicFileOptions options);
  // Writes to standard output, which commit() leaves open.
  static AtomicFile to_stdout(AtomicFileOptions options);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  // After an error, the file must not be written or committed.
  Status write(std::span<const uint8_t> bytes);
  // Closes the file and gives it its name. Afterwards write() must not be called.
  Status commit();

 private:
  AtomicFile(int folder, std::string name, AtomicFileOptions options);
  Status open();
  Status open_temporary(mode_t mode);
  Status sync_and_close();
  Status take_name();
  void remove_reservation() const;
  tl::unexpected<Error> failure(AtomicFileStep step, int error_number) const;

  AtomicFileOptions options_;
  int folder_ = -1;        // the folder of name_ and temporary_; -1 for standard output
  std::string name_;       // of the complete file
  std::string temporary_;  // empty if there is none
  int fd_ = -1;
};

}  // namespace gridmount
