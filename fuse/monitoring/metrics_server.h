// Serves the mount's metrics over HTTP (metrics_request.h), one request per connection.
//
// Everybody who can reach the address can read the metrics. Nothing can be changed. The resources
// that clients can occupy are bounded: there are at most kConnectionsMax connections at a time.
// Each may send a request head of at most kHeadBytesMax bytes, and may last for kPatience. A
// further connection is closed at once, without a reply. A connection that lasts longer is closed
// after kPatience. A longer head gets the status 431. One thread does all the work, and no thread
// of the mount waits for this thread.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::fuse {

class MetricsServer {
 public:
  static constexpr size_t kConnectionsMax = 16;
  static constexpr size_t kHeadBytesMax = 8192;
  // The maximum duration of a connection.
  static constexpr std::chrono::milliseconds kPatience{5000};

  // Starts the server. Fails if the address is not HOST:PORT or is in use. Calls `metrics` on the
  // server's thread, while other threads run, so `metrics` must be thread-safe. Starts a thread, so
  // it must be called after the move into the background (daemonize.h).
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& address,
                                                      std::function<std::string()> metrics);
  // No call of `metrics` is running when the destructor returns.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // Returns HOST:PORT of each address on which the server listens. If the given port was 0, this is
  // the port that the system has chosen.
  std::vector<std::string> addresses() const;

 private:
  class Running;
  explicit MetricsServer(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace gridmount::fuse
