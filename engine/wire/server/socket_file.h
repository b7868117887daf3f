// gridmount.sock: a Unix socket in a folder, for those who may read and write the folder's store.
#pragma once

#include <filesystem>
#include <string>

#include "engine/base/error.h"
#include "engine/wire/client.h"
#include "engine/wire/server/file_descriptor.h"
#include "engine/wire/server/socket_name.h"

namespace gridmount::wire {

// A listening socket and its file, which goes with it. Movable.
class SocketFile {
 public:
  // Makes the file with mode 0600 from the instant it exists. The path may be longer than the 107
  // bytes that a socket's address holds. A file left over from a server that is no more is
  // replaced; one whose server answers, and one that is no socket, are an error (DBPathInUse).
  // CommandNotSupported where the file system has no sockets.
  static Result<SocketFile> listen(const std::filesystem::path& folder);

  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&&) = delete;
  // Removes the file, unless another one has taken its place.
  ~SocketFile();

  const FileDescriptor& socket() const { return socket_; }

 private:
  SocketFile(FileDescriptor folder, FileDescriptor socket);

  FileDescriptor folder_;
  FileDescriptor socket_;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

// A connected socket to the server of `folder`, also where the path is long. For tests and tools.
Result<FileDescriptor> connect_to_socket_file(const std::filesystem::path& folder);

// Who is at the other end of an accepted connection. Unauthorized unless that is a process of this
// process's user or of root; the file's mode keeps others out already, but a socket can be handed
// on, and its folder be opened to others.
Result<Peer> local_peer(int fd);

}  // namespace gridmount::wire
