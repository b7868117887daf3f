// The connection of one client. It receives, handles and answers the client's requests one after
// another.
//
// A connection is in one phase at a time, and each phase has one owner: the completion handler of
// the only operation on its transport, the worker that handles its request, or the queue in which
// it waits. Only the owner uses the connection. Therefore only the atomic fields are shared, and no
// lock is necessary. An idle connection uses neither a thread nor a buffer. A worker that has sent
// a reply waits briefly for the client's next request. If the request arrives, the same worker
// handles it, and no other thread need be woken.
//
// Invariants:
// 1. The next message is read only after the reply has been sent. A client that sends requests and
//    reads no replies fills only the buffers of its own socket. A request with several replies
//    (incoming_message.h) is handled again when the previous reply has been sent.
// 2. The buffer of a message grows while its bytes arrive. A header alone gets a buffer of at most
//    MemoryBudget::kAlwaysBytes, even if it announces more bytes.
// 3. ConnectionTable::remove() closes the socket, under the table's lock. A thread that holds this
//    lock may use fd().
//
// Not thread-safe, except for the functions marked "For the table", which any thread that holds
// the table's lock may call.
#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <asio/thread_pool.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "engine/wire/client.h"
#include "engine/wire/protocol/header.h"
#include "engine/wire/protocol/incoming_message.h"
#include "engine/wire/protocol/message_bytes.h"
#include "engine/wire/protocol/reply.h"
#include "engine/wire/server/connection_table.h"
#include "engine/wire/server/deferred_requests.h"
#include "engine/wire/server/memory_budget.h"
#include "engine/wire/server/request_handler.h"
#include "engine/wire/server/server_options.h"
#include "engine/wire/server/transport.h"
#include "engine/wire/server/worker_shares.h"

namespace gridmount::wire {

// The state that all connections of a server share. It must outlive the connections.
struct ConnectionContext {
  asio::io_context& io;
  asio::thread_pool& workers;
  RequestHandler& handler;
  const ServerLimits& limits;
  DeferredRequests& deferred;
  ConnectionTable& table;

  WorkerShares shares{limits.worker_threads};
  MemoryBudget requests{limits.request_bytes_max};
  MemoryBudget replies{limits.reply_bytes_max};
  std::atomic<bool> is_stopping = false;
  std::atomic<int32_t> next_message_id = 1;
  std::atomic<size_t> lingering = 0;  // workers that wait briefly for their client
  std::atomic<size_t> queued = 0;     // requests that wait for a worker
  std::atomic<uint64_t> bytes_in = 0;
  std::atomic<uint64_t> bytes_out = 0;
  std::atomic<uint64_t> requests_handled = 0;
};

class Connection final : public Deferrable,
                         public ReplyRoom,
                         public std::enable_shared_from_this<Connection> {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Connection(ConnectionContext& context, std::unique_ptr<Transport> transport, int32_t id,
             Peer peer);

  // Begins the handshake, after which the connection reads and handles messages by itself. The
  // connection must already be in the table.
  void start();

  // For the table, which calls these functions while it holds its lock.
  int fd() const { return transport_->fd(); }
  bool is_running() const;  // handles a request, or has deferred it
  void end_if_stalled(TimePoint now);
  void end_if_idle();
  void end();
  void on_hangup(short poll_events);
  void close_transport() { transport_.reset(); }

  // Resumes a deferred request.
  void resume() override { dispatch(); }

  // Implement ReplyRoom, which the handler of the request uses.
  uint64_t take(uint64_t wanted) override;
  Status make_room(uint64_t bytes) override;

 private:
  enum class Phase : uint8_t {
    kHandshake,
    kIdle,       // no byte of a message has arrived
    kReceiving,  // part of a message has arrived
    kWaiting,    // the request waits for a turn (worker_shares.h) or for memory
    kRunning,
    kDeferred,
    kSending,
    kClosed,
  };

  // Creates client_, after the handshake has shown who the client is.
  void greet();

  void read_message();
  // On a worker: waits briefly for the next message. Returns how many of its bytes were read, or
  // zero.
  size_t linger();
  // On a worker, without TLS: if enough workers are free, waits briefly for the event, and returns
  // true if the event occurs. Otherwise returns false at once.
  bool waits_for(short poll_event);
  void read_header_bytes();
  void on_header_bytes(size_t count);
  void make_room();
  void receive();
  void on_bytes(size_t count);
  void on_message();

  // Lets any worker handle the request.
  void dispatch();
  // Like dispatch(), but must be called by the owner of this connection's phase. If the owner is a
  // worker, it handles the request itself when it has returned from the current task. Must not be
  // called by another connection's worker, because the request would then wait for that worker's
  // task.
  void dispatch_continuation();
  std::function<void()> work();

  // Handles the request. Called on a worker.
  void run();
  // Returns false if the request must wait for its turn. When it gets the turn, it is dispatched
  // again.
  bool has_turn(const Request& request);
  void handle();
  void answer(bson::Document document);
  // forget_request() and forget_reply() free the memory, and then release its reservation.
  void forget_request();
  void forget_reply();

  void send(const Pieces& pieces);
  void send_rest();
  void on_sent(size_t count);
  void next();
  void send_http_hint();

  void finish();

  // Calls `then` when the reservation has the memory: at once or later.
  void acquire(MemoryBudget& budget, MemoryBudget::Reservation& reservation, size_t bytes,
               void (Connection::*then)());
  // Makes the completion handler of an operation on the transport.
  Transport::Done completion(void (Connection::*then)(size_t));

  void enter(Phase phase);
  // Records that the peer has made progress: `count` bytes were received or sent.
  void record_progress(size_t count);
  bool is_held_up(TimePoint now, std::chrono::milliseconds limit) const;
  std::string name() const;  // for the program's log

  ConnectionContext& context_;
  std::unique_ptr<Transport> transport_;
  const int32_t id_;
  Peer peer_;
  std::unique_ptr<Client> client_;

  std::atomic<Phase> phase_ = Phase::kHandshake;
  std::atomic<int64_t> progress_ns_ = 0;  // steady clock
  // True if the connection holds so much memory that others may have to wait for it.
  std::atomic<bool> holds_memory_ = false;
  std::atomic<bool> wants_reply_ = true;

  std::array<uint8_t, kHeaderBytes> header_bytes_{};
  size_t header_size_ = 0;
  Header header_;
  MessageBytes bytes_;
  MessageBytes decompressed_;
  std::optional<IncomingMessage> incoming_;
  WorkerShares::Turn turn_;
  MemoryBudget::Reservation request_memory_;

  Reply reply_;
  Pieces unsent_;
  MemoryBudget::Reservation reply_memory_;
  bool ends_with_reply_ = false;

  size_t uncounted_progress_ = 0;
  size_t room_wanted_ = 0;
};

}  // namespace gridmount::wire
