#include "fuse/monitoring/metrics_server.h"

#include <spdlog/spdlog.h>

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "engine/base/thread_name.h"
#include "engine/wire/server/acceptor.h"
#include "engine/wire/server/listen_address.h"
#include "fuse/monitoring/metrics_request.h"

namespace gridmount::fuse {

namespace {

using asio::ip::tcp;

// One request and its reply. Its handlers keep it alive, so it ends with the last of them. The
// timer ensures that there is a last one.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  // `metrics` and `open` must outlive the io_context's run. `open` is the number of exchanges.
  Exchange(tcp::socket socket, const std::function<std::string()>& metrics, size_t& open)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), metrics_(metrics), open_(open) {
    ++open_;
  }
  ~Exchange() { --open_; }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void start() {
    timer_.expires_after(MetricsServer::kPatience);
    timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
      if (!error) self->close();
    });
    asio::async_read_until(
        socket_, asio::dynamic_buffer(received_, MetricsServer::kHeadBytesMax), "\r\n\r\n",
        [self = shared_from_this()](const std::error_code& error, size_t bytes) {
          if (error == asio::error::not_found) {
            self->send(http_reply_to_long_head());
          } else if (error) {
            self->close();
          } else {
            const std::string_view head = std::string_view(self->received_).substr(0, bytes);
            self->send(http_reply(head, self->metrics_));
          }
        });
  }

 private:
  void send(std::string reply) {
    reply_ = std::move(reply);
    asio::async_write(socket_, asio::buffer(reply_),
                      [self = shared_from_this()](const std::error_code& error, size_t) {
                        if (error) return self->close();
                        std::error_code ignored;
                        self->socket_.shutdown(tcp::socket::shutdown_send, ignored);
                        self->drain();
                      });
  }

  // Reads the rest of the request before closing. If unread data were left, the client could lose
  // the reply.
  void drain() {
    socket_.async_read_some(asio::buffer(rest_),
                            [self = shared_from_this()](const std::error_code& error, size_t) {
                              if (error) return self->close();
                              self->drain();
                            });
  }

  void close() {
    std::error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  const std::function<std::string()>& metrics_;
  size_t& open_;
  std::string received_;
  std::string reply_;
  std::array<char, 1024> rest_;
};

}  // namespace

class MetricsServer::Running {
 public:
  Running(std::vector<wire::TcpListener> listeners, std::function<std::string()> metrics)
      : listeners_(std::move(listeners)), metrics_(std::move(metrics)) {
    for (const wire::TcpListener& listener : listeners_) {
      acceptors_.push_back(std::make_shared<wire::Acceptor>(
          io_, listener.socket.get(), wire::text_of(listener.endpoint),
          [this, protocol = listener.endpoint.protocol()](wire::FileDescriptor socket) {
            accept(protocol, std::move(socket));
          }));
      acceptors_.back()->start();
    }
    thread_ = std::thread([this] { run(); });
  }

  ~Running() {
    for (const auto& acceptor : acceptors_) acceptor->stop();
    io_.stop();
    thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  std::vector<std::string> addresses() const {
    std::vector<std::string> all;
    for (const wire::TcpListener& listener : listeners_) {
      all.push_back(wire::text_of(listener.endpoint));
    }
    return all;
  }

 private:
  void accept(const tcp& protocol, wire::FileDescriptor fd) {
    if (open_ >= kConnectionsMax) return;
    tcp::socket socket(io_);
    std::error_code error;
    socket.assign(protocol, fd.get(), error);
    if (error) return;
    (void)fd.release();  // owned by the socket now
    try {
      std::make_shared<Exchange>(std::move(socket), metrics_, open_)->start();
    } catch (const std::bad_alloc&) {
      // The connection is closed. The next one is still accepted.
    }
  }

  void run() {
    name_this_thread("gm-metrics");
    for (;;) {
      try {
        io_.run();
        return;
      } catch (const std::exception& error) {
        // Out of memory. This request is lost, others are answered.
        spdlog::error("metrics server: {}", error.what());
      }
    }
  }

  const std::vector<wire::TcpListener> listeners_;
  const std::function<std::string()> metrics_;
  size_t open_ = 0;  // used only by the thread; outlives the exchanges that io_ holds
  asio::io_context io_;
  std::vector<std::shared_ptr<wire::Acceptor>> acceptors_;
  std::thread thread_;
};

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& address,
                                                            std::function<std::string()> metrics) {
  GM_ASSIGN(const wire::ListenAddress parsed, wire::ListenAddress::parse(address));
  GM_ASSIGN(const auto endpoints, wire::resolve(parsed));
  GM_ASSIGN(auto listeners, wire::listen_on(endpoints));
  try {
    return std::unique_ptr<MetricsServer>(
        new MetricsServer(std::make_unique<Running>(std::move(listeners), std::move(metrics))));
  } catch (const std::exception& error) {
    // Thrown by Asio: no descriptor for its event queue, or no thread.
    return fail(ErrorCode::kInternalError, error.what());
  }
}

MetricsServer::MetricsServer(std::unique_ptr<Running> running) : running_(std::move(running)) {}
MetricsServer::~MetricsServer() = default;

std::vector<std::string> MetricsServer::addresses() const {
  return running_->addresses();
}

}  // namespace gridmount::fuse
