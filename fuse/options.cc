#include "fuse/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include "command_line/connection_string.h"
#include "command_line/endpoint_options.h"
#include "command_line/exit_status.h"
#include "command_line/http_option.h"
#include "command_line/password.h"
#include "command_line/store_argument.h"
#include "command_line/usage_error.h"
#include "engine/mongo/mongo_store.h"
#include "engine/system/memory_limit.h"
#include "fuse/mount_options.h"
#include "fuse/tree/buckets.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/bucket/files_document.h"
#include "gridfs/content/file.h"
#include "gridfs/namespace/name_mapping.h"

namespace gridmount::fuse {

namespace {

constexpr uint64_t kMinDirtyBytes = 1024 * 1024;
constexpr uint64_t kMaxDirtyBytes = uint64_t{64} << 30;
constexpr uint64_t kMinReadAheadBytes = 1024 * 1024;
constexpr uint64_t kMaxReadAheadBytes = uint64_t{64} << 30;
constexpr uint64_t kMinDiskCacheBytes = 1024 * 1024;
constexpr uint64_t kMinCheckpointBytes = 1024 * 1024;
constexpr uint64_t kMinSizeLimit = 1024 * 1024;
constexpr uint64_t kMaxCheckpointBytes = uint64_t{1} << 40;
constexpr double kMinCheckpointSeconds = 0.01;
constexpr double kMaxCheckpointSeconds = 3600;
constexpr double kMinExpirySeconds = 0.1;
constexpr double kMaxExpirySeconds = 86400;
constexpr double kMaxCacheSeconds = 86400;
constexpr double kMinServerSeconds = 0.1;
constexpr double kMaxServerSeconds = 86400;
constexpr double kMinStuckSeconds = 0.01;
constexpr double kMaxStuckSeconds = 86400;

// Breaks the text into lines that fit a terminal beside the names of the options.
std::string wrapped(const std::string& text) {
  constexpr size_t kColumns = 66;
  std::string lines;
  size_t column = 0;
  std::istringstream words(text);
  for (std::string word; words >> word; column += word.size() + 1) {
    if (column + word.size() > kColumns) {
      lines += '\n';
      column = 0;
    } else if (column > 0) {
      lines += ' ';
    }
    lines += word;
  }
  return lines;
}

// Removes from -o's options those that are long options of the command line, and returns them as
// such: "db=media" as "--db=media".
std::vector<std::string> take_long_options(const CLI::App& app,
                                           std::vector<std::string>& mount_options) {
  static const std::set<std::string> kNotThere{"foreground", "help", "version"};
  std::vector<std::string> taken;
  std::erase_if(mount_options, [&](const std::string& option) {
    const std::string name = option.substr(0, option.find('='));
    // A single letter would match short options such as "-o".
    const bool is_long = name.size() > 1 && app.get_option_no_throw("--" + name) != nullptr;
    if (!is_long || kNotThere.contains(name)) return false;
    taken.push_back("--" + option);
    return true;
  });
  return taken;
}

// Returns one line for each status.
std::string exit_status_table() {
  static constexpr std::array<std::pair<ExitStatus, const char*>, 18> kLines{{
      {ExitStatus::kOk, "mounted (in the background), or unmounted cleanly (-f)"},
      {ExitStatus::kFailure, "wrong usage, or another failure; see the message"},
      {ExitStatus::kStoreNotFound, "there is no store at STORE (--create makes one)"},
      {ExitStatus::kNotAStore, "STORE is not a store"},
      {ExitStatus::kStoreFormatTooNew, "the store was written by a newer version"},
      {ExitStatus::kStoreLocked, "another process owns the store; the message names it"},
      {ExitStatus::kStoreReadOnly, "the store is on a read-only medium (-o ro mounts it)"},
      {ExitStatus::kPermissionDenied, "no permission for the store or the mount point"},
      {ExitStatus::kStoreDamaged, "the store's files are damaged"},
      {ExitStatus::kOutOfDiskSpace, "the disk is full"},
      {ExitStatus::kIoError, "the disk reported an error"},
      {ExitStatus::kFileSystemUnfit, "the store's file system is not suitable for a store"},
      {ExitStatus::kMountPointUnusable, "the mount point does not exist or is not a directory"},
      {ExitStatus::kMountPointBusy, "a store, or a dead mount, is already at the mount point"},
      {ExitStatus::kMountRefused, "the system refused the mount"},
      {ExitStatus::kNoSuchBucket, "the store has no bucket of the name given with -o bucket="},
      {ExitStatus::kCloseFailed, "not all data could be written at shutdown (-f)"},
      {ExitStatus::kServerUnreachable, "no server of the deployment can be reached"},
  }};
  std::string table;
  for (const auto& [status, meaning] : kLines) {
    std::string number = std::to_string(static_cast<int>(status));
    table += "  " + std::string(2 - number.size(), ' ') + number + "  " + meaning + "\n";
  }
  return table;
}

// Options that only a store in a folder has, and those that only a deployment has.
constexpr std::array<std::string_view, 10> kOfFolders{
    "--checkpoint-interval",
    "--checkpoint-bytes",
    "--size-limit",
    "--expiry-interval",
    "--http",
    "--listen",
    "--no-auth",
    "--tls-ca-file",
    "--tls-certificate-key-file",
    "--tls-allow-connections-without-certificates"};
constexpr std::array<std::string_view, 6> kOfDeployments{"--cache-seconds",  "--read-ahead",
                                                         "--disk-cache",     "--disk-cache-size",
                                                         "--server-timeout", "--password-file"};

// Refuses the options of the other kind of store.
Status check_fits(const CLI::App& app, bool is_deployment) {
  const std::span<const std::string_view> others =
      is_deployment ? std::span<const std::string_view>(kOfFolders) : kOfDeployments;
  for (const std::string_view option : others) {
    if (app.count(std::string(option)) == 0) continue;
    return fail(ErrorCode::kBadValue,
                std::string(option) +
                    (is_deployment ? " is for stores in folders, not for a MongoDB deployment"
                                   : " is for MongoDB deployments, not for a store in a folder"));
  }
  return {};
}

// Sets the database and the connection string, with its password.
Status read_uri(const CLI::App& app, const std::string& uri, const std::string& password_file,
                GridmountOptions& options) {
  GM_ASSIGN(const std::string database, mongo::database_of(uri));
  if (!database.empty()) {
    if (app.count("--db") != 0 && options.database != database) {
      return fail(ErrorCode::kBadValue, "--db " + options.database +
                                            " contradicts the connection string, which names " +
                                            database);
    }
    options.database = database;
  }
  GM_ASSIGN(options.uri, command_line::uri_with_password(uri, password_file));
  return {};
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments) {
  CommandLine line;
  GridmountOptions& options = line.options;
  uint64_t chunk_bytes = gridfs::kDefaultChunkBytes;
  std::optional<uint64_t> dirty_bytes;
  uint64_t checkpoint_bytes = uint64_t{64} << 20;
  double checkpoint_seconds = 1;
  double expiry_seconds = 60;
  double stuck_seconds = 60;
  double cache_seconds = 1;
  double server_seconds = 30;
  bool no_md5 = false;
  std::string store;
  std::string mount_point;
  std::string disk_cache;
  std::string log_file;
  std::string password_file;
  std::vector<std::string> lists;

  CLI::App app(
      "Mounts the GridFS buckets of a store, or of a MongoDB deployment, as a file system.\n"
      "Returns when the mount answers; fusermount3 -u MOUNTPOINT ends it.",
      "gridmount");
  // Parses "16M" and the like. Each option describes its own format in the help.
  CLI::Validator size_value = CLI::AsSizeValue(false);
  size_value.description("");
  app.set_version_flag("-V,--version", std::string("gridmount ") + GRIDMOUNT_VERSION);
  app.add_option("STORE", store,
                 "folder of the store, or the connection string of a deployment: "
                 "mongodb://HOST/DATABASE")
      ->type_name("")
      ->required();
  app.add_option("MOUNTPOINT", mount_point, "directory to mount at")->type_name("")->required();
  app.add_flag("-f,--foreground", options.foreground, "stay in the foreground, log to stderr");
  app.add_option("-o", lists, "mount options, see below")
      ->type_name("LIST")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--create", options.create,
               "create the store if it does not exist, with the bucket 'fs'");
  app.add_option("--db", options.database, "database of the store")
      ->check(command_line::database_name())
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--chunk-size", chunk_bytes, "bytes per chunk of new files, e.g. 255K")
      ->transform(size_value)
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_flag("--no-md5", no_md5, "do not keep md5 digests of files");
  app.add_option(
         "--dirty-bytes", dirty_bytes,
         "memory for uncommitted data, e.g. 32M; default: a sixteenth of the memory, at most 64M")
      ->transform(size_value)
      ->type_name("SIZE");
  app.add_option("--memory-max", options.memory_max,
                 "memory limit of the whole process, at least 96M; default: what the machine "
                 "and its control groups allow")
      ->transform(size_value)
      ->type_name("SIZE");
  app.add_option("--checkpoint-interval", checkpoint_seconds,
                 "seconds of work that may be lost on power failure")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option(
         "--checkpoint-bytes", checkpoint_bytes,
         "bytes that the store may add or free before an early checkpoint makes them durable")
      ->transform(size_value)
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_option("--size-limit", options.size_limit,
                 "maximum size of the store, e.g. 10G; 0: only the disk limits it")
      ->transform(size_value)
      ->type_name("SIZE")
      ->capture_default_str();
  app.add_option("--expiry-interval", expiry_seconds,
                 "seconds between removals of documents that have expired under TTL indexes")
      ->type_name("SECONDS")
      ->capture_default_str();
  command_line::add_endpoint_options(app, options.endpoint);
  command_line::add_http_options(app, options.http);
  app.add_option("--metrics-address", options.metrics_address,
                 "address that serves GET /metrics for Prometheus; everybody who can reach it can "
                 "read the metrics, so use a loopback address")
      ->type_name("HOST:PORT");
  app.add_option("--cache-seconds", cache_seconds,
                 "deployments only: how long others' changes may stay unseen")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option(
         "--read-ahead", options.read_ahead,
         "deployments only: memory for what is read and fetched ahead, e.g. 32M; 0: nothing "
         "is fetched ahead; default: a sixteenth of the memory, at most 64M")
      ->transform(size_value)
      ->type_name("SIZE");
  CLI::Option* const disk_cache_option =
      app.add_option(
             "--disk-cache", disk_cache,
             "deployments only: folder on this machine's disk that keeps what was read, also "
             "for the next mount; only this user may have access to it")
          ->type_name("FOLDER");
  app.add_option("--disk-cache-size", options.disk_cache_size,
                 "deployments only: how much the folder may hold; a twentieth of its file system "
                 "stays free in any case")
      ->transform(size_value)
      ->type_name("SIZE")
      ->default_str("10G")
      ->needs(disk_cache_option);
  app.add_option("--server-timeout", server_seconds,
                 "deployments only: how long a call may wait for a server that does not answer")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--password-file", password_file,
                 "deployments only: file whose first line is the password of the user in the "
                 "connection string; default: the variable GRIDMOUNT_PASSWORD, or a prompt")
      ->type_name("FILE");
  app.add_option("--stuck-after", stuck_seconds,
                 "log operations that run longer than this many seconds; 0: never")
      ->type_name("SECONDS")
      ->capture_default_str();
  app.add_option("--log-level", options.log_level, "trace, debug, info, warning, error or off")
      ->type_name("LEVEL")
      ->check(
          CLI::IsMember(std::set<std::string>{"trace", "debug", "info", "warning", "error", "off"})
              .description(""))
      ->default_str("info");
  app.add_option("--log-file", log_file, "log to this file instead of syslog or stderr")
      ->type_name("FILE");
  for (CLI::Option* const option : app.get_options()) {
    option->description(wrapped(option->get_description()));
  }
  app.footer(std::string(mount_options_help()) + "\nExit status:\n" + exit_status_table());

  std::vector<std::string> mount_options;
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    for (const std::string& list : lists) {
      for (std::string& option : split_mount_options(list)) {
        mount_options.push_back(std::move(option));
      }
    }
    const std::vector<std::string> further = take_long_options(app, mount_options);
    if (!further.empty()) {
      std::vector<std::string> reversed(further.rbegin(), further.rend());
      reversed.insert(reversed.end(), arguments.rbegin(), arguments.rend());
      app.parse(std::move(reversed));
    }
  } catch (const CLI::CallForHelp&) {
    line.text = app.help();
    return line;
  } catch (const CLI::CallForVersion&) {
    line.text = std::string("gridmount ") + GRIDMOUNT_VERSION + "\n";
    return line;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kBadValue, command_line::usage_error(app, error));
  }

  if (chunk_bytes < 1 || chunk_bytes > static_cast<uint64_t>(gridfs::kMaxChunkBytes)) {
    return fail(ErrorCode::kBadValue, "--chunk-size must be from 1 to " +
                                          std::to_string(gridfs::kMaxChunkBytes) + " bytes");
  }
  if (dirty_bytes && (*dirty_bytes < kMinDirtyBytes || *dirty_bytes > kMaxDirtyBytes)) {
    return fail(ErrorCode::kBadValue, "--dirty-bytes must be from 1M to 64G");
  }
  if (options.read_ahead.value_or(0) != 0 &&
      (*options.read_ahead < kMinReadAheadBytes || *options.read_ahead > kMaxReadAheadBytes)) {
    return fail(ErrorCode::kBadValue, "--read-ahead must be 0 or from 1M to 64G");
  }
  if (options.disk_cache_size < kMinDiskCacheBytes) {
    return fail(ErrorCode::kBadValue, "--disk-cache-size must be 1M or more");
  }
  if (!disk_cache.empty() && options.read_ahead == 0) {
    return fail(ErrorCode::kBadValue, "--disk-cache needs the memory of --read-ahead, which is 0");
  }
  if (options.memory_max && *options.memory_max < system::kLeastMemory) {
    return fail(ErrorCode::kBadValue, "--memory-max must be 96M or more");
  }
  // This form of the condition also refuses "nan".
  if (!(checkpoint_seconds >= kMinCheckpointSeconds &&
        checkpoint_seconds <= kMaxCheckpointSeconds)) {
    return fail(ErrorCode::kBadValue, "--checkpoint-interval must be from 0.01 to 3600 seconds");
  }
  if (checkpoint_bytes < kMinCheckpointBytes || checkpoint_bytes > kMaxCheckpointBytes) {
    return fail(ErrorCode::kBadValue, "--checkpoint-bytes must be from 1M to 1T");
  }
  if (options.size_limit != 0 && options.size_limit < kMinSizeLimit) {
    return fail(ErrorCode::kBadValue, "--size-limit must be 0 or at least 1M");
  }
  if (!(expiry_seconds >= kMinExpirySeconds && expiry_seconds <= kMaxExpirySeconds)) {
    return fail(ErrorCode::kBadValue, "--expiry-interval must be from 0.1 to 86400 seconds");
  }
  if (stuck_seconds != 0 &&
      !(stuck_seconds >= kMinStuckSeconds && stuck_seconds <= kMaxStuckSeconds)) {
    return fail(ErrorCode::kBadValue, "--stuck-after must be from 0.01 to 86400 seconds, or 0");
  }
  if (!(cache_seconds >= 0 && cache_seconds <= kMaxCacheSeconds)) {
    return fail(ErrorCode::kBadValue, "--cache-seconds must be from 0 to 86400 seconds");
  }
  if (!(server_seconds >= kMinServerSeconds && server_seconds <= kMaxServerSeconds)) {
    return fail(ErrorCode::kBadValue, "--server-timeout must be from 0.1 to 86400 seconds");
  }
  const bool is_deployment = command_line::is_connection_string(store);
  GM_TRY(command_line::check_connection_string(store));
  GM_TRY(check_fits(app, is_deployment));
  GM_TRY(command_line::check_http_options(options.http, options.endpoint));
  if (is_deployment) GM_TRY(read_uri(app, store, password_file, options));
  options.remount =
      std::find(mount_options.begin(), mount_options.end(), "remount") != mount_options.end();
  // The files of a deployment may belong to others, so reads do not change atimes unless an option
  // asks for it.
  if (options.uri) options.access_times = false;
  for (const std::string& option : mount_options) GM_TRY(parse_mount_option(option, options));
  if (options.at) options.read_only = true;
  if (options.http.write && options.read_only) {
    return fail(ErrorCode::kInvalidOptions,
                "--http-write changes files, so it excludes -o ro and -o at=TIME");
  }
  if (options.create && options.read_only) {
    return fail(ErrorCode::kBadValue, "--create excludes -o ro and -o at=");
  }
  // The name is checked before the store is created.
  if (options.create && options.bucket) {
    if (const Status named = check_bucket_name(options.database, *options.bucket); !named) {
      return fail(ErrorCode::kBadValue,
                  "-o bucket=" + *options.bucket + ": " + named.error().message());
    }
  }
  if (options.at && options.revisions > 0) {
    return fail(ErrorCode::kBadValue, "-o at= mounts read-only, so it excludes -o revisions=");
  }
  if (options.log_level.empty()) options.log_level = "info";

  options.chunk_bytes = static_cast<int32_t>(chunk_bytes);
  options.dirty_bytes = dirty_bytes;
  options.expiry_interval = std::chrono::milliseconds(std::llround(expiry_seconds * 1000));
  options.checkpoint_interval = std::chrono::milliseconds(std::llround(checkpoint_seconds * 1000));
  options.checkpoint_bytes = checkpoint_bytes;
  options.stuck_after = std::chrono::milliseconds(std::llround(stuck_seconds * 1000));
  options.md5 = !no_md5;
  options.cache_time = std::chrono::milliseconds(std::llround(cache_seconds * 1000));
  options.server_timeout = std::chrono::milliseconds(std::llround(server_seconds * 1000));
  // The paths are made absolute, because the daemon changes its working directory.
  std::error_code error;
  options.store = options.uri ? std::filesystem::path(command_line::without_secrets(store))
                              : std::filesystem::absolute(store, error).lexically_normal();
  if (!error)
    options.mount_point = std::filesystem::absolute(mount_point, error).lexically_normal();
  if (!error && !disk_cache.empty()) {
    options.disk_cache = std::filesystem::absolute(disk_cache, error);
  }
  if (!error && !log_file.empty()) options.log_file = std::filesystem::absolute(log_file, error);
  for (std::filesystem::path* file :
       {&options.endpoint.tls_certificate_key_file, &options.endpoint.tls_ca_file}) {
    if (!error && !file->empty()) *file = std::filesystem::absolute(*file, error);
  }
  options.endpoint.socket_folder = options.store;
  options.endpoint.arguments.emplace_back("gridmount");
  options.endpoint.arguments.insert(options.endpoint.arguments.end(), arguments.begin(),
                                    arguments.end());
  if (options.disk_cache) {
    const auto below =
        options.disk_cache->lexically_normal().lexically_relative(options.mount_point);
    if (!below.empty() && *below.begin() != "..") {
      return fail(ErrorCode::kBadValue,
                  "the folder of --disk-cache must not be below the mount point");
    }
  }
  if (error) {
    return fail(ErrorCode::kBadValue, "cannot read the current directory: " + error.message());
  }
  return line;
}

}  // namespace gridmount::fuse
