// A server in its own folder, with a handler whose commands do what tests need.
//
//   ping                      {ok: 1}
//   hello, isMaster           {ok: 1, connectionId}
//   echo: <string>            {ok: 1, echo: <string>}
//   big: <bytes>              {ok: 1, big: <that many bytes>}
//   insert                    {ok: 1}, counted
//   getMore                   {ok: 1, cursor: {id: batches_left}}; each call takes one
//   gate                      waits until the test opens the gate, or the client disconnects
//   hold                      waits until the test opens the gate, whatever happens
//   sleep: <ms>               sleeps, whatever happens
//   wait: <ms>                {ok: 1, changed}, deferred until a change, or for so many ms after
//                             the first call
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "engine/base/thread_safety.h"
#include "engine/wire/server/server.h"
#include "tests/engine/wire/server/raw_client.h"

namespace gridmount::wire {

class FakeRequestHandler final : public RequestHandler {
 public:
  Outcome handle(Client& client, const Request& request) override;
  void forget(Client& client) override;
  // The account is the host of a TCP client.
  std::string account(const Client& client) const override { return client.peer().address; }
  void expire(std::chrono::steady_clock::time_point) override { ++expired; }
  void shut_down() override;
  uint64_t changes() const override { return changes_; }
  void on_change(std::function<void()> notify) override;
  void set_stats(const ServerStats* stats) override { stats_ = stats; }

  void change();
  void open_gate();

  std::atomic<int> inserted = 0;
  std::atomic<int64_t> batches_left = 0;
  std::chrono::milliseconds longest{std::chrono::hours(1)};  // the longest a client may ask for
  std::atomic<int> running = 0;
  std::atomic<int> deferral = 0;    // number of deferrals
  std::atomic<int> forgotten = 0;   // number of clients
  std::atomic<int> found_gone = 0;  // commands that ended because their client was gone
  std::atomic<int> expired = 0;
  std::atomic<bool> is_shut_down = false;
  std::atomic<const ServerStats*> stats_ = nullptr;
  std::string last_peer() const;
  Peer last_peer_details() const;

 private:
  Outcome wait_at_gate(Client& client);
  Outcome hold();
  Outcome wait_for_change(Client& client, int64_t milliseconds);

  std::atomic<uint64_t> changes_ = 1;
  mutable Mutex mutex_;
  Condition gate_changed_;
  bool gate_is_open_ GM_GUARDED_BY(mutex_) = false;
  std::function<void()> notify_ GM_GUARDED_BY(mutex_);
  struct Waiting {
    uint64_t changes;
    std::chrono::steady_clock::time_point until;
  };
  std::map<int32_t, Waiting> waiting_ GM_GUARDED_BY(mutex_);
  Peer last_peer_ GM_GUARDED_BY(mutex_);
};

bson::Document command(std::string_view name, int64_t argument);
bson::Document command(std::string_view name, std::string_view argument);

// Waits until the condition is true. Returns false if that takes more than 20 seconds.
bool comes_true(const std::function<bool()>& condition);

size_t open_descriptors();
size_t resident_bytes();
// Returns by how many bytes the resident memory has grown beyond `before`. A sanitizer keeps
// several times the memory that is used, so there the result is divided by 20.
size_t memory_grown_since(size_t before);
size_t threads_now();

class ServerTest : public testing::Test {
 protected:
  ServerTest();
  ~ServerTest() override;

  // Starts with options_. Fails the test if the server does not start.
  void start();
  std::string tcp_address() const;
  RawClient connect() const { return RawClient::to_socket_file(folder_); }
  RawClient connect_tcp() const { return RawClient::to_address(tcp_address()); }
  // Returns true if another client gets an answer.
  bool is_served() const;

  std::filesystem::path folder_;
  ServerOptions options_;
  FakeRequestHandler handler_;
  std::unique_ptr<Server> server_;
};

}  // namespace gridmount::wire
