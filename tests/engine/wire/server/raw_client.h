// A client that is only a socket, so that a test controls every byte that is sent. Reading and
// sending wait for at most 120 seconds, as a sanitized server on a busy machine is slow.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "engine/wire/server/file_descriptor.h"
#include "tests/engine/wire/wire_message.h"

namespace gridmount::wire {

class RawClient {
 public:
  static RawClient to_socket_file(const std::filesystem::path& folder);
  // `address` is "127.0.0.1:PORT" or "[::1]:PORT".
  static RawClient to_address(const std::string& address);

  bool is_connected() const { return fd_.is_open(); }
  int fd() const { return fd_.get(); }

  // Returns false if the server has closed the connection, or accepts nothing for 120 seconds.
  bool send(std::span<const uint8_t> bytes);
  // Sends as much as the kernel accepts now. Returns the number of bytes.
  size_t send_now(std::span<const uint8_t> bytes);
  // Returns the next whole message, or nothing if the server has closed or is silent.
  std::optional<ReadReply> receive();
  std::optional<ReadReply> ask(bson::View command);
  // Reads up to the end of the stream, or until the server is silent for 120 seconds.
  std::string read_to_end();
  // Waits for the end of the stream. Discards what still arrives.
  bool is_closed_within(int milliseconds);
  bool is_silent_for(int milliseconds);

  void end_sending();  // half-closes the connection
  void close() { fd_.reset(); }
  void set_receive_buffer(int bytes);

 private:
  explicit RawClient(FileDescriptor fd);

  FileDescriptor fd_;
};

}  // namespace gridmount::wire
