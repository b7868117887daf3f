// Measures the rows against the server and the echo in alternating slices, over one connection per
// client.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/bench/wire/rows.h"

namespace gridmount::bench {

struct RoundTrip {
  WireRow row;
  uint64_t clients = 1;
  uint64_t operations = 0;  // in all slices, on each of the two servers
  uint64_t reply_bytes = 0;
  std::vector<double> server_seconds;  // by slice
  std::vector<double> echo_seconds;
};

struct RoundTripOptions {
  WireSizes sizes;
  std::vector<uint64_t> clients = {1, 16};
  uint64_t slices = 5;
  std::filesystem::path server;  // the server's socket file
  std::string self;              // this program, which also serves as the echo
};

// Makes socket files below `temp`. Checks the server's first reply for each row and number of
// clients, and its last reply to each client in each slice. Throws std::runtime_error if such a
// reply is wrong.
std::vector<RoundTrip> measure_round_trips(const RoundTripOptions& options,
                                           const std::filesystem::path& temp);

}  // namespace gridmount::bench
