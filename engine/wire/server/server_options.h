// The addresses on which a server listens and the limits for its clients.
//
// Not thread-safe: plain values.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace gridmount::wire {

// The limits of one server. A timeout ends a connection whose peer makes no progress for this time.
// Within a message or a reply, progress means that 4096 more bytes were transferred. So a slow peer
// stays connected, but a peer that sends single bytes does not.
struct ServerLimits {
  // The limit for connections. It is lower if the process may not open enough files for so many
  // connections. For the Unix socket, the limit is higher by 16.
  size_t connections_max = 10'000;
  // The limits for the memory of all received messages together, and of all replies together, in
  // bytes. memory_budget.h says what may exceed these limits.
  size_t request_bytes_max = size_t{128} << 20;
  size_t reply_bytes_max = size_t{128} << 20;

  std::chrono::milliseconds handshake_timeout{10'000};  // for the whole TLS handshake
  std::chrono::milliseconds receive_timeout{30'000};    // within a message
  std::chrono::milliseconds send_timeout{60'000};       // within a reply
  // The upper limit of receive_timeout and send_timeout for a connection that holds memory for its
  // message or reply while other connections wait for memory.
  std::chrono::milliseconds pressed_timeout{1'000};

  size_t io_threads = 2;
  // The largest number of commands that run at one time. worker_shares.h describes how clients
  // share them.
  size_t worker_threads = 64;
};

struct ServerOptions {
  // The folder in which the server makes the Unix socket gridmount.sock. If the path is empty, or
  // the folder's file system does not support sockets, the server has no Unix socket.
  std::filesystem::path socket_folder;
  std::vector<std::string> listen;  // HOST:PORT of TCP, one for each address
  // If true, clients over TCP must log in. The server itself does not check this, but its
  // RequestHandler must. If false, or without TLS, only loopback addresses are allowed.
  bool authentication = true;
  // PEM files like those of mongod's --tlsCertificateKeyFile and --tlsCAFile. Without a certificate
  // key file there is no TLS, and there must be no CA file.
  std::filesystem::path tls_certificate_key_file;
  std::filesystem::path tls_ca_file;
  // If there is a CA file, every TLS client must show a certificate, unless this is true (mongod's
  // --tlsAllowConnectionsWithoutCertificates). Without a CA file this must be false.
  bool tls_allows_no_certificate = false;
  ServerLimits limits;
};

}  // namespace gridmount::wire
