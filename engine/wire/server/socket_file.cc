#include "engine/wire/server/socket_file.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace gridmount::wire {
namespace {

constexpr mode_t kMode = 0600;

tl::unexpected<Error> refuse(const std::filesystem::path& folder, const std::string& what,
                             int error_number) {
  const ErrorCode code = error_number == EACCES || error_number == EPERM
                             ? ErrorCode::kPermissionDenied
                             : ErrorCode::kIoError;
  return fail(code, (folder / kSocketName).string() + ": " + what + ": " +
                        std::generic_category().message(error_number));
}

Result<FileDescriptor> open_folder(const std::filesystem::path& folder) {
  FileDescriptor fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return refuse(folder, "its folder cannot be opened", errno);
  return fd;
}

Result<FileDescriptor> make_socket(const std::filesystem::path& folder) {
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return refuse(folder, "no socket can be made", errno);
  return fd;
}

// Returns an address that leads through the descriptor of the folder. The address is short, even if
// the folder's path is long.
sockaddr_un address_in(const FileDescriptor& folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path =
      "/proc/self/fd/" + std::to_string(folder.get()) + "/" + std::string(kSocketName);
  static_assert(sizeof address.sun_path > sizeof "/proc/self/fd/2147483647/gridmount.sock");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

int connect_to(const FileDescriptor& socket, const FileDescriptor& folder) {
  const sockaddr_un address = address_in(folder);
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  return ::connect(socket.get(), generic, sizeof address) == 0 ? 0 : errno;
}

// Returns true for errors of bind() on file systems that do not support sockets. For a folder that
// is not writable, bind() fails with EACCES or EROFS.
bool means_no_sockets(int error_number) {
  return error_number == EPERM || error_number == EOPNOTSUPP || error_number == ENOSYS;
}

// Removes the file of a server that has ended without removing it.
Status remove_stale(const std::filesystem::path& folder, const FileDescriptor& folder_fd) {
  struct stat status;
  if (::fstatat(folder_fd.get(), kSocketName, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return refuse(folder, "the file cannot be looked at", errno);
  }
  if (!S_ISSOCK(status.st_mode)) {
    return fail(ErrorCode::kDbPathInUse,
                (folder / kSocketName).string() +
                    ": a file that is not a socket has this path; move it elsewhere");
  }
  GM_ASSIGN(const FileDescriptor probe, make_socket(folder));
  const int error_number = connect_to(probe, folder_fd);
  if (error_number != ECONNREFUSED && error_number != ENOENT) {
    return fail(ErrorCode::kDbPathInUse,
                (folder / kSocketName).string() + ": another server listens on it");
  }
  if (::unlinkat(folder_fd.get(), kSocketName, 0) != 0 && errno != ENOENT) {
    return refuse(folder, "the socket left by an earlier server cannot be removed", errno);
  }
  return {};
}

}  // namespace

SocketFile::SocketFile(FileDescriptor folder, FileDescriptor socket)
    : folder_(std::move(folder)), socket_(std::move(socket)) {
  struct stat status;
  if (::fstatat(folder_.get(), kSocketName, &status, AT_SYMLINK_NOFOLLOW) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
}

SocketFile::SocketFile(SocketFile&& other) noexcept = default;

SocketFile::~SocketFile() {
  if (!folder_.is_open()) return;
  struct stat status;
  if (::fstatat(folder_.get(), kSocketName, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (status.st_dev == device_ && status.st_ino == inode_) {
    ::unlinkat(folder_.get(), kSocketName, 0);
  }
}

Result<SocketFile> SocketFile::listen(const std::filesystem::path& folder) {
  GM_ASSIGN(FileDescriptor folder_fd, open_folder(folder));
  GM_TRY(remove_stale(folder, folder_fd));
  GM_ASSIGN(FileDescriptor socket, make_socket(folder));
  // Linux creates the file with the mode that the socket has before bind(), reduced by the umask.
  // The umask belongs to the whole process and is left unchanged.
  if (::fchmod(socket.get(), kMode) != 0) return refuse(folder, "its mode cannot be set", errno);
  const sockaddr_un address = address_in(folder_fd);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (means_no_sockets(errno)) {
      return fail(ErrorCode::kCommandNotSupported,
                  (folder / kSocketName).string() + ": its file system does not support sockets: " +
                      std::generic_category().message(errno));
    }
    return refuse(folder, "it cannot be made", errno);
  }
  SocketFile file(std::move(folder_fd), std::move(socket));
  if (::listen(file.socket_.get(), SOMAXCONN) != 0) {
    return refuse(folder, "it cannot be listened on", errno);
  }
  return file;
}

Result<FileDescriptor> connect_to_socket_file(const std::filesystem::path& folder) {
  GM_ASSIGN(const FileDescriptor folder_fd, open_folder(folder));
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return refuse(folder, "no socket can be made", errno);
  if (const int error_number = connect_to(socket, folder_fd); error_number != 0) {
    return refuse(folder, "no server answers", error_number);
  }
  return socket;
}

Result<Peer> local_peer(int fd) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return fail(ErrorCode::kUnauthorized,
                "the kernel does not name the peer: " + std::generic_category().message(errno));
  }
  if (credentials.uid != 0 && credentials.uid != ::geteuid()) {
    return fail(ErrorCode::kUnauthorized, "process " + std::to_string(credentials.pid) +
                                              " of user " + std::to_string(credentials.uid) +
                                              " is neither root's nor the server's owner's");
  }
  Peer peer;
  peer.kind = Peer::Kind::kSocket;
  peer.address = std::string(kSocketName) + ":" + std::to_string(credentials.pid);
  return peer;
}

}  // namespace gridmount::wire
