// The server's data about one connection: its peer, and the state that its commands have set.
//
// Not thread-safe, except for the functions whose comments say so: the server handles a
// connection's requests one after another, so only one thread at a time uses the Client.
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

// The other end of a connection.
struct Peer {
  enum class Kind {
    kInProcess,  // no socket: tests, and programs that embed the service
    kSocket,     // gridmount.sock; the kernel tells the peer's process
    kTcp,
  };
  Kind kind = Kind::kInProcess;
  std::string address = {};  // "127.0.0.1:51234", or "gridmount.sock:<pid>"
  bool is_loopback = true;
  bool is_tls = false;
  std::string certificate_subject = {};  // the subject of the verified client certificate; empty if
                                         // there is none
};

// Returns an address without its port, because each connection has a different port. Returns the
// /64 network of an IPv6 address, because one host can use all addresses of its network. Returns
// the IPv4 address of a mapped IPv4 address ("::ffff:1.2.3.4").
std::string host_of(std::string_view address);

class Client {
 public:
  Client(int32_t connection_id, Peer peer) : id_(connection_id), peer_(std::move(peer)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Connections are numbered from 1, and each number is unique in this process. hello reports the
  // number as connectionId. id() and peer() are thread-safe.
  int32_t id() const { return id_; }
  const Peer& peer() const { return peer_; }

  // The `client` document of the first hello that has one. Empty before that hello.
  const bson::Document& metadata() const { return metadata_; }
  void set_metadata(bson::Document metadata) { metadata_ = std::move(metadata); }

  // The fields that getLastError reports about the last write command. Empty before the first write
  // command.
  const bson::Document& last_write() const { return last_write_; }
  void set_last_write(bson::Document result) { last_write_ = std::move(result); }

  // The time at which a waiting hello must be answered although nothing has changed. Empty if no
  // hello waits.
  using TimePoint = std::chrono::steady_clock::time_point;
  const std::optional<TimePoint>& hello_awaits_until() const { return hello_awaits_until_; }
  void set_hello_awaits_until(std::optional<TimePoint> until) { hello_awaits_until_ = until; }

  // Returns true if the connection has ended. Operations that still run for the client may then
  // stop. gone() and set_gone() are thread-safe.
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
