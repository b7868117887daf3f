// One client's connection: its requests are received, handled and answered one after the other.
//
// It is in one phase at a time, and belongs to whoever carries that phase out: the completion of
// the one operation on its transport, the worker that handles its request, the queue it waits in.
// So nothing but what is atomic needs a lock, and an idle connection costs neither a thread nor a
// buffer. One that asks again at once keeps its worker, which waits a moment for that: no thread
// has to wake another then.
//
// Invariants:
//  1. The next message is not read before the reply has been sent: a client that sends without
//     reading fills its own socket and nothing of ours. A request that is answered by several
//     replies (goes_on()) is handled again when the one before is sent.
//  2. Memory for a message is taken as its bytes arrive, never because a header claims them.
//  3. The socket is closed under the lock of the table, by remove(); whoever holds that lock may
//     use fd().
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
#include "engine/wire/protocol/incoming.h"
#include "engine/wire/protocol/message_bytes.h"
#include "engine/wire/protocol/reply.h"
#include "engine/wire/server/connection_table.h"
#include "engine/wire/server/memory_budget.h"
#include "engine/wire/server/parking.h"
#include "engine/wire/server/request_handler.h"
#include "engine/wire/server/server_options.h"
#include "engine/wire/server/transport.h"
#include "engine/wire/server/worker_shares.h"

namespace gridmount::wire {

// What the connections of a server share. Outlives them.
struct ConnectionContext {
  asio::io_context& io;
  asio::thread_pool& workers;
  RequestHandler& handler;
  const ServerLimits& limits;
  Parking& parking;
  ConnectionTable& table;

  WorkerShares shares{limits.worker_threads};
  MemoryBudget requests{limits.request_bytes_max};
  MemoryBudget replies{limits.reply_bytes_max};
  std::atomic<bool> is_stopping = false;
  std::atomic<int32_t> next_message_id = 1;
  std::atomic<size_t> lingering = 0;  // workers that wait for their client's next request
  std::atomic<size_t> queued = 0;     // requests that wait for a worker
  std::atomic<uint64_t> bytes_in = 0;
  std::atomic<uint64_t> bytes_out = 0;
  std::atomic<uint64_t> requests_handled = 0;
};

class Connection final : public Parkable,
                         public ReplyRoom,
                         public std::enable_shared_from_this<Connection> {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Connection(ConnectionContext& context, std::unique_ptr<Transport> transport, int32_t id,
             Peer peer);

  // Shakes hands and reads the first message; from here on it lives by itself. After it has been
  // added to the table.
  void start();

  // For the table, which holds its lock.
  int fd() const { return transport_->fd(); }
  bool is_running() const;  // handles a request, or has parked it
  void end_if_stalled(TimePoint now);
  void end_if_idle();
  void end();
  void on_hangup(short poll_events);
  void close_transport() { transport_.reset(); }

  // Of a parked request.
  void resume() override { dispatch(); }

  // For the request's handler.
  uint64_t take(uint64_t wanted) override;
  Status make_room(uint64_t bytes) override;

 private:
  enum class Phase : uint8_t {
    kHandshake,
    kIdle,       // no byte of a message yet
    kReceiving,  // within a message
    kWaiting,    // for a turn of its own, or for memory
    kRunning,
    kParked,
    kSending,
    kClosed,
  };

  // Who the client is, known after the handshake.
  void greet();

  void read_message();
  // On a worker: the first bytes of the next message, if they come soon; else zero.
  size_t linger();
  // On a worker: whether that comes soon, which it waits for while workers are idle. False
  // elsewhere.
  bool waits_for(short poll_event);
  void read_header_bytes();
  void on_header_bytes(size_t count);
  void make_room();
  void receive();
  void on_bytes(size_t count);
  void on_message();

  // Has the request handled by any worker.
  void dispatch();
  // The same by whoever carries out this connection's phase: a worker takes it up itself when it
  // has come back from here. Not for what another connection's worker sets going, which would keep
  // it to itself until then.
  void go_on();
  std::function<void()> work();

  // On a worker.
  void run();
  // False if it waits for a turn, and is run again with it.
  bool has_turn(const Request& request);
  void handle();
  void answer(bson::Document document);
  void forget_request();

  void send(const Pieces& pieces);
  void send_rest();
  void on_sent(size_t count);
  void next();
  void send_http_hint();

  void finish();

  // Calls `then` when the memory is there, at once or later.
  void acquire(MemoryBudget& budget, MemoryBudget::Reservation& reservation, size_t bytes,
               void (Connection::*then)());
  // A handler of an operation on the transport.
  Transport::Done completion(void (Connection::*then)(size_t));

  void enter(Phase phase);
  // The peer has done something: `count` bytes came or went.
  void note_progress(size_t count);
  bool is_held_up(TimePoint now, std::chrono::milliseconds limit) const;
  std::string name() const;  // for the log

  ConnectionContext& context_;
  std::unique_ptr<Transport> transport_;
  const int32_t id_;
  Peer peer_;
  std::unique_ptr<Client> client_;

  std::atomic<Phase> phase_ = Phase::kHandshake;
  std::atomic<int64_t> progress_ns_ = 0;    // steady clock
  std::atomic<bool> holds_memory_ = false;  // enough of it to be in others' way
  std::atomic<bool> wants_reply_ = true;

  std::array<uint8_t, kHeaderBytes> header_bytes_{};
  size_t header_size_ = 0;
  Header header_;
  MessageBytes bytes_;
  MessageBytes decompressed_;
  std::optional<Incoming> incoming_;
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
