// Transfers a large file with a driver's GridFS, and the same file through the mount.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gridmount::bench {

struct TransferOptions {
  uint64_t file_bytes = 0;  // a remainder of a MiB is left out
  uint64_t rounds = 3;
  std::filesystem::path socket;         // the daemon's socket
  std::filesystem::path bucket_folder;  // the directory of the bucket fs in the mount
};

struct Transfer {
  std::string key;
  std::string label;
  double floor = 0;                    // the least accepted rate relative to the mount's; 0: none
  std::vector<double> driver_seconds;  // by round
  std::vector<double> mount_seconds;
};

// Measures an upload until it is durable (fsync in the mount, the command fsync by the driver) and
// a download. Both downloads read what the driver uploaded. The kernel's cache then has the store's
// file, but not the mount's file. Uses libmongoc on one connection. Throws std::runtime_error on
// any failure, and if the contents differ.
std::vector<Transfer> measure_transfers(const TransferOptions& options);

}  // namespace gridmount::bench
