// One connection of a client: reads requests and sends the replies of a RequestHandler, one after
// the other.
//
// The completion handler of the pending read or write, or the pending work on a thread for changes,
// keeps the object alive. Each read and write has a time limit: one of HttpLimits, or
// kDrainPatience (connection.cc) for all reads after the last reply. So a client that stops sending
// or receiving loses its connection. All completion handlers run on the strand of the socket, one
// at a time.
//
// start() must be called once, on any thread. Everything else runs on the strand, except that a
// thread for changes calls the RequestHandler and the BodyReceiver of a change. Meanwhile nothing
// of this connection runs on the strand. Exception: the destructor of a BodyReceiver may run on a
// thread for changes while the connection continues on the strand.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "http/http_server.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/request_handler.h"

namespace gridmount::http {

// The objects that all connections of a server share. A context must outlive its connections.
struct ConnectionContext {
  const RequestHandler& handler;
  const HttpLimits limits;
  // The threads of this context answer the requests that are changes, because a change may wait
  // long for other changes. If null, the thread of the strand answers all requests.
  boost::asio::io_context* const changes = nullptr;
  std::atomic<size_t> served = 0;   // open connections whose requests are answered
  std::atomic<size_t> refused = 0;  // open connections that get the status 503
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // Takes the socket, whose executor must be a strand. If HttpLimits::connections connections are
  // answered already, the new connection only sends the status 503. If HttpLimits::refusals
  // connections are refused already, returns null and closes the socket.
  static std::shared_ptr<Connection> accept(ConnectionContext& context,
                                            boost::asio::ip::tcp::socket socket);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void start();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;

  Connection(ConnectionContext& context, boost::asio::ip::tcp::socket socket, bool is_refused);

  void wait_for_request(std::chrono::milliseconds patience);
  void read_head();
  // Handles the end of read_head().
  void handle_head(const boost::beast::error_code& error);
  // Returns the request whose head parser_ has read.
  Request request() const;
  // Calls `work`, and then calls `use` with the result of `work` on the strand. If the request is a
  // change, a thread for changes calls `work`.
  template <typename Work, typename Use>
  void answer(Work work, Use use);
  void handle_answer(const Request& asked, Answer answer);
  // Tells the client, which waits for this message, that it may send the body.
  void send_continue();
  // Reads the next bytes of the body for receiver_. After the last one, sends its reply.
  void read_body();
  void handle_body(const boost::beast::error_code& error);
  // Destroys receiver_, on a thread for changes if the request is a change.
  void drop_receiver();
  // Sends the reply to a request whose body is not read to its end, and ends the connection.
  void send_last(Reply reply);
  // Begins to send the reply. `version` is the HTTP version of the request times ten: 10 or 11.
  void send(Reply reply, unsigned version, bool keep_alive);
  // Sends a reply with the status and the reason `what`, and ends the connection.
  void refuse(int status, std::string_view what);
  // Sends lead_ and then a piece of the body. An empty piece ends the body.
  void send_piece(std::string_view piece);
  void handle_sent();
  // Shuts down the sending direction, and drops what the client still sends (drain()). Closes the
  // connection when the client has closed it, or at the limits kDrainedBytesMax and kDrainPatience
  // (connection.cc).
  void finish();
  void drain(size_t bytes_left);
  // Ends the connection at once.
  void close();

  ConnectionContext& context_;
  const bool is_refused_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::unique_ptr<BodyReceiver> receiver_;  // takes the body that is being read
  std::string received_;                    // the buffer for its bytes
  std::unique_ptr<Body> body_;              // the body of the reply that is being sent
  std::string target_;                      // of the request, for the log
  bool is_change_ = false;                  // whether the request is a change
  bool is_chunked_ = false;
  bool keeps_alive_ = false;
  // The bytes before a piece: the head of the reply, and the line with the piece's size if the
  // body has the transfer coding "chunked".
  std::string lead_;
};

}  // namespace gridmount::http
