// The baseline: a server that reads each whole message, and answers it at once with a message of a
// given size. If a round trip to the real server takes longer, the difference is the server's own
// cost.
#pragma once

#include <cstdint>
#include <filesystem>

namespace gridmount::bench {

// Serves the socket file with one thread per connection, until the process is killed.
void run_echo(const std::filesystem::path& socket, uint32_t reply_bytes);

}  // namespace gridmount::bench
