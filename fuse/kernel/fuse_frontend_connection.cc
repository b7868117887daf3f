// Reads requests from the kernel before libfuse sees them. Requests that would have to wait for the
// move of a directory are parked, so that they do not block the session's few threads, which other
// requests need. FUSE_TMPFILE, which libfuse 3.14 does not know, becomes FUSE_CREATE.
//
// No code here may catch all exceptions, because libfuse ends its threads by cancelling them while
// they read.
#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/thread_name.h"
#include "fuse/kernel/fuse_frontend.h"

namespace gridmount::fuse {

namespace {

using Message = std::span<const char>;

// Returns true if the handle is open for writing. `body` must be of a request that begins with the
// handle.
bool is_of_writer(Message body) {
  uint64_t handle = 0;
  if (body.size() < sizeof handle) return false;
  std::memcpy(&handle, body.data(), sizeof handle);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<const FileHandle*>(handle)->for_writing;
}

// Returns true if the request would wait for the end of a move. This holds for requests that change
// the store, and for requests about nodes in the moving directory. Open files can be read and
// written.
bool waits_for_move(const FileSystem& file_system, const fuse_in_header& header, Message body) {
  switch (header.opcode) {
    case FUSE_SETATTR:
    case FUSE_SYMLINK:
    case FUSE_MKNOD:
    case FUSE_MKDIR:
    case FUSE_UNLINK:
    case FUSE_RMDIR:
    case FUSE_RENAME:
    case FUSE_RENAME2:
    case FUSE_LINK:
    case FUSE_CREATE:
    case FUSE_SETXATTR:
    case FUSE_REMOVEXATTR:
      return true;
    case FUSE_FLUSH:
    case FUSE_FSYNC:
      return is_of_writer(body);
    case FUSE_LOOKUP:
    case FUSE_GETATTR:
    case FUSE_READLINK:
    case FUSE_GETXATTR:
    case FUSE_LISTXATTR:
    case FUSE_OPEN:
    case FUSE_OPENDIR:
    case FUSE_READDIR:
    case FUSE_READDIRPLUS:
      return file_system.is_moving(header.nodeid);
    default:
      return false;
  }
}

// Turns FUSE_TMPFILE into FUSE_CREATE, which has the same request and reply. The flag O_TMPFILE
// marks the request. open(2) never passes that flag to FUSE_CREATE.
void translate(std::span<char> message) {
  fuse_in_header header{};
  fuse_create_in body{};
  if (message.size() < sizeof header + sizeof body) return;
  std::memcpy(&header, message.data(), sizeof header);
  if (header.opcode != FUSE_TMPFILE) return;
  std::memcpy(&body, message.data() + sizeof header, sizeof body);
  header.opcode = FUSE_CREATE;
  body.flags |= O_TMPFILE;
  std::memcpy(message.data(), &header, sizeof header);
  std::memcpy(message.data() + sizeof header, &body, sizeof body);
}

// Returns true if the request was parked. It will be answered after the move, and the caller must
// drop it.
bool park(FrontendContext& context, Message message) {
  fuse_in_header header{};
  if (!context.file_system.moves_any() || message.size() < sizeof header) return false;
  std::memcpy(&header, message.data(), sizeof header);
  if (!waits_for_move(context.file_system, header, message.subspan(sizeof header))) return false;
  try {
    return context.parked_for_move.add(
        [&context, copy = std::vector<char>(message.begin(), message.end())]() mutable {
          context.file_system.wait_for_moves();
          context.process(copy);
        });
  } catch (const std::bad_alloc&) {
    return false;
  }
}

ssize_t read_request(int connection, void* buffer, size_t room, void* user_data) {
  // The thread is named here, because reading is the first thing that each of libfuse's threads
  // does.
  thread_local const bool is_named = (name_this_thread("gm-fuse"), true);
  (void)is_named;
  auto& context = *static_cast<FrontendContext*>(user_data);
  while (true) {
    const ssize_t size = context.turns.read(connection, buffer, room);
    if (size <= 0) return size;
    const std::span message(static_cast<char*>(buffer), static_cast<size_t>(size));
    translate(message);
    if (!park(context, message)) return size;
  }
}

// Returns true for a reply, which has the number of its request. A notification, which invalidates
// something in the kernel's cache, has no number.
bool is_answer(std::span<const iovec> pieces) {
  fuse_out_header header{};
  if (pieces.empty() || pieces[0].iov_len < sizeof header) return false;
  std::memcpy(&header, pieces[0].iov_base, sizeof header);
  return header.unique != 0;
}

ssize_t write_reply(int connection, iovec* pieces, int count, void*) {
  if (is_answer({pieces, static_cast<size_t>(count)})) Measurement::end_current();
  return writev(connection, pieces, count);
}

}  // namespace

RequestTurns::Kind kind_of_request(std::span<const char> message) {
  RequestTurns::Kind kind;
  fuse_in_header header{};
  if (message.size() < sizeof header) return kind;
  std::memcpy(&header, message.data(), sizeof header);
  switch (header.opcode) {
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_INTERRUPT:
      // These requests only report that something has ended.
      kind.is_quick = true;
      break;
    default:
      kind.sender = header.pid;
  }
  return kind;
}

int prepare_session(fuse_session* session) {
  fuse_custom_io io{};
  io.read = read_request;
  io.writev = write_reply;
  return fuse_session_custom_io(session, &io, fuse_session_fd(session));
}

}  // namespace gridmount::fuse
