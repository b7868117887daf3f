// What the server knows of one connection: where it comes from and what it has said of itself.
//
// Used by one thread at a time (a connection's requests are answered one after the other), apart
// from what says otherwise.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/bson/document.h"

namespace gridmount::wire {

// Where a connection comes from.
struct Peer {
  enum class Kind {
    kInProcess,  // no socket: tests, and programs that embed the service
    kSocket,     // gridmount.sock, whose peer the kernel names
    kTcp,
  };
  Kind kind = Kind::kInProcess;
  std::string address = {};  // "127.0.0.1:51234", or "gridmount.sock:<pid>"
  bool is_loopback = true;
  bool is_tls = false;
  std::string certificate_subject = {};  // of a verified client certificate, else empty
};

// An address without its port, which each connection has another of; of IPv6 the network's part,
// as one host has all the addresses of its network.
std::string host_of(std::string_view address);

class Client {
 public:
  Client(int32_t connection_id, Peer peer) : id_(connection_id), peer_(std::move(peer)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // From 1, unique in this process; what hello calls connectionId.
  int32_t id() const { return id_; }
  const Peer& peer() const { return peer_; }

  // The `client` document of its first hello; empty before.
  const bson::Document& metadata() const { return metadata_; }
  void set_metadata(bson::Document metadata) { metadata_ = std::move(metadata); }

  // What getLastError says of the last write command; empty before the first.
  const bson::Document& last_write() const { return last_write_; }
  void set_last_write(bson::Document result) { last_write_ = std::move(result); }

  // When a hello that awaits a change is answered without one; none while none waits.
  using TimePoint = std::chrono::steady_clock::time_point;
  const std::optional<TimePoint>& hello_awaits_until() const { return hello_awaits_until_; }
  void set_hello_awaits_until(std::optional<TimePoint> until) { hello_awaits_until_ = until; }

  // The connection has ended: what it still runs may stop, what it left is to be given back.
  // Thread-safe.
  bool gone() const { return gone_.load(std::memory_order_relaxed); }
  void set_gone() { gone_.store(true, std::memory_order_relaxed); }

 private:
  const int32_t id_;
  const Peer peer_;
  bson::Document metadata_;
  bson::Document last_write_;
  std::optional<TimePoint> hello_awaits_until_;
  std::atomic<bool> gone_ = false;
};

}  // namespace gridmount::wire
