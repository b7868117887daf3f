// Answers HTTP requests for the mount's metrics (metrics_request.h), one on each connection.
//
// Whoever can reach the address can read them; nothing can be changed. What clients can make it
// hold is bounded: kConnectionsMax connections, kHeadBytesMax of each, for kPatience. Beyond that a
// connection is closed. One thread does it all, and none of the mount's waits for it.
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
  // From the connection's begin to its end.
  static constexpr std::chrono::milliseconds kPatience{5000};

  // Answers from then on, or says why not: a text that is no HOST:PORT, an address in use.
  // `metrics` is called on the server's thread. Not to be called before fork().
  static Result<std::unique_ptr<MetricsServer>> start(const std::string& address,
                                                      std::function<std::string()> metrics);
  // No call of `metrics` is running after it.
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // HOST:PORT of each, with the port that was chosen where it was given as 0.
  std::vector<std::string> addresses() const;

 private:
  class Running;
  explicit MetricsServer(std::unique_ptr<Running> running);

  std::unique_ptr<Running> running_;
};

}  // namespace gridmount::fuse
