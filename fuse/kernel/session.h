// A FileSystem mounted: from mount(2) to the unmount.
//
// The kernel writes back: it collects writes in its page cache, owns size and mtime of a file while
// it has it cached, and hands data over on close, fsync, memory pressure and after some seconds. So
// before the mount ends on a signal, stop() has the kernel hand over what it still holds.
//
// This process never looks into its own mount: a thread that waits there for an answer cannot be
// killed, and would keep a killed daemon, and with it everybody who uses the mount, waiting for
// ever. What has to be done there is done by a child process without the connection.
//
// Thread-safety: run() by one thread; stop() by another, any time after mount().
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
  std::string source;                      // what mount(8) lists as the device
  std::vector<std::string> mount_options;  // "ro", "allow_other", "nosuid", ..., as libfuse takes
};

class Session {
 public:
  // The mount point is checked before (mount_point.h). An error is what libfuse or the kernel said.
  // `file_system` must outlive the session.
  static Result<std::unique_ptr<Session>> mount(FileSystem& file_system,
                                                const SessionOptions& options);
  virtual ~Session() = default;  // unmounts if that has not happened

  // Serves until the file system is unmounted by whomever. `on_ready` is called once, from another
  // thread, when the mount begins to answer. The calling thread must have called block_signals();
  // wake_signal() is used to wake it.
  virtual Status run(std::function<void()> on_ready) = 0;

  // Has the kernel write back what it holds, detaches the mount and ends run(). Files still open
  // then are served a moment longer and cut off. Returns when run() is about to.
  virtual void stop() = 0;

  // The kernel's, of this mount; after its end calls do nothing. Thread-safe, until the session
  // is destroyed.
  virtual KernelCache& kernel_cache() = 0;

  // Of all operations that the kernel has asked for.
  virtual const Statistics& statistics() const = 0;
  virtual OperationsInProgress& in_progress() = 0;
};

}  // namespace gridmount::fuse
