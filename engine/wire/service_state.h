// The state that the commands of a service share.
//
// Thread-safe, except that on_change() must be called before the first request. Lock order: no
// member is called while another member's lock is held. A condition that is passed to
// OperationTable or CursorRegistry must not take a lock.
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
  // The user that created the cursor, or nothing if the client did not have to log in, and the
  // privileges that the command needed. A getMore is allowed only to the same user, who must still
  // have all of these privileges.
  std::optional<UserName> owner;
  std::vector<Privilege> privileges;
  // The interrupt of the command that created the cursor. Each getMore of the cursor uses it too.
  std::shared_ptr<engine::Interrupt> interrupt;
  // Counts the cursor's reads for the profiler. Null if no database was profiled when the cursor
  // was created. Only the getMore that has set being_read uses it.
  std::shared_ptr<engine::ReadObserver> observer;
  std::atomic<bool> being_read{false};
  bool await_data = false;
  int64_t returned = 0;  // the number of documents so far; only the getMore that has set being_read
                         // uses it
  // The command that created the cursor, for currentOp. Empty if the command is large.
  bson::Document command;
  // The rest of the maxTimeMS of the command that created the cursor. Negative: no limit.
  std::atomic<int64_t> microseconds_left{-1};
  // The time until which a getMore that has found nothing waits; min() if none waits.
  std::atomic<std::chrono::steady_clock::time_point> awaited_until{
      std::chrono::steady_clock::time_point::min()};
};

class Service::State {
 public:
  // `store` must outlive the state.
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

  // The statistics of the server that contains the service, for serverStatus. Null if there is no
  // server. The caller of set_stats() owns them: they must live until it sets null or the service
  // has ended.
  const ServerStats* stats() const { return stats_.load(); }
  void set_stats(const ServerStats* stats) { stats_ = stats; }
  AccessControl& access() { return access_; }
  const std::shared_ptr<query::FilterBudget>& filter_budget() const { return filter_budget_; }

  // Returns how many changes record_change() has recorded. A deferred request is due again when the
  // number has grown.
  uint64_t changes() const { return changes_.load(); }
  // Counts a change of the data, and calls the function that was given to on_change(), in this
  // thread.
  void record_change();
  // Sets the function that record_change() calls. Any thread may call record_change(), so the
  // function must be thread-safe. Call on_change() before the first request.
  void on_change(std::function<void()> notify) { notify_ = std::move(notify); }
  // Commits the transaction and calls record_change(), also if the commit fails.
  Status commit(engine::Transaction& transaction, engine::Durability durability);

  // Kills the cursors and operations of the sessions, except the operation `self`, which may be
  // null.
  void end_work_of(const SessionPattern& sessions, const Operation* self);

  bool stopping() const { return stopping_.load(); }
  // Kills all operations with InterruptedAtShutdown, and wakes the requests that are deferred until
  // a change. stopping() is true from then on.
  void stop();

  // Settings that commands can change. They apply to all databases, as on a server. An operation
  // that takes at least `slow_microseconds` is slow. Slow operations on a collection are logged.
  // But if the profiler has a filter for the database, the operations on its collections that match
  // the filter are logged instead. `sample_rate`, from 0 to 1, is the share of slow operations that
  // the profiler records at level 1 if it has no filter. `log_level`, from 0 to 5, and `quiet` are
  // only shown.
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
