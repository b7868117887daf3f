// gridmount.sock, a Unix socket in the store's folder for processes that may read and write the
// store.
//
// The functions are thread-safe. A SocketFile is not.
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/error.h"
#include "engine/wire/client.h"
#include "engine/wire/server/file_descriptor.h"
#include "engine/wire/server/socket_name.h"

namespace gridmount::wire {

// A listening socket and its file. Movable.
class SocketFile {
 public:
  // Creates the file with mode 0600. The path may be longer than the 107 bytes that fit into a
  // socket address. Replaces a file that a server has left behind. Fails with DBPathInUse if the
  // file is not a socket, or if the socket does not refuse a connection: another server then
  // listens on it. Fails with CommandNotSupported if the file system does not support sockets, and
  // otherwise with PermissionDenied or IoError.
  static Result<SocketFile> listen(const std::filesystem::path& folder);

  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&&) = delete;
  // Deletes the file, unless another file has replaced it.
  ~SocketFile();

  const FileDescriptor& socket() const { return socket_; }

 private:
  SocketFile(FileDescriptor folder, FileDescriptor socket);

  FileDescriptor folder_;
  FileDescriptor socket_;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

// Connects to the server in `folder`, whose path may be long. Fails with PermissionDenied or
// IoError if no server answers. Only tests use this function.
Result<FileDescriptor> connect_to_socket_file(const std::filesystem::path& folder);

// Returns the process that made an accepted connection. Fails with Unauthorized unless that process
// ran as this process's user or as root when it connected. The mode of the file already excludes
// other users, unless somebody changes it. If the process gives the connected socket to another
// process, this function does not notice it.
Result<Peer> local_peer(int fd);

}  // namespace gridmount::wire
