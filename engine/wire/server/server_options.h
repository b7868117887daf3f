// What a server listens on and what it allows its clients.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace gridmount::wire {

// Each limit holds for one server. Times are for peers that do nothing: a slow one that goes on is
// left alone.
struct ServerLimits {
  // The kernel's limit of open files lowers it.
  size_t connections_max = 10'000;
  // Of the messages received, and as much again of replies; see memory_budget.h for what goes
  // beyond.
  size_t request_bytes_max = size_t{128} << 20;
  size_t reply_bytes_max = size_t{128} << 20;

  std::chrono::milliseconds handshake_timeout{10'000};  // TLS, from the first byte to the last
  std::chrono::milliseconds receive_timeout{30'000};    // within a message
  std::chrono::milliseconds send_timeout{60'000};       // within a reply
  // Instead of both while others wait for the memory that such a message holds.
  std::chrono::milliseconds pressed_timeout{1'000};

  size_t io_threads = 2;
  // Commands that run at one time; worker_shares.h says who may have how many of them.
  size_t worker_threads = 64;
};

struct ServerOptions {
  // Where gridmount.sock is made, if its file system has sockets; empty: nowhere.
  std::filesystem::path socket_folder;
  std::vector<std::string> listen;  // HOST:PORT of TCP each
  // Whether clients of TCP must log in, which the handler sees to; without it, and without TLS,
  // only loopback addresses are listened on.
  bool authentication = true;
  // PEM files as mongod's --tlsCertificateKeyFile and --tlsCAFile. Empty: no TLS.
  std::filesystem::path tls_certificate_key_file;
  std::filesystem::path tls_ca_file;
  // With a CA file every client shows a certificate, unless this lets it show none, as mongod's
  // --tlsAllowConnectionsWithoutCertificates does.
  bool tls_allows_no_certificate = false;
  ServerLimits limits;
};

}  // namespace gridmount::wire
