// A mounted FileSystem, from mount(2) to the unmount.
//
// Over a local store, the kernel's page cache is in writeback mode: the kernel collects writes in
// the cache, and only the kernel knows the present size and mtime of a cached file. The kernel
// sends the data on close, fsync, memory pressure, and after some seconds. So stop(), which ends
// the mount on a signal, first makes the kernel send all data that the kernel still has.
//
// This process never accesses its own mount. A thread that is blocked in its own mount cannot be
// killed. So the daemon could not be killed either, and all users of the mount would hang. A child
// process that does not have the FUSE connection does what must be done in the mount.
//
// run() must be called at most once. Other threads may call the other functions at any time after
// mount().
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fuse/monitoring/operations_in_progress.h"
#include "fuse/monitoring/statistics.h"
#include "fuse/tree/file_system.h"
#include "fuse/tree/kernel_cache.h"

namespace gridmount::fuse {

struct SessionOptions {
  std::filesystem::path mount_point;       // absolute
  std::string source;                      // shown by mount(8) as the device
  std::vector<std::string> mount_options;  // for libfuse: "ro", "allow_other", "nosuid", ...
};

class Session {
 public:
  // Mounts `file_system`, which must outlive the session. The caller must have checked the mount
  // point (mount_point.h). Fails with PermissionDenied or OperationFailed. The message has the
  // reason that libfuse or the kernel gives.
  static Result<std::unique_ptr<Session>> mount(FileSystem& file_system,
                                                const SessionOptions& options);
  virtual ~Session() = default;  // unmounts if the session is still mounted

  // Serves until somebody unmounts the file system. Calls `on_ready` once, on the calling thread,
  // when the mount begins to answer. The calling thread must have called block_signals(), because
  // stop() wakes this thread with the signal wake_signal(). Fails with IoError if the connection to
  // the kernel fails.
  virtual Status run(std::function<void()> on_ready) = 0;

  // Makes the kernel write back its cached data, detaches the mount and ends run(). Waits at most
  // one minute for the data. Files that are still open are served for up to 2 s longer, and then
  // every access to these files fails. Returns when run() is about to return.
  virtual void stop() = 0;

  // Returns the kernel's cache of this mount. After the end of the mount, the functions of
  // KernelCache do nothing. They are thread-safe, and may be called until the session is destroyed.
  virtual KernelCache& kernel_cache() = 0;

  // Returns the statistics of all operations that the kernel has requested.
  virtual const Statistics& statistics() const = 0;
  // Returns the operations that run at the moment.
  virtual OperationsInProgress& in_progress() = 0;
};

}  // namespace gridmount::fuse
