// The state that the commands of a service share.
//
// Thread-safe. Lock order: no member is called while another member's lock is held. A condition
// that is passed to OperationTable or CursorRegistry may only read atomics.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/cursors/cursor_registry.h"
#include "engine/profiling/profiler.h"
#include "engine/query/filter/filter_budget.h"
#include "engine/store.h"
#include "engine/wire/auth/access_control.h"
#include "engine/wire/command.h"
#include "engine/wire/counters.h"
#include "engine/wire/operation_table.h"
#include "engine/wire/service.h"
#include "engine/wire/session_table.h"

namespace gridmount::wire {

// The data that the server keeps with a cursor.
struct ClientCursor : cursors::CursorNote {
  std::optional<SessionId> session;
  UserDigest session_user{};
  // The user who has created the cursor, if that client had to log in, and the privileges that this
  // needed. A getMore is allowed only to the same user, who must still have all of these
  // privileges.
  std::optional<UserName> owner;
  std::vector<Privilege> privileges;
  std::shared_ptr<engine::Interrupt> interrupt;  // the interrupt of the operation that reads the
                                                 // cursor
  // Counts the cursor's reads for the profiler. Null if no database was profiled when the cursor
  // was created. Only the getMore that has set being_read uses it.
  std::shared_ptr<engine::ReadObserver> observer;
  std::atomic<bool> being_read{false};
  bool await_data = false;
  int64_t returned = 0;  // the number of documents so far; only the getMore that has set being_read
                         // uses it
  bson::Document command;  // the command that created the cursor, for currentOp
  // The rest of the maxTimeMS of the command that created the cursor. Negative: no limit.
  std::atomic<int64_t> microseconds_left{-1};
  // The time until which a getMore that has found nothing waits; min() if none waits.
  std::atomic<std::chrono::steady_clock::time_point> awaited_until{
      std::chrono::steady_clock::time_point::min()};
};

class Service::State {
 public:
  State(engine::Store& store, ServiceOptions options);

  engine::Store& store() { return store_; }
  const ServiceOptions& options() const { return options_; }
  cursors::CursorRegistry& cursors() { return cursors_; }
  SessionTable& sessions() { return sessions_; }
  OperationTable& operations() { return operations_; }
  profiling::Profiler& profiler() { return profiler_; }
  Counters& counters() { return counters_; }
  bson::Date started() const { return started_; }
  // An id of this service. topologyVersion uses it to identify the server process.
  bson::ObjectId process_id() const { return process_id_; }
  std::chrono::milliseconds uptime() const;

  const ServerStats* stats() const { return stats_.load(); }
  void set_stats(const ServerStats* stats) { stats_ = stats; }
  AccessControl& access() { return access_; }
  const std::shared_ptr<query::FilterBudget>& filter_budget() const { return filter_budget_; }

  uint64_t changes() const { return changes_.load(); }
  void record_change();
  void on_change(std::function<void()> notify) { notify_ = std::move(notify); }
  // Commits the transaction and calls record_change(), also if the commit fails.
  Status commit(engine::Transaction& transaction, engine::Durability durability);

  // Kills the cursors and operations of the sessions, except the operation `self`, which may be
  // null.
  void end_work_of(const SessionPattern& sessions, const Operation* self);

  bool stopping() const { return stopping_.load(); }
  void stop();

  // Settings that commands can change. They apply to all databases, as on a server.
  std::atomic<int64_t> slow_microseconds{100'000};
  std::atomic<double> sample_rate{1.0};
  std::atomic<int32_t> log_level{0};
  std::atomic<bool> quiet{false};

 private:
  engine::Store& store_;
  const ServiceOptions options_;
  const bson::Date started_;
  const bson::ObjectId process_id_ = bson::ObjectId::generate();
  const std::chrono::steady_clock::time_point begin_;
  SessionTable sessions_;
  OperationTable operations_;
  AccessControl access_;
  // A shared_ptr, because filters in the store's caches may outlive the service.
  const std::shared_ptr<query::FilterBudget> filter_budget_;
  cursors::CursorRegistry cursors_;
  Counters counters_;
  profiling::Profiler profiler_;
  std::atomic<const ServerStats*> stats_ = nullptr;
  std::atomic<uint64_t> changes_ = 0;
  std::function<void()> notify_;  // set before the first request
  std::atomic<bool> stopping_ = false;
};

}  // namespace gridmount::wire
