// The state that the commands of a service share.
//
// Thread-safe. Lock order: no part is called while the lock of another part is held. A condition
// passed to OperationTable or CursorRegistry may only read atomics.
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

// What the server keeps with a cursor.
struct ClientCursor : cursors::CursorNote {
  std::optional<SessionId> session;
  UserDigest session_user{};
  // The user who created the cursor, if it had to log in, and the privileges that this took. A
  // getMore needs the same user and still all of these privileges.
  std::optional<UserName> owner;
  std::vector<Privilege> privileges;
  std::shared_ptr<engine::Interrupt> interrupt;  // that of the operation reading the cursor
  // Records the cursor's reads for the profiler. Null if no profiling was active when the cursor
  // was created. Belongs to the getMore that holds being_read.
  std::shared_ptr<engine::ReadObserver> observer;
  std::atomic<bool> being_read{false};
  bool await_data = false;
  int64_t returned = 0;  // number of documents so far; belongs to the getMore that holds being_read
  bson::Document command;  // the command that created the cursor, for currentOp
  // What is left of the maxTimeMS of the command that created the cursor. Negative: no limit.
  std::atomic<int64_t> microseconds_left{-1};
  // Until when a getMore that found nothing waits. min() while none waits.
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
  // Different for each service. topologyVersion uses it to identify the server process.
  bson::ObjectId process_id() const { return process_id_; }
  std::chrono::milliseconds uptime() const;

  const ServerStats* stats() const { return stats_.load(); }
  void set_stats(const ServerStats* stats) { stats_ = stats; }
  AccessControl& access() { return access_; }
  const std::shared_ptr<query::FilterBudget>& filter_budget() const { return filter_budget_; }

  uint64_t changes() const { return changes_.load(); }
  void record_change();
  void on_change(std::function<void()> notify) { notify_ = std::move(notify); }
  // Commits the transaction and calls record_change().
  Status commit(engine::Transaction& transaction, engine::Durability durability);

  // Kills the cursors and operations of the sessions, except for the operation `self`.
  void end_work_of(const SessionPattern& sessions, const Operation* self);

  bool stopping() const { return stopping_.load(); }
  void stop();

  // Settings that commands change. They apply to all databases, as on a server.
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
  // Shared, because filters in caches of the store may outlive the service.
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
