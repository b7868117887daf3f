#include "engine/wire/server/connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/defer.hpp>
#include <asio/post.hpp>
#include <cstring>
#include <exception>
#include <utility>

#include "engine/base/log.h"
#include "engine/wire/protocol/compression.h"

namespace gridmount::wire {
namespace {

using std::chrono::steady_clock;

// How long a worker waits for reply memory that other replies hold. A client that does not take its
// reply loses its connection much earlier (ServerLimits::pressed_timeout).
constexpr std::chrono::milliseconds kReplyPatience{10'000};

// The bytes of a message or reply count as progress only in steps of this size. So the connection
// of a client that sends single bytes now and then ends, and frees its memory, as early as that of
// a silent client.
constexpr size_t kProgressBytes = 4096;

// The buffer of a message starts with this size and doubles.
constexpr size_t kFirstRoom = MemoryBudget::kAlwaysBytes;

// A client that waits for each reply before its next request sends that request within this time.
// Otherwise it is idle.
constexpr int kLingerMilliseconds = 2;

// mongod's answer to browsers and other HTTP clients.
constexpr std::string_view kHttpRequest = "GET ";
constexpr std::string_view kHttpHint =
    "HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 85\r\n\r\n"
    "It looks like you are trying to access MongoDB over HTTP on the native driver port.\r\n";

// Returns true for commands that never wait for reply memory. So clients that do not take their
// replies cannot block log-ins and writes of other clients.
bool has_short_reply(std::string_view command) {
  static constexpr std::array<std::string_view, 14> kShort = {
      "ping",   "hello",  "isMaster",    "ismaster",    "saslStart",     "saslContinue", "insert",
      "update", "delete", "killCursors", "endSessions", "createIndexes", "create",       "drop"};
  return std::find(kShort.begin(), kShort.end(), command) != kShort.end();
}

// Returns true for commands that take little time, even in a large store. They need no turn, so
// that an administrator can inspect and repair a busy server.
bool is_brief(std::string_view command) {
  static constexpr std::array<std::string_view, 18> kBrief = {
      "ping",         "hello",     "isMaster",  "ismaster",   "saslStart",    "saslContinue",
      "authenticate", "logout",    "killOp",    "currentOp",  "killCursors",  "endSessions",
      "killSessions", "buildInfo", "buildinfo", "whatsmyuri", "serverStatus", "connectionStatus"};
  return std::find(kBrief.begin(), kBrief.end(), command) != kBrief.end();
}

int64_t nanoseconds(steady_clock::time_point time) {
  return std::chrono::nanoseconds(time.time_since_epoch()).count();
}

size_t bytes_of(const Pieces& pieces) {
  return pieces[0].size() + pieces[1].size() + pieces[2].size();
}

}  // namespace

Connection::Connection(ConnectionContext& context, std::unique_ptr<Transport> transport, int32_t id,
                       Peer peer)
    : context_(context), transport_(std::move(transport)), id_(id), peer_(std::move(peer)) {
  enter(Phase::kHandshake);
}

std::string Connection::name() const {
  return "connection " + std::to_string(id_) + " of " + peer_.address;
}

void Connection::start() {
  transport_->shake_hands([self = shared_from_this()](const std::error_code& error, size_t) {
    if (error) {
      log::info("{}: the TLS handshake failed: {}", self->name(), error.message());
      return self->finish();
    }
    self->greet();
    self->read_message();
  });
}

void Connection::greet() {
  Peer peer = peer_;
  peer.is_tls = transport_->is_tls();
  peer.certificate_subject = transport_->certificate_subject();
  client_ = std::make_unique<Client>(id_, std::move(peer));
}

// ---- Receiving ----

void Connection::read_message() {
  header_size_ = 0;
  enter(Phase::kIdle);
  // The thread that stops the server sets is_stopping first and then looks at the phase.
  if (context_.is_stopping) return finish();
  if (const size_t count = linger(); count > 0) return on_header_bytes(count);
  read_header_bytes();
}

size_t Connection::linger() {
  if (!waits_for(POLLIN)) return 0;
  return transport_->read_now(header_bytes_);
}

bool Connection::waits_for(short poll_event) {
  if (transport_->is_tls() || !context_.workers.get_executor().running_in_this_thread()) {
    return false;
  }
  // Keeps a part of the workers free for other connections. No worker begins to wait while requests
  // are queued.
  const size_t most = context_.limits.worker_threads * 3 / 4;
  if (context_.queued > 0) return false;
  bool has_come = false;
  if (context_.lingering.fetch_add(1) < most) {
    transport_->release_from_io();
    pollfd event{fd(), poll_event, 0};
    has_come = ::poll(&event, 1, kLingerMilliseconds) > 0;
  }
  context_.lingering.fetch_sub(1);
  return has_come;
}

void Connection::read_header_bytes() {
  transport_->read_some(std::span(header_bytes_).subspan(header_size_),
                        completion(&Connection::on_header_bytes));
}

void Connection::on_header_bytes(size_t count) {
  context_.bytes_in += count;
  if (header_size_ == 0) enter(Phase::kReceiving);
  header_size_ += count;
  if (header_size_ < kHeaderBytes) return read_header_bytes();
  if (std::memcmp(header_bytes_.data(), kHttpRequest.data(), kHttpRequest.size()) == 0) {
    return send_http_hint();
  }
  const Result<Header> header = read_header(header_bytes_);
  if (!header) {
    log::info("{}: {}", name(), header.error().message());
    return finish();
  }
  header_ = *header;
  make_room();
}

void Connection::make_room() {
  const size_t has = bytes_.capacity();
  room_wanted_ = std::min<size_t>(header_.length, std::max(kFirstRoom, has * 2));
  acquire(context_.requests, request_memory_, room_wanted_ - has, &Connection::receive);
}

void Connection::receive() {
  enter(Phase::kReceiving);
  if (context_.is_stopping) return finish();
  holds_memory_ = request_memory_.bytes() > MemoryBudget::kAlwaysBytes;
  if (!bytes_.reserve(room_wanted_)) {
    log::warn("{}: no memory for a message of {} bytes", name(), header_.length);
    return finish();
  }
  if (bytes_.size() == 0) bytes_.append(header_bytes_.data(), kHeaderBytes);
  on_bytes(0);
}

void Connection::on_bytes(size_t count) {
  for (;;) {
    context_.bytes_in += count;
    bytes_.set_size(bytes_.size() + count);
    record_progress(count);
    if (bytes_.size() == header_.length) return on_message();
    if (bytes_.size() == bytes_.capacity()) return make_room();
    const std::span<uint8_t> room(bytes_.data() + bytes_.size(), bytes_.capacity() - bytes_.size());
    // Usually the rest of the message has already arrived.
    count = transport_->read_now(room);
    if (count == 0) return transport_->read_some(room, completion(&Connection::on_bytes));
  }
}

void Connection::on_message() {
  if (header_.opcode != Opcode::kCompressed) return dispatch_continuation();
  const Result<CompressedHeader> compressed = read_compressed_header(bytes_.bytes());
  if (!compressed) {
    log::info("{}: {}", name(), compressed.error().message());
    return finish();
  }
  acquire(context_.requests, request_memory_, compressed->message_bytes(), &Connection::dispatch);
}

void Connection::acquire(MemoryBudget& budget, MemoryBudget::Reservation& reservation, size_t bytes,
                         void (Connection::*then)()) {
  enter(Phase::kWaiting);
  const bool is_there =
      budget.acquire(reservation, bytes, [self = shared_from_this(), then]() mutable {
        asio::io_context& io = self->context_.io;
        asio::post(io, [self = std::move(self), then] { (self.get()->*then)(); });
      });
  // If false, no member may be accessed any more: another thread may already have continued with
  // this connection.
  if (is_there) (this->*then)();
}

// ---- Handling ----

void Connection::dispatch() {
  asio::post(context_.workers, work());
}

void Connection::dispatch_continuation() {
  if (!context_.workers.get_executor().running_in_this_thread()) return dispatch();
  asio::defer(context_.workers, work());
}

std::function<void()> Connection::work() {
  enter(Phase::kRunning);
  context_.queued += 1;
  return [self = shared_from_this()] {
    self->context_.queued -= 1;
    try {
      self->run();
    } catch (const std::exception& error) {
      // A library has thrown, in practice for lack of memory. Only this client's connection ends.
      log::error("{}: {}", self->name(), error.what());
      self->finish();
    }
  };
}

void Connection::run() {
  if (!incoming_) {
    Result<IncomingMessage> incoming = read_incoming(bytes_.bytes(), decompressed_);
    if (!incoming) {
      log::info("{}: {}", name(), incoming.error().message());
      return finish();
    }
    context_.requests_handled += 1;
    incoming_ = std::move(*incoming);
    if (auto* const request = std::get_if<Request>(&incoming_->content)) request->room = this;
    wants_reply_ = incoming_->form.kind != ReplyForm::Kind::kNone;
  }
  if (auto* const reply = std::get_if<bson::Document>(&incoming_->content)) {
    return answer(std::move(*reply));
  }
  const Request& request = std::get<Request>(incoming_->content);
  if (!has_turn(request)) return;
  if (has_short_reply(request.name())) return handle();
  // The size of the reply is not known yet. While the replies of other requests fill the budget,
  // this request does not start. Running requests reserve memory before their replies grow.
  enter(Phase::kWaiting);
  if (!context_.replies.acquire(reply_memory_, 0,
                                [self = shared_from_this()] { self->dispatch(); })) {
    return;
  }
  enter(Phase::kRunning);
  handle();
}

bool Connection::has_turn(const Request& request) {
  if (turn_.is_held() || is_brief(request.name())) return true;
  const bool is_tcp = peer_.kind == Peer::Kind::kTcp;
  enter(Phase::kWaiting);
  const bool has_it = context_.shares.acquire(
      turn_, is_tcp ? WorkerShares::Kind::kTcp : WorkerShares::Kind::kSocket,
      is_tcp ? context_.handler.account(*client_) : std::string(),
      [self = shared_from_this()] { self->dispatch(); });
  // If false, no member may be accessed any more: another thread may already have continued with
  // this connection.
  if (has_it) enter(Phase::kRunning);
  return has_it;
}

void Connection::handle() {
  // Keeps this object alive while another thread may resume and finish it.
  const std::shared_ptr<Connection> self = shared_from_this();
  RequestHandler& handler = context_.handler;
  const uint64_t changes = handler.changes();
  Outcome outcome = handler.handle(*client_, std::get<Request>(incoming_->content));
  if (auto* const document = std::get_if<bson::Document>(&outcome)) {
    return answer(std::move(*document));
  }
  if (client_->gone()) return finish();
  // A waiting request has no reply yet and needs no worker. It must not hold memory or a turn that
  // others need.
  context_.replies.release(reply_memory_);
  context_.shares.release(turn_);
  enter(Phase::kDeferred);
  const auto& deferral = std::get<Deferral>(outcome);
  if (!context_.deferred.defer(self, deferral)) {
    return answer(error_document({ErrorCode::kInterruptedAtShutdown, "interrupted at shutdown"},
                                 "InterruptedAtShutdown"));
  }
  if (deferral.wakes == Deferral::Wakes::kByTime) return;
  // A change before defer() has not resumed this request, so this code checks for one.
  if (handler.changes() != changes && context_.deferred.remove(*this)) dispatch();
}

void Connection::answer(bson::Document document) {
  context_.shares.release(turn_);
  ReplyForm form = incoming_->form;
  const int32_t message_id = context_.next_message_id++;
  form.more_to_come = has_more_to_come(*incoming_, document);
  if (form.more_to_come) {
    // next() handles the request again. The next reply then refers to this reply.
    incoming_->form.response_to = message_id;
  } else {
    forget_request();
  }
  if (form.kind == ReplyForm::Kind::kNone) return next();
  reply_ = Reply(form, std::move(document), message_id);
  context_.replies.settle(reply_memory_, reply_.size());
  holds_memory_ = reply_memory_.bytes() > MemoryBudget::kAlwaysBytes;
  send(reply_.pieces());
}

uint64_t Connection::take(uint64_t wanted) {
  return context_.replies.acquire_share(reply_memory_, wanted);
}

Status Connection::make_room(uint64_t bytes) {
  const uint64_t has = reply_memory_.bytes();
  if (bytes <= has || context_.replies.acquire_within(reply_memory_, bytes - has, kReplyPatience)) {
    return {};
  }
  return fail(ErrorCode::kExceededMemoryLimit,
              "there is no memory for a reply of " + std::to_string(bytes) +
                  " bytes: replies that other clients have not received yet hold it");
}

void Connection::forget_request() {
  incoming_.reset();
  bytes_.clear();
  decompressed_.clear();
  context_.requests.release(request_memory_);
  holds_memory_ = false;
}

void Connection::forget_reply() {
  reply_ = Reply();
  unsent_ = {};
  context_.replies.release(reply_memory_);
  holds_memory_ = false;
}

// ---- Sending ----

void Connection::send(const Pieces& pieces) {
  enter(Phase::kSending);
  unsent_ = pieces;
  // Most replies are sent at once, without waking another thread.
  on_sent(transport_->write_now(unsent_));
}

void Connection::send_rest() {
  transport_->write_some(unsent_, completion(&Connection::on_sent));
}

void Connection::on_sent(size_t count) {
  for (;;) {
    context_.bytes_out += count;
    record_progress(count);
    unsent_ = behind(unsent_, count);
    if (bytes_of(unsent_) == 0) return next();
    if (!waits_for(POLLOUT)) return send_rest();
    count = transport_->write_now(unsent_);
    if (count == 0) return send_rest();
  }
}

void Connection::next() {
  forget_reply();
  if (ends_with_reply_) return finish();
  if (incoming_) return dispatch_continuation();
  read_message();
}

void Connection::send_http_hint() {
  ends_with_reply_ = true;
  const auto* const text = reinterpret_cast<const uint8_t*>(kHttpHint.data());
  send({std::span(text, kHttpHint.size())});
}

// ---- Ending ----

void Connection::finish() {
  if (phase_.exchange(Phase::kClosed) == Phase::kClosed) return;
  // Frees the memory here and not in the destructor, because this object may live on for a while.
  // The memory is free before its reservation is released.
  forget_request();
  forget_reply();
  context_.shares.release(turn_);
  if (client_ != nullptr) {
    client_->set_gone();
    // Must come before remove(): when the table is empty, the stopping thread joins the workers,
    // and this task must be in their queue by then.
    asio::post(context_.workers,
               [self = shared_from_this()] { self->context_.handler.forget(*self->client_); });
  }
  context_.table.remove(*this);
}

Transport::Done Connection::completion(void (Connection::*then)(size_t)) {
  return [self = shared_from_this(), then](const std::error_code& error, size_t count) {
    // The peer has closed the connection, or a timeout has ended it. The connection ends without a
    // reply.
    if (error) return self->finish();
    (self.get()->*then)(count);
  };
}

bool Connection::is_running() const {
  const Phase phase = phase_;
  return phase == Phase::kRunning || phase == Phase::kDeferred;
}

void Connection::on_hangup(short poll_events) {
  // A client that wants no reply may disconnect at once. Its request is executed all the same.
  if (!wants_reply_) return;
  const bool is_over = (poll_events & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  if (!is_over && !transport_->is_tls()) {
    // The client has closed its sending side, but there are further requests before the end of the
    // stream. They must be handled.
    char byte;
    if (::recv(fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0) return;
  }
  if (client_ != nullptr) client_->set_gone();
  if (phase_ != Phase::kDeferred || !context_.deferred.remove(*this)) return;
  asio::post(context_.io, [self = shared_from_this()] { self->finish(); });
}

void Connection::end_if_stalled(TimePoint now) {
  const ServerLimits& limits = context_.limits;
  const auto limit = [&](const MemoryBudget& budget, std::chrono::milliseconds usual) {
    return holds_memory_ && budget.is_waited_for() ? std::min(usual, limits.pressed_timeout)
                                                   : usual;
  };
  std::optional<std::chrono::milliseconds> allowed;
  switch (phase_) {
    case Phase::kHandshake:
      allowed = limits.handshake_timeout;
      break;
    case Phase::kReceiving:
      allowed = limit(context_.requests, limits.receive_timeout);
      break;
    case Phase::kSending:
      allowed = limit(context_.replies, limits.send_timeout);
      break;
    default:
      return;
  }
  if (!is_held_up(now, *allowed)) return;
  log::info("{}: ended after {} ms without progress", name(), allowed->count());
  transport_->interrupt();
}

void Connection::end_if_idle() {
  const Phase phase = phase_;
  if (phase == Phase::kHandshake || phase == Phase::kIdle || phase == Phase::kReceiving) {
    transport_->interrupt();
  }
}

void Connection::end() {
  if (is_running() && client_ != nullptr) client_->set_gone();
  if (transport_ != nullptr) transport_->interrupt();
}

void Connection::enter(Phase phase) {
  progress_ns_ = nanoseconds(steady_clock::now());
  uncounted_progress_ = 0;
  phase_ = phase;
}

void Connection::record_progress(size_t count) {
  uncounted_progress_ += count;
  if (uncounted_progress_ < kProgressBytes) return;
  uncounted_progress_ = 0;
  progress_ns_ = nanoseconds(steady_clock::now());
}

bool Connection::is_held_up(TimePoint now, std::chrono::milliseconds limit) const {
  const std::chrono::nanoseconds held_up(nanoseconds(now) - progress_ns_);
  return held_up > limit;
}

}  // namespace gridmount::wire
