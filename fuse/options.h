// gridmount's command line. Not thread-safe. Only the main thread may parse it, because the parser
// may ask for a password at the terminal (password.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command_line/http_option.h"
#include "engine/base/error.h"
#include "engine/bson/value.h"
#include "engine/wire/server/endpoint.h"

namespace gridmount::fuse {

struct GridmountOptions {
  // The absolute path of the store's folder. For a deployment, this is its connection string
  // without credentials and options, which the log and the list of mounts show.
  std::filesystem::path store;
  std::optional<std::string> uri;     // the deployment's connection string, with its password
  std::filesystem::path mount_point;  // absolute
  std::string database = "test";
  std::optional<std::string> bucket;  // shown at the root; unset: the root lists the buckets

  bool foreground = false;
  bool remount = false;  // changes the flags of an existing mount
  bool create = false;   // makes the store if there is none
  bool read_only = false;

  // The parser always sets chunk_bytes, checkpoint_interval, checkpoint_bytes and expiry_interval,
  // so their initial 0 has no meaning. local::OpenOptions explains the last three.
  int32_t chunk_bytes = 0;              // the chunk size of new files
  bool md5 = true;                      // keeps the md5 of files
  std::optional<uint64_t> dirty_bytes;  // unset: a share of the memory
  std::optional<uint64_t> memory_max;  // unset: as much as the machine and the control groups allow
  std::chrono::milliseconds checkpoint_interval{0};
  uint64_t checkpoint_bytes = 0;
  uint64_t size_limit = 0;  // the largest size of data.mdb, in bytes; 0: no limit
  std::chrono::milliseconds expiry_interval{0};

  // The owner of files and directories without POSIX fields; unset: the user and group of this
  // process. Their mode is 0666 or 0777 without the bits of umask.
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  uint32_t umask = 022;
  bool access_lists = true;  // keeps and shows POSIX access control lists

  // `access_times`: a read of a file changes the file's atime. `folder_access_times`: a listing
  // changes the atime of the directory.
  bool access_times = true;
  bool folder_access_times = true;
  bool strict_access_times = false;  // every read changes atime; otherwise only the first
                                     // read after a change or after a day does

  uint32_t revisions = 0;        // earlier contents kept of each file
  std::optional<bson::Date> at;  // shows the tree of that time; implies read_only

  // For a deployment, which others change too: `cache_time` is how long the kernel may cache
  // attributes and names, and `server_timeout` is how long a call may wait for a server.
  std::chrono::milliseconds cache_time{0};
  std::chrono::milliseconds server_timeout{0};
  std::optional<uint64_t> read_ahead;  // bytes; unset: a share of the memory; 0: none
  std::optional<std::filesystem::path> disk_cache;
  uint64_t disk_cache_size = uint64_t{10} << 30;  // bytes

  // The server for drivers, whose socket is in the store's folder. Ignored for a deployment.
  wire::EndpointOptions endpoint;
  std::optional<std::string> metrics_address;  // HOST:PORT
  command_line::HttpOptions http;

  std::chrono::milliseconds stuck_after{0};  // operations that run longer are logged; zero: none

  std::string log_level;  // "trace", "debug", "info", "warning", "error" or "off"
  std::optional<std::filesystem::path> log_file;

  // Options of -o that the kernel or libfuse handles, except "ro": "allow_other", "nosuid", ...
  std::vector<std::string> mount_options;
};

struct CommandLine {
  GridmountOptions options;
  // The output of --help or --version. If it is set, the caller must print it and must not mount.
  std::optional<std::string> text;
};

// Parses `arguments`, which do not include the program's name. Fails with FailedToParse if
// libmongoc refuses the connection string, or if the password file cannot be read or begins with an
// empty line. Fails with InvalidOptions as check_http_options() does, and if --http-write is given
// for a read-only mount. Fails with BadValue for all other errors. If an option is the cause, the
// message names the option.
Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments);

}  // namespace gridmount::fuse
