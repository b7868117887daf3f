// The callbacks for libfuse: the table of operations and their shared state. Only fuse_frontend*.cc
// include this file and libfuse.
//
// The handlers are thread-safe. libfuse calls them from several threads.
#pragma once

#define FUSE_USE_VERSION 312  // 3.12 is the first version with a thread limit in the loop's options
#include <fuse_lowlevel.h>

#include <atomic>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "fuse/errno.h"
#include "fuse/kernel/attr_reply_tracker.h"
#include "fuse/kernel/parked_requests.h"
#include "fuse/kernel/request_turns.h"
#include "fuse/monitoring/operations_in_progress.h"
#include "fuse/monitoring/statistics.h"
#include "fuse/tree/file_system.h"

namespace gridmount::fuse {

// Tells RequestTurns what it must know of a request. `message` is the request as the kernel sends
// it.
RequestTurns::Kind kind_of_request(std::span<const char> message);

// The user data of a libfuse session.
struct FrontendContext {
  explicit FrontendContext(FileSystem& served) : file_system(served) {}

  FileSystem& file_system;
  std::function<void()> on_ready;  // called when the kernel has sent its first request (INIT)
  // Makes the kernel write back a file, and waits until that is done.
  std::function<void(uint64_t ino)> write_back;
  // Makes the kernel drop its cached attributes of a node.
  std::function<void(uint64_t ino)> invalidate_attributes;
  // Makes libfuse process a request.
  std::function<void(std::vector<char>& message)> process;
  RequestTurns turns{kind_of_request};
  AttrReplyTracker attr_replies;
  // Requests that wait until the kernel has written back a file.
  ParkedRequests parked_for_writes{"gm-parked-write"};
  // Requests that wait for the move of a directory.
  ParkedRequests parked_for_move{"gm-parked-move"};
  // The numbers of writes that have begun and ended. Session::stop() uses them to detect that the
  // kernel has written back everything.
  std::atomic<uint64_t> writes_begun{0};
  std::atomic<uint64_t> writes_ended{0};
  std::atomic<uint64_t> bytes_written{0};  // by writes that have ended
  Statistics statistics;
  OperationsInProgress in_progress;
};

const fuse_lowlevel_ops& frontend_operations();

// Prepares a mounted session before its first request. Returns 0 or a negative errno.
int prepare_session(fuse_session* session);

// Answers the kernel's first request before the loop starts. Returns 0 or a negative errno.
int negotiate(fuse_session* session);

// The handlers that reply with listings are in fuse_frontend_directory.cc.
void handle_readdir(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset,
                    fuse_file_info* info);
void handle_readdirplus(fuse_req_t request, fuse_ino_t ino, size_t size, off_t offset,
                        fuse_file_info* info);

// These handlers are in fuse_frontend_xattrs.cc.
void handle_getxattr(fuse_req_t request, fuse_ino_t ino, const char* name, size_t room);
void handle_listxattr(fuse_req_t request, fuse_ino_t ino, size_t room);
void handle_setxattr(fuse_req_t request, fuse_ino_t ino, const char* name, const char* value,
                     size_t size, int flags);
void handle_removexattr(fuse_req_t request, fuse_ino_t ino, const char* name);

// These handlers are in fuse_frontend_ranges.cc.
void handle_fallocate(fuse_req_t request, fuse_ino_t ino, int mode, off_t offset, off_t length,
                      fuse_file_info* info);
void handle_lseek(fuse_req_t request, fuse_ino_t ino, off_t offset, int whence,
                  fuse_file_info* info);
void handle_copy_file_range(fuse_req_t request, fuse_ino_t ino, off_t offset, fuse_file_info* info,
                            fuse_ino_t to_ino, off_t to_offset, fuse_file_info* to_info,
                            size_t size, int flags);

inline FrontendContext& context_of(fuse_req_t request) {
  return *static_cast<FrontendContext*>(fuse_req_userdata(request));
}
// Returns the FileHandle or DirectoryHandle of a request. libfuse stores the pointer as a number.
template <typename Open>
Open* handle_of(const fuse_file_info* info) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<Open*>(info->fh);
}
inline FileSystem& file_system_of(fuse_req_t request) {
  return context_of(request).file_system;
}

// Returns true if the writer is privileged. A write by anybody else removes the file's set-user-ID
// bit, and also the set-group-ID bit if the file is group-executable (chmod(2)) or the writer is
// not in the file's group. The kernel leaves this to the daemon.
inline bool may_keep_set_id(fuse_req_t request) {
  return fuse_req_ctx(request)->uid == 0;
}
// Returns a function that reports whether the process that made the request is in a group or
// privileged. The function is valid until the request is answered.
gridfs::GroupCheck group_check_of(fuse_req_t request);

// Replies with the errno of the error, and counts the error. Logs the error if is_ordinary() is
// false. `name` may be null.
void reply_error(fuse_req_t request, const char* operation, fuse_ino_t ino, const char* name,
                 const Error& error);

// Replies with 0, or as reply_error() if the status is an error.
void reply_status(fuse_req_t request, const char* operation, fuse_ino_t ino, const char* name,
                  const Status& status);

// Must be called when this thread begins a request. Records how many changes by others the file
// system knows of.
void begin_request(const FileSystem& file_system);
// Returns how long the kernel may cache an answer: `seconds`, or 0 if others have changed something
// since this thread's request began. In that case the answer may be older than the change, and may
// reach the kernel after the kernel was told to drop the data that the change affects.
double cache_seconds_of(const FileSystem& file_system, double seconds);

// Runs the body of a handler, which must reply, as an operation that is recorded and counted.
// std::bad_alloc becomes ENOMEM instead of ending the mount. `operation` must be a string literal.
// `name` may be null.
template <typename Body>
void guarded(fuse_req_t request, const char* operation, fuse_ino_t ino, const char* name,
             Body body) {
  // The context is read first, because the reply frees the request.
  FrontendContext& context = context_of(request);
  const Measurement measurement(context.statistics, operation);
  const OperationsInProgress::Note note(context.in_progress, operation, ino, name,
                                        measurement.begin());
  begin_request(context.file_system);
  try {
    body();
  } catch (const std::bad_alloc&) {
    reply_error(request, operation, ino, name, Error(kOutOfMemory, "there is not enough memory"));
  }
}
template <typename Body>
void guarded(fuse_req_t request, const char* operation, fuse_ino_t ino, Body body) {
  guarded(request, operation, ino, nullptr, std::move(body));
}

struct stat stat_of(uint64_t ino, const gridfs::Attributes& attributes);
fuse_entry_param entry_param_of(fuse_req_t request, const EntryReply& entry);
// Calls AttrReplyTracker::sent() for the request's thread.
void record_reply(fuse_req_t request, uint64_t directory);

}  // namespace gridmount::fuse
