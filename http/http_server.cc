#include "http/http_server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <exception>
#include <thread>
#include <utility>

#include "engine/base/log.h"
#include "engine/base/thread_name.h"
#include "engine/base/thread_safety.h"
#include "engine/wire/server/listen_address.h"
#include "http/connection.h"

namespace gridmount::http {

namespace {

namespace net = boost::asio;
using boost::system::error_code;

// How long the server rests if no connection can be accepted, for example because the process has
// too many open files.
constexpr std::chrono::milliseconds kRest{100};

Status check_loopback(const asio::ip::tcp::endpoint& endpoint) {
  if (wire::is_loopback(endpoint.address())) return {};
  return fail(ErrorCode::kInvalidOptions,
              "will not serve HTTP on " + wire::text_of(endpoint) +
                  ": without TLS and a log-in, only loopback addresses are allowed");
}

// Accepts the connections of one address. Used by one handler at a time.
class Listener {
 public:
  // `listener` is taken. `context` must outlive the object.
  Listener(net::io_context& io, wire::TcpListener listener, ConnectionContext& context)
      : io_(io),
        name_(wire::text_of(listener.endpoint)),
        acceptor_(io, listener.endpoint.address().is_v6() ? net::ip::tcp::v6() : net::ip::tcp::v4(),
                  listener.socket.get()),
        rest_(io),
        context_(context) {
    (void)listener.socket.release();  // owned by the acceptor now
    accept();
  }

  const std::string& name() const { return name_; }

 private:
  void accept() {
    acceptor_.async_accept(net::make_strand(io_),
                           [this](const error_code& error, net::ip::tcp::socket socket) {
                             if (error) return handle_error(error);
                             take(std::move(socket));
                             accept();
                           });
  }

  // Called before the next connection is accepted, so that connections are counted in their order.
  void take(net::ip::tcp::socket socket) {
    try {
      const auto connection = Connection::accept(context_, std::move(socket));
      if (connection) connection->start();
    } catch (const std::exception& error) {
      // Out of memory. This connection is closed, but the next one can still be accepted.
      log::error("http: {}", error.what());
    }
  }

  void handle_error(const error_code& error) {
    if (error == net::error::operation_aborted) return;
    if (error == net::error::connection_aborted) return accept();
    log::warn("{}: no connection can be accepted: {}", name_, error.message());
    rest_.expires_after(kRest);
    rest_.async_wait([this](const error_code& stopped) {
      if (!stopped) accept();
    });
  }

  net::io_context& io_;
  const std::string name_;
  net::ip::tcp::acceptor acceptor_;
  net::steady_timer rest_;
  ConnectionContext& context_;
};

}  // namespace

class HttpServer::Running {
 public:
  Running(std::unique_ptr<RequestHandler> handler, std::vector<wire::TcpListener> listeners,
          const HttpServerOptions& options)
      : handler_(std::move(handler)),
        context_{*handler_, options.limits, options.change_threads > 0 ? &changes_ : nullptr},
        io_(static_cast<int>(options.threads)) {
    for (wire::TcpListener& listener : listeners) {
      listeners_.push_back(std::make_unique<Listener>(io_, std::move(listener), context_));
    }
    try {
      for (size_t i = 0; i < options.threads; ++i) {
        threads_.emplace_back([this, name = options.thread_name] { run(io_, name); });
      }
      for (size_t i = 0; i < options.change_threads; ++i) {
        threads_.emplace_back([this] { run(changes_, "gm-http-change"); });
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  ~Running() { stop(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  bool end(std::chrono::milliseconds patience) {
    io_.stop();
    changes_.stop();
    handler_->stop();
    const auto deadline = std::chrono::steady_clock::now() + patience;
    const MutexLock lock(mutex_);
    while (ended_threads_ < threads_.size()) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) return false;
      (void)thread_ended_.wait_for(mutex_, left);
    }
    return true;
  }

  std::vector<std::string> addresses() const {
    std::vector<std::string> all;
    for (const auto& listener : listeners_) all.push_back(listener->name());
    return all;
  }

 private:
  void run(net::io_context& io, const char* name) {
    name_this_thread(name);
    for (;;) {
      try {
        io.run();
        break;
      } catch (const std::exception& error) {
        // Out of memory. This connection is lost, but the others are still answered.
        log::error("http: {}", error.what());
      }
    }
    const MutexLock lock(mutex_);
    ++ended_threads_;
    thread_ended_.notify_all();
  }

  void stop() {
    io_.stop();
    changes_.stop();
    handler_->stop();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const std::unique_ptr<RequestHandler> handler_;
  ConnectionContext context_;  // outlives the connections, which the handlers in io_ hold
  net::io_context io_;
  // Destroyed before io_: the handlers in changes_ hold connections, whose sockets belong to io_.
  net::io_context changes_;
  // Keeps the threads of changes_ while there is no change.
  const net::executor_work_guard<net::io_context::executor_type> changes_wait_ =
      net::make_work_guard(changes_);
  std::vector<std::unique_ptr<Listener>> listeners_;
  Mutex mutex_;
  Condition thread_ended_;
  size_t ended_threads_ GM_GUARDED_BY(mutex_) = 0;
  std::vector<std::thread> threads_;
};

Status HttpServer::check_address(const std::string& address) {
  GM_ASSIGN(const wire::ListenAddress parsed, wire::ListenAddress::parse(address));
  GM_ASSIGN(const auto endpoints, wire::resolve(parsed));
  for (const auto& endpoint : endpoints) GM_TRY(check_loopback(endpoint));
  return {};
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(std::unique_ptr<RequestHandler> handler,
                                                      HttpServerOptions options) {
  GM_ASSIGN(const wire::ListenAddress address, wire::ListenAddress::parse(options.address));
  GM_ASSIGN(const auto endpoints, wire::resolve(address));
  if (options.loopback_only) {
    for (const auto& endpoint : endpoints) GM_TRY(check_loopback(endpoint));
  }
  GM_ASSIGN(auto listeners, wire::listen_on(endpoints));
  try {
    return std::unique_ptr<HttpServer>(new HttpServer(
        std::make_unique<Running>(std::move(handler), std::move(listeners), options)));
  } catch (const std::exception& error) {
    // Thrown by Asio: no descriptor for its event queue, or no thread.
    return fail(ErrorCode::kInternalError, error.what());
  }
}

HttpServer::HttpServer(std::unique_ptr<Running> running) : running_(std::move(running)) {}
HttpServer::~HttpServer() = default;

bool HttpServer::end(std::chrono::milliseconds patience) {
  return running_->end(patience);
}

std::vector<std::string> HttpServer::addresses() const {
  return running_->addresses();
}

Result<std::unique_ptr<HttpServer>> serve_files(engine::Store& store, SiteOptions site,
                                                HttpServerOptions options) {
  GM_ASSIGN(const wire::ListenAddress address, wire::ListenAddress::parse(options.address));
  site.hosts.push_back(address.host);
  if (site.write) options.change_threads = kHttpChangeThreads;
  return HttpServer::start(std::make_unique<Site>(store, std::move(site)), std::move(options));
}

}  // namespace gridmount::http
