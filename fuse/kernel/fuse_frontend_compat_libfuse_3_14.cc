// The negotiation between the kernel and libfuse 3.14, with one flag that libfuse does not know.
//
// Once a file system supports extended attributes, the kernel asks before each write(2) whether the
// file has `security.capability`. A write of 4 KiB then took 40 us instead of 1.3 us. With
// FUSE_HANDLE_KILLPRIV_V2 the kernel asks once per file. libfuse supports this flag from 3.17 on.
//
// Method: libfuse gets the first request on the connection, FUSE_INIT, while its descriptor leads
// into a pipe. The reply gets the flag, if the kernel has offered it, and then goes to the kernel.
#include <fcntl.h>
#include <linux/fuse.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "fuse/kernel/fuse_frontend.h"

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

// Returns `unique` of a FUSE_INIT that offers the flag, else 0, which no request has.
uint64_t unique_of_offer(const fuse_buf& request) {
  InitRequest init{};
  if (request.size < sizeof init) return 0;
  std::memcpy(&init, request.mem, sizeof init);
  const bool offers = (init.body.flags & FUSE_HANDLE_KILLPRIV_V2) != 0;
  return init.header.opcode == FUSE_INIT && offers ? init.header.unique : 0;
}

// Passes on the messages that libfuse has written: the reply to the request `unique`, and perhaps
// notifications of other threads. Returns 0 or a negative errno.
int forward(std::string_view messages, uint64_t unique, int connection) {
  while (messages.size() >= sizeof(fuse_out_header)) {
    InitReply reply{};
    std::memcpy(&reply.header, messages.data(), sizeof reply.header);
    const size_t size = std::min<size_t>(reply.header.len, messages.size());
    if (size < sizeof reply.header) return -EIO;
    std::string message(messages.substr(0, size));
    messages.remove_prefix(size);
    const bool is_answer = reply.header.unique == unique;
    if (is_answer && reply.header.error == 0 && size >= sizeof reply) {
      std::memcpy(&reply, message.data(), sizeof reply);
      reply.body.flags |= FUSE_HANDLE_KILLPRIV_V2;
      std::memcpy(message.data(), &reply, sizeof reply);
    }
    const bool written = write(connection, message.data(), size) == static_cast<ssize_t>(size);
    // If the file system was unmounted in the meantime, the loop will notice that too. The kernel
    // may refuse a notification about a node that it does not know.
    const bool matters = is_answer && errno != ENOENT && errno != ENODEV;
    if (!written && matters) return -errno;
  }
  return 0;
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
  // The mount has ended before it began. The loop will notice that too.
  if (received <= 0) return 0;
  const int connection = fuse_session_fd(session);
  int ends[2];
  const uint64_t unique = unique_of_offer(request);
  const bool patches = unique != 0 && pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0;
  if (!patches) {
    fuse_session_process_buf(session, &request);
    return 0;
  }
  const Descriptor from(ends[0]);
  const Descriptor to(ends[1]);
  // The descriptor is duplicated by dup() and not by fcntl(). Otherwise the thread sanitizer would
  // lose track of the connection, through which threads synchronize.
  const Descriptor kernel(dup(connection));
  if (kernel.get() < 0 || fcntl(kernel.get(), F_SETFD, FD_CLOEXEC) < 0 ||
      dup3(to.get(), connection, O_CLOEXEC) < 0) {
    return -errno;
  }
  fuse_session_process_buf(session, &request);
  if (dup3(kernel.get(), connection, O_CLOEXEC) < 0) return -errno;
  char bytes[4096];
  const ssize_t size = read(from.get(), bytes, sizeof bytes);
  if (size < 0) return -EPROTO;  // there was no reply
  return forward({bytes, static_cast<size_t>(size)}, unique, connection);
}

}  // namespace gridmount::fuse
