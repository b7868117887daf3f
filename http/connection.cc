#include "http/connection.h"

#include <array>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <ctime>
#include <sstream>
#include <string_view>
#include <utility>

#include "engine/base/log.h"
#include "http/http_date.h"

namespace gridmount::http {

namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
using beast::error_code;
using net::ip::tcp;

constexpr size_t kFirstReadBytes = 1024;
// The bytes of a body that are received at once.
constexpr size_t kReceivedBytesMax = size_t{64} * 1024;
// After the last reply, the connection is closed when the client has sent this many more bytes, or
// when this time has passed.
constexpr size_t kDrainedBytesMax = size_t{256} * 1024;
constexpr std::chrono::milliseconds kDrainPatience{2000};

std::string text_of(beast::string_view text) {
  return {text.data(), text.size()};
}

Request::Method method_of(beast::http::verb verb) {
  switch (verb) {
    case beast::http::verb::get:
      return Request::Method::kGet;
    case beast::http::verb::head:
      return Request::Method::kHead;
    case beast::http::verb::options:
      return Request::Method::kOptions;
    case beast::http::verb::propfind:
      return Request::Method::kFindProperties;
    case beast::http::verb::put:
      return Request::Method::kPut;
    case beast::http::verb::delete_:
      return Request::Method::kDelete;
    case beast::http::verb::mkcol:
      return Request::Method::kMakeCollection;
    case beast::http::verb::copy:
      return Request::Method::kCopy;
    case beast::http::verb::move:
      return Request::Method::kMove;
    case beast::http::verb::lock:
      return Request::Method::kLock;
    case beast::http::verb::unlock:
      return Request::Method::kUnlock;
    case beast::http::verb::proppatch:
      return Request::Method::kPatchProperties;
    default:
      return Request::Method::kOther;
  }
}

// The head of a reply, with the empty line at its end.
std::string head_text(const Reply& reply, unsigned version, bool keep_alive, bool is_chunked) {
  beast::http::response_header<> head;
  head.version(version);
  head.result(static_cast<unsigned>(reply.status));
  head.reason(beast::string_view(reason_of(reply.status).data(), reason_of(reply.status).size()));
  head.set(beast::http::field::date, http_date(std::time(nullptr)));
  for (const auto& [name, value] : reply.fields) head.insert(name, value);
  if (is_chunked) {
    head.set(beast::http::field::transfer_encoding, "chunked");
  } else if (reply.length) {
    head.set(beast::http::field::content_length, std::to_string(*reply.length));
  }
  if (!keep_alive) {
    head.set(beast::http::field::connection, "close");
  } else if (version == 10) {
    head.set(beast::http::field::connection, "keep-alive");
  }
  std::ostringstream text;
  text << head;
  return std::move(text).str();
}

}  // namespace

std::shared_ptr<Connection> Connection::accept(ConnectionContext& context, tcp::socket socket) {
  const HttpLimits& limits = context.limits;
  bool is_refused = false;
  if (++context.served > limits.connections) {
    --context.served;
    is_refused = true;
    if (++context.refused > limits.refusals) {
      --context.refused;
      return nullptr;
    }
  }
  std::atomic<size_t>& count = is_refused ? context.refused : context.served;
  try {
    // The constructor is private, so std::make_shared cannot call it.
    return std::shared_ptr<Connection>(new Connection(context, std::move(socket), is_refused));
  } catch (...) {
    --count;
    throw;
  }
}

Connection::Connection(ConnectionContext& context, tcp::socket socket, bool is_refused)
    : context_(context),
      is_refused_(is_refused),
      stream_(std::move(socket)),
      // The parser checks the length of a head. The buffer is larger than this limit, so that the
      // parser finds a head that is too long.
      buffer_(2 * context.limits.head_bytes) {}

Connection::~Connection() {
  --(is_refused_ ? context_.refused : context_.served);
}

void Connection::start() {
  error_code ignored;
  stream_.socket().set_option(tcp::no_delay(true), ignored);
  net::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    self->wait_for_request(self->context_.limits.head_patience);
  });
}

void Connection::wait_for_request(std::chrono::milliseconds patience) {
  parser_.reset();
  if (buffer_.size() > 0) return read_head();
  buffer_.shrink_to_fit();
  stream_.expires_after(patience);
  stream_.async_read_some(buffer_.prepare(kFirstReadBytes),
                          [self = shared_from_this()](const error_code& error, size_t bytes) {
                            if (error) return self->close();
                            self->buffer_.commit(bytes);
                            self->read_head();
                          });
}

void Connection::read_head() {
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(context_.limits.head_bytes));
  // The BodyReceiver limits the length of the body.
  parser_->body_limit(boost::none);
  stream_.expires_after(context_.limits.head_patience);
  beast::http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](const error_code& error, size_t) { self->handle_head(error); });
}

void Connection::handle_head(const error_code& error) {
  using HeadError = beast::http::error;
  if (error == HeadError::header_limit || error == HeadError::buffer_overflow) {
    return refuse(431, "the head of the request is too long");
  }
  const bool is_of_connection =
      error && error.category() != error_code(HeadError::bad_target).category();
  if (is_of_connection || error == HeadError::end_of_stream ||
      error == HeadError::partial_message) {
    return close();
  }
  if (error) return refuse(400, error.message());
  const auto& head = parser_->get();
  const HttpLimits& limits = context_.limits;
  if (head.target().size() > limits.target_bytes) return refuse(414, "the target is too long");
  if (std::distance(head.begin(), head.end()) > static_cast<std::ptrdiff_t>(limits.fields)) {
    return refuse(431, "the request has too many fields");
  }
  if (is_refused_) return refuse(503, "there are too many connections");
  target_ = text_of(head.target());
  const auto asked = std::make_shared<const Request>(request());
  is_change_ = asked->is_change();
  answer([this, asked] { return context_.handler.answer(*asked); },
         [this, asked](Answer given) { handle_answer(*asked, std::move(given)); });
}

template <typename Work, typename Use>
void Connection::answer(Work work, Use use) {
  if (!is_change_ || context_.changes == nullptr) return use(work());
  net::post(*context_.changes, [self = shared_from_this(), work = std::move(work),
                                use = std::move(use)]() mutable {
    net::post(self->stream_.get_executor(),
              [self, result = work(), use = std::move(use)]() mutable { use(std::move(result)); });
  });
}

void Connection::handle_answer(const Request& asked, Answer answer) {
  const auto& head = parser_->get();
  if (auto* const reply = std::get_if<Reply>(&answer)) {
    // The server does not read the body of the request, so it cannot find the next request behind
    // the body.
    return send(std::move(*reply), head.version(), head.keep_alive() && !asked.has_body);
  }
  receiver_ = std::move(std::get<std::unique_ptr<BodyReceiver>>(answer));
  const auto expectation = asked.field("Expect");
  if (expectation && equals_ignoring_case(*expectation, "100-continue") && head.version() >= 11 &&
      buffer_.size() == 0 && !parser_->is_done()) {
    return send_continue();
  }
  read_body();
}

void Connection::send_continue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  stream_.expires_after(context_.limits.send_patience);
  net::async_write(stream_, net::buffer(kContinue),
                   [self = shared_from_this()](const error_code& error, size_t) {
                     if (error) return self->close();
                     self->read_body();
                   });
}

void Connection::read_body() {
  if (parser_->is_done()) {
    received_ = std::string();
    return answer([this] { return std::exchange(receiver_, nullptr)->finish(); },
                  [this](Reply reply) {
                    const auto& head = parser_->get();
                    send(std::move(reply), head.version(), head.keep_alive());
                  });
  }
  received_.resize(kReceivedBytesMax);
  auto& body = parser_->get().body();
  body.data = received_.data();
  body.size = received_.size();
  body.more = true;
  stream_.expires_after(context_.limits.receive_patience);
  beast::http::async_read_some(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](const error_code& error, size_t) { self->handle_body(error); });
}

void Connection::handle_body(const error_code& error) {
  using BodyError = beast::http::error;
  // received_ is full.
  const bool is_full = error == BodyError::need_buffer;
  const bool is_malformed = error && !is_full && error != BodyError::partial_message &&
                            error != BodyError::end_of_stream &&
                            error.category() == error_code(BodyError::bad_chunk).category();
  if (is_malformed) return send_last(refusal(400, error.message(), false));
  // The connection was lost during the upload.
  if (error && !is_full) return close();
  const size_t size = received_.size() - parser_->get().body().size;
  if (size == 0) return read_body();
  answer(
      [this, size] {
        return receiver_->take(std::span(reinterpret_cast<const uint8_t*>(received_.data()), size));
      },
      [this](std::optional<Reply> failed) {
        if (failed) return send_last(*std::move(failed));
        read_body();
      });
}

void Connection::drop_receiver() {
  // The destructor of the receiver may remove the content that the client has sent. This is a
  // change of the store.
  if (!receiver_ || !is_change_ || context_.changes == nullptr) return receiver_.reset();
  net::post(*context_.changes, [receiver = std::move(receiver_)] {});
}

void Connection::send_last(Reply reply) {
  drop_receiver();
  received_ = std::string();
  send(std::move(reply), parser_->get().version(), false);
}

Request Connection::request() const {
  const auto& head = parser_->get();
  Request request;
  request.method = method_of(head.method());
  request.target = target_;
  request.has_body = parser_->chunked() || parser_->content_length().value_or(0) > 0;
  if (const auto length = parser_->content_length()) request.body_bytes = *length;
  for (const auto& field : head) {
    request.fields.emplace_back(text_of(field.name_string()), text_of(field.value()));
  }
  return request;
}

void Connection::refuse(int status, std::string_view what) {
  const bool is_head = parser_ && parser_->get().method() == beast::http::verb::head;
  Reply reply = refusal(status, what, is_head);
  if (status == 503) reply.add("Retry-After", "1");
  send(std::move(reply), 11, false);
}

void Connection::send(Reply reply, unsigned version, bool keep_alive) {
  // Makes the first piece before the head is sent, so that the client gets the status 500 if the
  // piece cannot be made.
  std::string_view piece;
  if (reply.body) {
    const Result<std::string_view> first = reply.body->next();
    if (!first) {
      log::error("http: {}: {}", target_, first.error().message());
      return refuse(500, first.error().message());
    }
    piece = *first;
  }
  is_chunked_ = reply.body && !reply.length && version >= 11;
  keeps_alive_ = keep_alive && (!reply.body || reply.length || is_chunked_);
  lead_ = head_text(reply, version, keeps_alive_, is_chunked_);
  body_ = std::move(reply.body);
  send_piece(piece);
}

void Connection::send_piece(std::string_view piece) {
  if (piece.empty()) body_.reset();
  std::string_view tail;
  if (is_chunked_) {
    lead_ += fmt::format("{:x}\r\n", piece.size());
    tail = "\r\n";
  }
  const std::array<net::const_buffer, 3> buffers{net::buffer(lead_), net::buffer(piece),
                                                 net::buffer(tail)};
  stream_.expires_after(context_.limits.send_patience);
  net::async_write(stream_, buffers, [self = shared_from_this()](const error_code& error, size_t) {
    if (error) return self->close();
    self->handle_sent();
  });
}

void Connection::handle_sent() {
  lead_ = std::string();
  if (!body_) {
    if (!keeps_alive_) return finish();
    return wait_for_request(context_.limits.idle_patience);
  }
  const Result<std::string_view> piece = body_->next();
  if (!piece) {
    // Part of the reply has been sent. The client sees from the length, or from the missing last
    // chunk, that the reply is incomplete.
    log::warn("http: {}: the reply is cut off: {}", target_, piece.error().message());
    return close();
  }
  // Only a reply in chunks needs a mark at its end.
  if (!piece->empty() || is_chunked_) return send_piece(*piece);
  body_.reset();
  handle_sent();
}

void Connection::finish() {
  error_code ignored;
  stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
  stream_.expires_after(kDrainPatience);
  drain(kDrainedBytesMax);
}

void Connection::drain(size_t bytes_left) {
  // If the socket is closed with unread bytes, TCP resets the connection, and the client may lose
  // the reply.
  buffer_.clear();
  stream_.async_read_some(
      buffer_.prepare(kFirstReadBytes),
      [self = shared_from_this(), bytes_left](const error_code& error, size_t bytes) {
        if (error || bytes >= bytes_left) return self->close();
        self->drain(bytes_left - bytes);
      });
}

void Connection::close() {
  drop_receiver();
  body_.reset();
  stream_.close();
}

}  // namespace gridmount::http
