#include "engine/wire/server/server.h"

#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/base/log.h"
#include "engine/base/thread_name.h"
#include "engine/wire/server/acceptor.h"
#include "engine/wire/server/connection.h"
#include "engine/wire/server/listen_address.h"
#include "engine/wire/server/socket_file.h"
#include "engine/wire/server/tls.h"

namespace gridmount::wire {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenSweeps{200};
constexpr std::chrono::milliseconds kBetweenExpiries{5'000};
constexpr std::chrono::milliseconds kBetweenTrims{1'000};
constexpr std::chrono::milliseconds kBetweenWarnings{1'000};

// Descriptors kept for the store, the log and other files of the process.
constexpr size_t kDescriptorsKept = 128;
// Connections that only clients of the Unix socket may use, so that the user who owns the store can
// connect when clients over TCP have taken all others.
constexpr size_t kConnectionsKeptForSocket = 16;

// A peer that has vanished silently is detected after some minutes.
constexpr int kKeepAliveIdleSeconds = 120;
constexpr int kKeepAliveIntervalSeconds = 10;
constexpr int kKeepAliveProbes = 6;

size_t connections_that_fit(size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return wanted;
  const size_t descriptors = limit.rlim_cur;
  const size_t kept = std::min(kDescriptorsKept, descriptors / 2);
  return std::min(wanted, descriptors - kept);
}

void set_option(int fd, int level, int name, int value) {
  // Failure is ignored, because the socket works without these options.
  (void)::setsockopt(fd, level, name, &value, sizeof value);
}

void prepare_tcp(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
}

// Returns nothing if the connection has already ended.
std::optional<Peer> tcp_peer(int fd) {
  asio::ip::tcp::endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  if (::getpeername(fd, endpoint.data(), &size) != 0) return std::nullopt;
  endpoint.resize(size);
  Peer peer;
  peer.kind = Peer::Kind::kTcp;
  peer.address = text_of(endpoint);
  peer.is_loopback = is_loopback(endpoint.address());
  return peer;
}

struct Listeners {
  std::optional<SocketFile> socket_file;
  std::vector<TcpListener> tcp;
  std::optional<TlsContext> tls;
};

Result<Listeners> listen(const ServerOptions& options) {
  Listeners listeners;
  const bool has_tls = !options.tls_certificate_key_file.empty();
  if (has_tls) {
    GM_ASSIGN(listeners.tls,
              TlsContext::load({options.tls_certificate_key_file, options.tls_ca_file,
                                options.tls_allows_no_certificate}));
  } else if (!options.tls_ca_file.empty()) {
    return fail(ErrorCode::kInvalidOptions,
                "a TLS CA file needs a TLS certificate key file beside it");
  }
  if (options.tls_allows_no_certificate && options.tls_ca_file.empty()) {
    return fail(
        ErrorCode::kInvalidOptions,
        "--tls-allow-connections-without-certificates needs a TLS CA file; without one clients "
        "are never asked for certificates");
  }
  for (const std::string& text : options.listen) {
    GM_ASSIGN(const ListenAddress address, ListenAddress::parse(text));
    GM_ASSIGN(const auto endpoints, resolve(address));
    for (const auto& endpoint : endpoints) {
      GM_TRY(check_exposure(endpoint, options.authentication, has_tls));
    }
    GM_ASSIGN(auto added, listen_on(endpoints));
    std::move(added.begin(), added.end(), std::back_inserter(listeners.tcp));
  }
  // The socket file comes last. If another listener fails, no file is left behind.
  if (!options.socket_folder.empty()) {
    Result<SocketFile> file = SocketFile::listen(options.socket_folder);
    if (file) {
      listeners.socket_file.emplace(std::move(*file));
    } else if (file.error().code() == ErrorCode::kCommandNotSupported) {
      log::warn(
          "{}; without it other programs on this machine can only read the store while it is "
          "in use",
          file.error().message());
    } else {
      return fail(std::move(file).error());
    }
  }
  return listeners;
}

// Creates the workers on a thread with their name, because threads inherit the name of the thread
// that starts them.
std::unique_ptr<asio::thread_pool> make_workers(size_t count) {
  return std::async(std::launch::async,
                    [count] {
                      name_this_thread("gm-command");
                      return std::make_unique<asio::thread_pool>(count);
                    })
      .get();
}

}  // namespace

class Server::Running {
 public:
  Running(RequestHandler& handler, ServerOptions options, Listeners listeners)
      : handler_(handler),
        options_(std::move(options)),
        connections_max_(connections_that_fit(options_.limits.connections_max)),
        listeners_(std::move(listeners)),
        workers_(make_workers(std::max<size_t>(1, options_.limits.worker_threads))),
        deferred_(std::make_shared<DeferredRequests>(io_)),
        context_{io_, *workers_, handler_, options_.limits, *deferred_, table_} {}

  void start() {
    handler_.on_change([deferred = deferred_] { deferred->notify(); });
    tick();
    const size_t threads = std::max<size_t>(1, options_.limits.io_threads);
    for (size_t i = 0; i < threads; ++i) io_threads_.emplace_back([this] { run_io(); });
    if (listeners_.socket_file) {
      add_acceptor(listeners_.socket_file->socket().get(), kSocketName,
                   [this](FileDescriptor socket) { accept_local(std::move(socket)); });
    }
    for (const TcpListener& listener : listeners_.tcp) {
      add_acceptor(listener.socket.get(), text_of(listener.endpoint),
                   [this](FileDescriptor socket) { accept_tcp(std::move(socket)); });
    }
  }

  ~Running() {
    stop(kGrace, kGraceOfStuck);
    end();
  }

  bool stop(std::chrono::milliseconds grace, std::chrono::milliseconds grace_of_stuck) {
    std::call_once(stopped_, [&] { has_ended_ = stop_once(grace, grace_of_stuck); });
    return has_ended_;
  }

  std::vector<std::string> addresses() const {
    std::vector<std::string> all;
    if (listeners_.socket_file) {
      all.push_back((options_.socket_folder / kSocketName).string());
    }
    for (const TcpListener& listener : listeners_.tcp) all.push_back(text_of(listener.endpoint));
    return all;
  }

  uint16_t port() const {
    return listeners_.tcp.empty() ? uint16_t{0} : listeners_.tcp.front().endpoint.port();
  }

  const ConnectionTable& table() const { return table_; }
  const ConnectionContext& context() const { return context_; }
  size_t connections_max() const { return connections_max_; }

 private:
  void add_acceptor(int socket, std::string name, Acceptor::Accept accept) {
    acceptors_.push_back(
        std::make_shared<Acceptor>(io_, socket, std::move(name), std::move(accept)));
    acceptors_.back()->start();
  }

  void run_io() {
    name_this_thread("gm-wire-io");
    for (;;) {
      try {
        io_.run();
        return;
      } catch (const std::exception& error) {
        // In practice an allocation has failed. The work of this handler is lost. The other
        // connections continue.
        log::error("the wire server's I/O: {}", error.what());
      }
    }
  }

  bool has_room(size_t connections_max, const std::string& address) {
    if (table_.size() < connections_max) return true;
    const auto now = steady_clock::now();
    if (const MutexLock lock(warning_mutex_); now - last_warning_ >= kBetweenWarnings) {
      last_warning_ = now;
      log::warn("{}: connection refused: there are {} open connections already", address,
                connections_max);
    }
    return false;
  }

  // As mongod does, closes a connection that it refuses. There is no message yet to which it could
  // reply.
  void accept_local(FileDescriptor socket) {
    Result<Peer> peer = local_peer(socket.get());
    if (!peer) {
      log::warn("{}: connection refused: {}", kSocketName, peer.error().message());
      return;
    }
    if (!has_room(connections_max_ + kConnectionsKeptForSocket, peer->address)) return;
    std::optional<Socket> stream = stream_of(std::move(socket), AF_UNIX, 0);
    if (stream) add(make_plain_transport(std::move(*stream)), std::move(*peer));
  }

  void accept_tcp(FileDescriptor socket) {
    std::optional<Peer> peer = tcp_peer(socket.get());
    if (!peer || !has_room(connections_max_, peer->address)) return;
    prepare_tcp(socket.get());
    const int family = peer->address.starts_with('[') ? AF_INET6 : AF_INET;
    std::optional<Socket> stream = stream_of(std::move(socket), family, IPPROTO_TCP);
    if (!stream) return;
    add(listeners_.tls ? listeners_.tls->make_transport(std::move(*stream))
                       : make_plain_transport(std::move(*stream)),
        std::move(*peer));
  }

  std::optional<Socket> stream_of(FileDescriptor socket, int family, int protocol) {
    Socket stream(io_);
    std::error_code error;
    stream.assign({family, protocol}, socket.get(), error);
    if (error) {
      log::warn("a connection cannot be served: {}", error.message());
      return std::nullopt;
    }
    (void)socket.release();  // the stream owns it now
    return stream;
  }

  void add(std::unique_ptr<Transport> transport, Peer peer) {
    const auto connection = std::make_shared<Connection>(context_, std::move(transport),
                                                         next_connection_id_++, std::move(peer));
    table_.add(connection);
    connection->start();
  }

  // Repeats until the I/O ends.
  void tick() {
    timer_.expires_after(kBetweenSweeps);
    timer_.async_wait([this](const std::error_code& error) {
      if (error) return;
      // This call comes first, so that the sweeps continue after a sweep that throws for lack of
      // memory.
      tick();
      const auto now = steady_clock::now();
      table_.sweep(now);
      if (now - last_trim_ >= kBetweenTrims && !context_.is_stopping) {
        last_trim_ = now;
        trim();
      }
      if (now - last_expiry_ >= kBetweenExpiries && !context_.is_stopping) {
        last_expiry_ = now;
        expire(now);
      }
    });
  }

  void expire(steady_clock::time_point now) {
    // Only one expiry runs at a time, however long it takes.
    if (is_expiring_.exchange(true)) return;
    asio::post(*workers_, [this, now] {
      handler_.expire(now);
      is_expiring_ = false;
    });
  }

  // Returns free memory to the system. Otherwise malloc would keep the memory of large messages,
  // because small blocks lie between them, and would take more memory for messages that do not fit
  // into the gaps.
  void trim() {
    const bool were_requests_high = context_.requests.was_high();
    if (!context_.replies.was_high() && !were_requests_high) return;
    if (is_trimming_.exchange(true)) return;
    asio::post(*workers_, [this] {
      (void)::malloc_trim(0);
      is_trimming_ = false;
    });
  }

  // Returns false if a command is still running.
  bool stop_once(std::chrono::milliseconds grace, std::chrono::milliseconds grace_of_stuck) {
    const auto deadline = steady_clock::now() + grace;
    for (const auto& acceptor : acceptors_) acceptor->stop();
    acceptors_.clear();
    listeners_.tcp.clear();
    listeners_.socket_file.reset();
    context_.is_stopping = true;
    handler_.shut_down();
    context_.shares.stop();
    context_.requests.stop();
    context_.replies.stop();
    deferred_->stop();
    table_.end_idle();
    if (!table_.wait_until_empty(deadline)) {
      log::warn("{} connections did not end within {} ms", table_.size(), grace.count());
      table_.end_all();
      if (!table_.wait_until_empty(steady_clock::now() + grace_of_stuck)) {
        log::error("{} commands are still running although they were interrupted", table_.size());
        return false;
      }
    }
    end();
    return true;
  }

  // Waits without a time limit until all connections have ended, because a running command ends
  // only by itself. Then ends the threads.
  void end() {
    std::call_once(threads_ended_, [this] {
      table_.wait_until_empty(steady_clock::time_point::max());
      workers_->join();
      io_.stop();
      for (std::thread& thread : io_threads_) thread.join();
      handler_.set_stats(nullptr);
    });
  }

  RequestHandler& handler_;
  const ServerOptions options_;
  const size_t connections_max_;
  Listeners listeners_;

  asio::io_context io_;
  const std::unique_ptr<asio::thread_pool> workers_;
  std::shared_ptr<DeferredRequests> deferred_;
  ConnectionTable table_;
  ConnectionContext context_;
  asio::steady_timer timer_{io_};
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
  std::vector<std::thread> io_threads_;
  std::once_flag stopped_;
  std::atomic<bool> has_ended_ = false;
  std::once_flag threads_ended_;

  std::atomic<int32_t> next_connection_id_ = 1;
  std::atomic<bool> is_expiring_ = false;
  std::atomic<bool> is_trimming_ = false;
  // Used only by the timer's handler.
  steady_clock::time_point last_expiry_ = steady_clock::now();
  steady_clock::time_point last_trim_ = last_expiry_;

  Mutex warning_mutex_;
  steady_clock::time_point last_warning_ GM_GUARDED_BY(warning_mutex_);
};

Server::Server(std::unique_ptr<Running> running) : running_(std::move(running)) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(RequestHandler& handler, ServerOptions options) {
  try {
    GM_ASSIGN(Listeners listeners, listen(options));
    std::unique_ptr<Server> server(
        new Server(std::make_unique<Running>(handler, std::move(options), std::move(listeners))));
    handler.set_stats(server.get());
    server->running_->start();
    return server;
  } catch (const std::exception& error) {
    // Thrown by Asio if there is no descriptor for its event queue or no thread.
    return fail(ErrorCode::kInternalError, "the server cannot start: " + std::string(error.what()));
  }
}

bool Server::stop(std::chrono::milliseconds grace, std::chrono::milliseconds grace_of_stuck) {
  return running_->stop(grace, grace_of_stuck);
}

std::vector<std::string> Server::addresses() const {
  return running_->addresses();
}

int64_t Server::connections() const {
  return static_cast<int64_t>(running_->table().size());
}

int64_t Server::connections_available() const {
  const auto most = static_cast<int64_t>(running_->connections_max());
  return std::max<int64_t>(0, most - connections());
}

int64_t Server::connections_created() const {
  return running_->table().created();
}
uint64_t Server::bytes_in() const {
  return running_->context().bytes_in;
}
uint64_t Server::bytes_out() const {
  return running_->context().bytes_out;
}
uint64_t Server::requests() const {
  return running_->context().requests_handled;
}
uint16_t Server::port() const {
  return running_->port();
}

}  // namespace gridmount::wire
