// Clients of an HTTP server: raw sockets, which the destructor closes at the latest.
//
// Not thread-safe.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

namespace gridmount::http {

class HttpClients {
 public:
  HttpClients() = default;
  ~HttpClients() { disconnect_all(); }
  HttpClients(const HttpClients&) = delete;
  HttpClients& operator=(const HttpClients&) = delete;

  // Takes an address of a server: 127.0.0.1:PORT.
  void set_address(const std::string& address) {
    port_ = static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }
  int connect() {
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    clients_.push_back(client);
    return client;
  }
  void disconnect_all() {
    for (const int client : clients_) close(client);
    clients_.clear();
  }
  static void send_text(int client, std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(client, text.data(), text.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      text.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // Reads until the server ends or resets the stream.
  static std::string receive_all(int client) {
    std::string received;
    char bytes[4096];
    for (ssize_t size; (size = recv(client, bytes, sizeof bytes, 0)) > 0;) {
      received.append(bytes, static_cast<size_t>(size));
    }
    return received;
  }
  // Reads until the received text ends with `end`, or the stream ends.
  static std::string receive_until(int client, std::string_view end) {
    std::string received;
    char byte = 0;
    while (!received.ends_with(end) && recv(client, &byte, 1, 0) == 1) received += byte;
    return received;
  }
  std::string ask(std::string_view request) {
    const int client = connect();
    send_text(client, request);
    return receive_all(client);
  }

 private:
  uint16_t port_ = 0;
  std::vector<int> clients_;
};

}  // namespace gridmount::http
