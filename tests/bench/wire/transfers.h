// Transfers a large file by a driver's GridFS and the same file through the mount.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gridmount::bench {

struct TransferOptions {
  uint64_t file_bytes = 0;
  uint64_t rounds = 3;
  std::filesystem::path socket;         // of the daemon
  std::filesystem::path bucket_folder;  // of the bucket fs, where it is mounted
};

struct Transfer {
  std::string key;
  std::string label;
  double floor = 0;                    // least accepted rate by the mount's; 0: none
  std::vector<double> driver_seconds;  // by round
  std::vector<double> mount_seconds;
};

// Up, until it is durable (fsync in the mount, the command fsync by the driver), and down: what the
// driver put is read by both, the mount's copy not yet in the kernel's cache. libmongoc on one
// connection. Throws std::runtime_error on any failure, also if the content differs.
std::vector<Transfer> measure_transfers(const TransferOptions& options);

}  // namespace gridmount::bench
