// gridmount: mounts a store.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "command_line/endpoint_options.h"
#include "command_line/exit_status.h"
#include "command_line/secret_arguments.h"
#include "command_line/signals.h"
#include "command_line/store_argument.h"
#include "command_line/store_opening.h"
#include "engine/base/log.h"
#include "engine/local/open_store.h"
#include "engine/mongo/mongo_store.h"
#include "engine/system/file.h"
#include "engine/system/memory.h"
#include "engine/system/memory_limit.h"
#include "engine/wire/server/endpoint.h"
#include "engine/wire/server/process_end.h"
#include "fuse/daemon/bucket_statistics.h"
#include "fuse/daemon/change_follower.h"
#include "fuse/daemon/daemonize.h"
#include "fuse/daemon/log.h"
#include "fuse/daemon/metrics_text.h"
#include "fuse/daemon/mount_state.h"
#include "fuse/daemon/remount.h"
#include "fuse/daemon/service_manager.h"
#include "fuse/daemon/state_report.h"
#include "fuse/errno.h"
#include "fuse/kernel/mount_point.h"
#include "fuse/kernel/session.h"
#include "fuse/monitoring/watchdog.h"
#include "fuse/options.h"
#include "fuse/tree/buckets.h"
#include "fuse/tree/external_changes.h"
#include "fuse/tree/file_system.h"
#include "gridfs/bucket/error.h"
#include "gridfs/content/chunk_cache.h"
#include "http/http_server.h"
#include "http/metrics_page.h"

namespace gridmount::fuse {

namespace {

// A change stream answers twice a second, unless its server does not answer.
constexpr std::chrono::milliseconds kFollowerPatience{1500};
// Chunks that are being fetched ahead at the end arrive within this time, or are left behind.
constexpr std::chrono::milliseconds kFetchPatience{1500};

int status_number(ExitStatus status) {
  return static_cast<int>(status);
}

void warn_of_options_without_effect(const std::string& uri) {
  const Result<std::vector<std::string>> options = mongo::options_without_effect(uri);
  if (!options) return;  // impossible with the URI of an open store
  for (const std::string& option : *options) {
    log::warn(
        "{} of the connection string has no effect: a mount reads what the primary has, and its "
        "commits wait for a majority of the members",
        option);
  }
}

Result<std::unique_ptr<engine::Store>> open_store(const GridmountOptions& options) {
  if (options.uri) {
    mongo::ConnectOptions how;
    how.uri = *options.uri;
    how.application = "gridmount";
    how.server_timeout = options.server_timeout;
    // If a server does not answer, there is time left to ask another one.
    constexpr int kAnswersPerCall = 3;
    how.answer_timeout = std::max<std::chrono::milliseconds>(
        options.server_timeout / kAnswersPerCall, std::chrono::seconds(1));
    how.queues_transactions = true;
    return mongo::connect(how);
  }
  local::OpenOptions how;
  how.create = options.create;
  how.read_only = options.read_only;
  how.checkpoint_interval = options.checkpoint_interval;
  how.checkpoint_bytes = options.checkpoint_bytes;
  how.size_limit = options.size_limit;
  how.expiry_interval = options.expiry_interval;
  // If the store is locked but mounted nowhere, its last owner is about to close it.
  return command_line::open_store(options.store, how,
                                  [&] { return is_mounted_somewhere(options.store); });
}

// Returns the memory that each part may use. The total is --memory-max, or the limit of the system.
system::MemoryShares memory_shares(const GridmountOptions& options) {
  const uint64_t memory_bytes = options.memory_max.value_or(system::memory_limit());
  if (memory_bytes < system::kLeastMemory) {
    log::warn("this process may use {} MiB of memory, but needs {} MiB under load",
              memory_bytes >> 20, system::kLeastMemory >> 20);
  }
  return system::share_out(memory_bytes);
}

BucketSettings bucket_settings(const GridmountOptions& options,
                               const system::MemoryShares& memory) {
  BucketSettings settings;
  settings.database = options.database;
  settings.bucket.chunk_bytes = options.chunk_bytes;
  settings.bucket.md5 = options.md5;
  settings.paths.default_owner = {.uid = options.uid.value_or(getuid()),
                                  .gid = options.gid.value_or(getgid())};
  settings.paths.umask = options.umask;
  settings.paths.read_only = options.read_only;
  settings.paths.access_lists = options.access_lists;
  if (options.access_times) {
    settings.paths.access_times =
        options.folder_access_times ? gridfs::AccessTimeMode::kAll : gridfs::AccessTimeMode::kFiles;
  }
  settings.paths.strict_access_times = options.strict_access_times;
  settings.paths.revisions = options.revisions;
  settings.paths.at = options.at;
  settings.files.dirty_bytes_max = options.dirty_bytes.value_or(memory.dirty_bytes);
  settings.files.md5 = options.md5;
  if (options.uri) settings.cache_time = options.cache_time;
  settings.paths.directory_age_max = fuse::FileSystem::directory_age_max(settings.cache_time);
  return settings;
}

// Returns null without the option --disk-cache.
Result<std::shared_ptr<DiskCache>> open_disk_cache(const GridmountOptions& options) {
  if (!options.disk_cache) return nullptr;
  DiskCacheOptions how;
  how.folder = *options.disk_cache;
  how.bytes_max = options.disk_cache_size;
  how.complain = [](const Error& error) {
    log::warn("the disk cache cannot keep what was read: {}", error.message());
  };
  return DiskCache::open(how);
}

// Returns null for a store in a folder, and if nothing is to be fetched ahead.
std::shared_ptr<gridfs::ChunkCache> make_chunk_cache(engine::Store& store,
                                                     const GridmountOptions& options,
                                                     const system::MemoryShares& memory,
                                                     std::shared_ptr<DiskCache> disk) {
  gridfs::ChunkCacheOptions how;
  how.disk = std::move(disk);
  how.deployment = options.store.string();
  // A mount of a deployment serves no drivers, so their share of the memory is free.
  how.bytes_max = options.read_ahead.value_or(memory.dirty_bytes);
  if (!options.uri || how.bytes_max == 0) return nullptr;
  return std::make_shared<gridfs::ChunkCache>(store, how);
}

// Creates the first bucket of a store that is empty, because it is new or because its creation was
// interrupted. Creates the bucket of a deployment if it does not exist.
Status create_first_bucket(engine::Store& store, Buckets& buckets,
                           const GridmountOptions& options) {
  if (options.uri) {
    auto made = buckets.create(options.bucket.value_or("fs"));
    if (!made && made.error().code() != gridfs::kEntryExists) return fail(made.error());
    return {};
  }
  GM_ASSIGN(auto snapshot, store.snapshot());
  GM_ASSIGN(std::vector<std::string> databases, store.databases(*snapshot));
  if (!databases.empty()) return {};
  snapshot.reset();
  GM_ASSIGN(auto made, buckets.create(options.bucket.value_or("fs")));
  (void)made;
  return {};
}

Result<std::shared_ptr<MountedBucket>> root_bucket(Buckets& buckets,
                                                   const GridmountOptions& options) {
  if (!options.bucket) return std::shared_ptr<MountedBucket>();
  GM_ASSIGN(auto bucket, buckets.find(*options.bucket));
  // The bucket is opened now, so that errors are reported before the mount exists.
  GM_ASSIGN(auto paths, bucket->paths());
  (void)paths;
  return bucket;
}

// Without this check, a mistyped database of a deployment would be mounted as an empty database.
Status expect_buckets(Buckets& buckets, const GridmountOptions& options) {
  if (!options.uri || options.bucket) return {};
  GM_ASSIGN(const std::vector<std::string> names, buckets.names());
  if (!names.empty()) return {};
  return fail(gridfs::kNoSuchEntry, "the database '" + options.database + "' of " +
                                        options.store.string() +
                                        " has no bucket; 'gridmount --create' makes one");
}

// Returns null for a deployment, which drivers reach by its own servers. Also returns null if the
// store is read-only and its socket cannot be made, unless --listen is given.
Result<std::unique_ptr<wire::Endpoint>> start_endpoint(engine::Store& store,
                                                       const GridmountOptions& options,
                                                       const system::MemoryShares& memory) {
  if (options.uri) return std::unique_ptr<wire::Endpoint>();
  wire::EndpointOptions endpoint_options = options.endpoint;
  command_line::set_memory_shares(endpoint_options, memory);
  auto endpoint = wire::Endpoint::start(store, std::move(endpoint_options));
  if (!endpoint && options.read_only && options.endpoint.listen.empty()) {
    log::warn("cannot listen on the socket in {}, so no client can connect: {}",
              options.store.string(), endpoint.error().message());
    return std::unique_ptr<wire::Endpoint>();
  }
  if (endpoint) {
    for (const std::string& address : (*endpoint)->addresses()) {
      log::info("listening on {}", address);
    }
  }
  return endpoint;
}

// Returns null if no metrics are requested.
Result<std::unique_ptr<http::HttpServer>> start_metrics(Session& session, Buckets& buckets,
                                                        const GridmountOptions& options) {
  if (!options.metrics_address) return std::unique_ptr<http::HttpServer>();
  auto server = http::serve_metrics(*options.metrics_address, [&session, &buckets] {
    return metrics_text(mount_state(session, buckets));
  });
  if (!server) return fail(std::move(server).error().with_context("--metrics-address"));
  for (const std::string& address : (*server)->addresses()) {
    log::info("serving metrics at http://{}/metrics", address);
  }
  return server;
}

// Returns null without the option --http. `store` must report the changes of clients to the mount.
Result<std::unique_ptr<http::HttpServer>> start_http(WatchedStore& store, const Buckets& buckets,
                                                     const GridmountOptions& options) {
  if (!options.http.address) return std::unique_ptr<http::HttpServer>();
  http::HttpServerOptions how;
  how.address = *options.http.address;
  how.limits = options.http.limits;
  http::SiteOptions site;
  site.database = options.database;
  site.bucket = options.bucket;
  site.at = options.at;
  if (options.http.write) {
    const BucketSettings& settings = buckets.settings();
    http::WriteOptions write;
    write.chunk_bytes = settings.bucket.chunk_bytes;
    write.md5 = settings.bucket.md5;
    write.paths = settings.paths;
    // The counts do not include the changes that the mount makes, so the HTTP server cannot use
    // them.
    write.paths.changes_by_others = nullptr;
    write.upload_bytes_max = options.http.upload_bytes_max;
    site.write = std::move(write);
  }
  auto server = http::serve_files(store, std::move(site), std::move(how));
  if (!server) return fail(std::move(server).error().with_context("--http"));
  for (const std::string& address : (*server)->addresses()) {
    log::info("serving files at http://{}/", address);
  }
  return server;
}

// With a log file, SIGHUP means that the file was moved away. Without one, it is the hang-up of a
// terminal, which only concerns a daemon in the foreground.
SighupAction on_sighup(const GridmountOptions& options) {
  if (options.log_file) return SighupAction::kReopensLog;
  return options.foreground ? SighupAction::kStops : SighupAction::kIgnores;
}

// Stops the wire protocol's clients, either on a signal or after the end of the mount.
class ClientsEnd {
 public:
  // `endpoint` may be null.
  explicit ClientsEnd(wire::Endpoint* endpoint) : endpoint_(endpoint) {}

  // Returns within a bounded time. If a command does not end although it was told to, the time
  // until the end of the process is bounded too.
  void come() {
    std::call_once(has_come_, [this] {
      is_complete_ = endpoint_ == nullptr || endpoint_->stop();
      if (is_complete_) return;
      wire::end_process_within(wire::kPatienceWithStuck, status_number(ExitStatus::kCloseFailed));
    });
  }
  // If false, a command still uses the store, and the store must not be destroyed.
  bool is_complete() const { return is_complete_; }

 private:
  wire::Endpoint* const endpoint_;
  std::once_flag has_come_;
  std::atomic<bool> is_complete_ = true;
};

// Logs the result of the shutdown and returns the exit status.
ExitStatus closing_status(const Status& closed, const Status& served,
                          const GridmountOptions& options) {
  if (!closed) {
    log::error("closing {}: {}", options.store.string(), closed.error().message());
    return ExitStatus::kCloseFailed;
  }
  if (!served) {
    log::error("{}", served.error().message());
    return ExitStatus::kFailure;
  }
  log::info("{} is unmounted", options.store.string());
  return ExitStatus::kOk;
}

// Ends the process without destroying objects that a command or another thread may still use.
[[noreturn]] void end_at_once(ExitStatus status) {
  log::flush();
  _exit(status_number(status));
}

// Mounts the opened store, serves it until the end of the mount, and closes it. Reports through
// `startup` until the mount answers. `signals` is constructed when there is something to stop, and
// outlives the store, so that a second signal can also cut short the closing of the store.
ExitStatus serve(std::unique_ptr<engine::Store> store, const GridmountOptions& options,
                 Startup& startup, std::optional<Signals>& signals) {
  const system::MemoryShares memory = memory_shares(options);
  BucketSettings settings = bucket_settings(options, memory);
  const auto changes_by_clients = std::make_shared<gridfs::ChangesByOthers>();
  settings.paths.changes_by_others = changes_by_clients;
  auto disk_cache = open_disk_cache(options);
  if (!disk_cache) return startup.failed(ExitStatus::kFailure, disk_cache.error().message());
  const std::shared_ptr<gridfs::ChunkCache> chunk_cache =
      make_chunk_cache(*store, options, memory, std::move(disk_cache).value());
  settings.files.chunk_cache = chunk_cache;
  Buckets buckets(*store, std::move(settings));
  if (options.create) {
    if (auto made = create_first_bucket(*store, buckets, options); !made) {
      return startup.failed(exit_status_of(made.error().code()), made.error().message());
    }
  }
  if (const Status found = expect_buckets(buckets, options); !found) {
    const bool missing = found.error().code() == gridfs::kNoSuchEntry;
    return startup.failed(
        missing ? ExitStatus::kNoSuchBucket : exit_status_of(found.error().code()),
        found.error().message());
  }
  auto root = root_bucket(buckets, options);
  if (!root) {
    const bool missing = root.error().code() == gridfs::kNoSuchEntry;
    return startup.failed(missing ? ExitStatus::kNoSuchBucket : exit_status_of(root.error().code()),
                          root.error().message());
  }

  FileSystem file_system(buckets, std::move(root).value());
  SessionOptions session_options;
  session_options.mount_point = options.mount_point;
  session_options.source = options.store.string();
  session_options.mount_options = options.mount_options;
  session_options.mount_options.emplace_back(options.read_only ? "ro" : "rw");
  auto session = Session::mount(file_system, session_options);
  if (!session) {
    const bool denied = session.error().code() == ErrorCode::kPermissionDenied;
    return startup.failed(denied ? ExitStatus::kPermissionDenied : ExitStatus::kMountRefused,
                          session.error().message());
  }

  file_system.set_statistics([&session, &buckets](gridfs::PathNamespace& paths) {
    return bucket_statistics(mount_state(**session, buckets), paths);
  });

  // The kernel drops from its cache what a client of the wire protocol changes before the client
  // gets its reply.
  WatchedStore watched(
      *store, options.database,
      [&](const ExternalChanges& changes) {
        file_system.changed_externally(changes).invalidate((*session)->kernel_cache());
      },
      changes_by_clients);
  // Over a deployment, a change stream reports the changes of others. The stream begins before the
  // kernel caches anything.
  ChangeFollower follower(*store, options.database, [&](const FollowedChanges& changes) {
    file_system.changed_by_others(changes).invalidate((*session)->kernel_cache());
  });
  if (options.uri) follower.open();
  auto endpoint = start_endpoint(watched, options, memory);
  if (!endpoint) {
    return startup.failed(exit_status_of(endpoint.error().code()), endpoint.error().message());
  }
  auto metrics = start_metrics(**session, buckets, options);
  if (!metrics) return startup.failed(ExitStatus::kFailure, metrics.error().message());
  auto http = start_http(watched, buckets, options);
  if (!http) return startup.failed(ExitStatus::kFailure, http.error().message());

  ClientsEnd clients_end(endpoint->get());
  // Stops the clients first, so that their commands do not delay the mount's last writes.
  const auto stop = [&] {
    notify_manager_stopping();
    follower.request_end();
    if (chunk_cache) chunk_cache->request_end();
    clients_end.come();
    (*session)->stop();
  };
  signals.emplace(SignalActions{
      .stop = stop, .on_sighup = on_sighup(options), .reopen_log = reopen_log, .report = [&] {
        log_state(**session, buckets);
      }});
  Status served;
  {
    const Watchdog watchdog((*session)->in_progress(), options.stuck_after);
    served = (*session)->run([&] {
      log::info("{} is mounted at {}", options.store.string(), options.mount_point.string());
      startup.ready();
      notify_manager_ready(options.store.string() + " is mounted at " +
                           options.mount_point.string());
      follower.begin();
    });
  }
  notify_manager_stopping();
  follower.request_end();
  if (chunk_cache) chunk_cache->request_end();
  signals->end_actions();
  // The servers end before the session is destroyed, because clients' changes are reported to the
  // session and the metrics read its operations.
  const bool metrics_have_ended = !*metrics || (*metrics)->end(http::kHttpEndPatience);
  if (metrics_have_ended) metrics->reset();
  const bool http_has_ended = !*http || (*http)->end(http::kHttpEndPatience);
  if (http_has_ended) http->reset();
  clients_end.come();
  if (clients_end.is_complete()) endpoint->reset();
  // A thread that waits for a server or a disk is left behind.
  const bool follower_has_ended = follower.end(kFollowerPatience);
  const bool session_is_unused =
      clients_end.is_complete() && metrics_have_ended && http_has_ended && follower_has_ended;
  if (session_is_unused) session->reset();
  const bool cache_has_ended = !chunk_cache || chunk_cache->end(kFetchPatience);

  const ExitStatus status = closing_status(file_system.close(), served, options);
  if (!session_is_unused || !cache_has_ended) end_at_once(status);
  return status;
}

// Adds to the error the option with which gridmount opens the store, if there is one.
Error with_advice(const GridmountOptions& options, const Error& error) {
  if (options.uri || options.read_only) return error;
  if (error.code() == ErrorCode::kStoreReadOnly) {
    return Error(error.code(), error.message() + " (mount it with -o ro)");
  }
  return options.create ? error : command_line::with_create_advice(error, "gridmount");
}

ExitStatus start(GridmountOptions options) {
  if (options.remount) {
    if (auto done = remount(options); !done) {
      Startup user = Startup::in_foreground();
      return user.failed(done.error().status, done.error().message);
    }
    return ExitStatus::kOk;
  }
  if (options.http.address) {
    if (auto checked = http::HttpServer::check_address(*options.http.address); !checked) {
      Startup user = Startup::in_foreground();
      return user.failed(ExitStatus::kFailure, "--http: " + checked.error().message());
    }
  }
  auto mount_point = check_mount_point(options.mount_point,
                                       options.uri ? std::nullopt : std::optional(options.store));
  if (!mount_point) {
    Startup user = Startup::in_foreground();
    return user.failed(mount_point.error().status, mount_point.error().message);
  }
  options.mount_point = *std::move(mount_point);

  Result<Startup> startup =
      options.foreground ? Result<Startup>(Startup::in_foreground()) : Startup::in_background();
  if (!startup) {
    Startup user = Startup::in_foreground();
    return user.failed(ExitStatus::kFailure, startup.error().message());
  }
  block_signals();
  if (auto log = set_up_log(options); !log) {
    return startup->failed(ExitStatus::kFailure, log.error().message());
  }
  auto store = open_store(options);
  if (!store) {
    return startup->failed(exit_status_of(store.error().code()),
                           with_advice(options, store.error()).message());
  }
  if (!(*store)->capabilities().transactions) {
    log::warn(
        "{} is a standalone server, which has no transactions: a kill in the middle of a change "
        "may leave a part of it",
        options.store.string());
  }
  if (options.uri) warn_of_options_without_effect(*options.uri);
  std::optional<Signals> signals;
  return serve(std::move(store).value(), options, *startup, signals);
}

int run(std::span<char*> given) {
  auto line = parse_command_line(std::vector<std::string>(given.begin(), given.end()));
  command_line::hide_secrets(given, {});
  if (!line) {
    Startup user = Startup::in_foreground();
    return status_number(
        user.failed(ExitStatus::kFailure, line.error().message() + " (see gridmount --help)"));
  }
  if (line->text) {
    fputs(line->text->c_str(), stdout);
    return status_number(ExitStatus::kOk);
  }
  return status_number(start(std::move(line->options)));
}

}  // namespace

}  // namespace gridmount::fuse

int main(int argc, char** argv) {
  gridmount::system::outlive_file_size_limit();
  gridmount::system::tune_allocator();
  return gridmount::fuse::run(std::span(argv, static_cast<size_t>(argc)).subspan(argc > 0 ? 1 : 0));
}
