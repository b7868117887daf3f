// gridmount's command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/wire/server/endpoint.h"

namespace gridmount::fuse {

struct Options {
  std::filesystem::path store;        // absolute
  std::filesystem::path mount_point;  // absolute
  std::string database = "test";
  std::optional<std::string> bucket;  // shown at the root; none: the root lists the buckets

  bool foreground = false;
  bool remount = false;  // what is mounted already is to have other flags
  bool create = false;
  bool read_only = false;

  int32_t chunk_bytes = 0;
  bool md5 = true;
  std::optional<uint64_t> dirty_bytes;  // none: a share of the memory
  std::optional<uint64_t> memory_max;   // none: what the machine and control groups allow
  std::chrono::milliseconds checkpoint_interval{0};
  uint64_t checkpoint_bytes = 0;
  uint64_t size_limit = 0;  // of the store; 0: none
  std::chrono::milliseconds expiry_interval{0};

  // For files that say nothing about themselves.
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  uint32_t umask = 022;
  bool access_lists = true;

  // Whether reading changes atime, of folders too.
  bool access_times = true;
  bool folder_access_times = true;
  bool strict_access_times = false;  // each reading does, not only the first after a change

  uint32_t revisions = 0;        // contents kept of what is replaced
  std::optional<bson::Date> at;  // the time whose tree is shown; then read_only

  // The wire server beside the mount; its socket's folder is the store.
  wire::EndpointOptions endpoint;
  std::optional<std::string> metrics_address;  // HOST:PORT

  std::chrono::milliseconds stuck_after{0};  // zero: never said

  std::string log_level;
  std::optional<std::filesystem::path> log_file;

  // Those of -o that the kernel or libfuse see to: "ro", "allow_other", "nosuid", ...
  std::vector<std::string> mount_options;
};

struct CommandLine {
  Options options;
  // Of --help or --version: to be printed instead of mounting.
  std::optional<std::string> text;
};

// `arguments` without the program's name. BadValue with one line that names the option.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace gridmount::fuse
