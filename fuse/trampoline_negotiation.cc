// What the kernel and libfuse 3.14 agree on, and one thing that it does not know.
//
// Once a file system answers for extended attributes, the kernel asks before each write(2) whether
// the file has `security.capability`, which made a write of 4 KiB take 40 us instead of 1.3. With
// FUSE_HANDLE_KILLPRIV_V2 it asks once per file. libfuse has that from 3.17 on.
//
// Method: the first request on the connection, FUSE_INIT, is given to libfuse while its descriptor
// leads into a pipe; its answer gets the flag, if the kernel has offered it, and goes to the
// kernel.
#include <fcntl.h>
#include <linux/fuse.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "fuse/trampoline.h"

namespace gridmount::fuse {

namespace {

struct InitRequest {
  fuse_in_header header;
  fuse_init_in body;
};
struct InitReply {
  fuse_out_header header;
  fuse_init_out body;
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

bool offers_killpriv_v2(const fuse_buf& request) {
  InitRequest init{};
  if (request.size < sizeof init) return false;
  std::memcpy(&init, request.mem, sizeof init);
  return init.header.opcode == FUSE_INIT && (init.body.flags & FUSE_HANDLE_KILLPRIV_V2) != 0;
}

}  // namespace

int negotiate(fuse_session* session) {
  fuse_buf request{};
  int received = 0;
  do {
    received = fuse_session_receive_buf(session, &request);
  } while (received == -EINTR && !fuse_session_exited(session));
  struct Free {
    fuse_buf& buffer;
    ~Free() { free(buffer.mem); }
  } free_request{request};
  // The loop meets it again: the mount has ended before it began.
  if (received <= 0) return 0;
  const int connection = fuse_session_fd(session);
  int ends[2];
  const bool patches = offers_killpriv_v2(request) && pipe2(ends, O_CLOEXEC) == 0;
  if (!patches) {
    fuse_session_process_buf(session, &request);
    return 0;
  }
  const Descriptor from(ends[0]);
  const Descriptor to(ends[1]);
  // Not by fcntl: the thread sanitizer would lose sight of the connection, by which threads hand
  // over what they have made.
  const Descriptor kernel(dup(connection));
  if (kernel.get() < 0 || fcntl(kernel.get(), F_SETFD, FD_CLOEXEC) < 0 ||
      dup3(to.get(), connection, O_CLOEXEC) < 0) {
    return -errno;
  }
  fuse_session_process_buf(session, &request);
  if (dup3(kernel.get(), connection, O_CLOEXEC) < 0) return -errno;
  char bytes[4096];
  const ssize_t size = read(from.get(), bytes, sizeof bytes);
  InitReply reply{};
  if (size >= static_cast<ssize_t>(sizeof reply)) {
    std::memcpy(&reply, bytes, sizeof reply);
    reply.body.flags |= FUSE_HANDLE_KILLPRIV_V2;
    std::memcpy(bytes, &reply, sizeof reply);
  }
  if (size < 0 || write(connection, bytes, static_cast<size_t>(size)) != size) return -errno;
  return 0;
}

}  // namespace gridmount::fuse
