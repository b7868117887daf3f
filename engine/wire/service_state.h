// What the commands of a service share.
//
// Thread-safe. Lock order: none of the parts is called with another's lock held, but that a
// condition given to OperationTable or CursorRegistry may read atomics.
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
  // Who made it, having logged in, and what that needs; whoever goes on must be and have the same.
  std::optional<UserName> owner;
  std::vector<Privilege> privileges;
  std::shared_ptr<engine::Interrupt> interrupt;  // of what reads it
  // What its reads tell, for profiles; null if none was wanted when it began. Belongs to the
  // getMore that holds being_read.
  std::shared_ptr<engine::ReadObserver> observer;
  std::atomic<bool> being_read{false};
  bool await_data = false;
  int64_t returned = 0;    // documents, so far; belongs to the getMore that holds being_read
  bson::Document command;  // that made it, for currentOp
  // What is left of the maxTimeMS of the command that made it; negative: no limit.
  std::atomic<int64_t> microseconds_left{-1};
  // Until when a getMore that found nothing waits; none while none does.
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
  // Another one for each service: what topologyVersion tells servers' processes apart by.
  bson::ObjectId process_id() const { return process_id_; }
  std::chrono::milliseconds uptime() const;

  const ServerFigures* figures() const { return figures_.load(); }
  void set_figures(const ServerFigures* figures) { figures_ = figures; }
  AccessControl& access() { return access_; }
  const std::shared_ptr<query::FilterBudget>& filter_budget() const { return filter_budget_; }

  uint64_t changes() const { return changes_.load(); }
  void note_change();
  void on_change(std::function<void()> notify) { notify_ = std::move(notify); }
  // Commits, and tells of it.
  Status commit(engine::Transaction& transaction, engine::Durability durability);

  // Ends the cursors and operations of a session, but not `self`.
  void end_work_of(const SessionId& session, const Operation* self);

  bool stopping() const { return stopping_.load(); }
  void stop();

  // Settings that commands change; of all databases, as a server has them.
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
  // Filters may outlive the service, in what the store keeps.
  const std::shared_ptr<query::FilterBudget> filter_budget_;
  cursors::CursorRegistry cursors_;
  Counters counters_;
  profiling::Profiler profiler_;
  std::atomic<const ServerFigures*> figures_ = nullptr;
  std::atomic<uint64_t> changes_ = 0;
  std::function<void()> notify_;  // set before the first request
  std::atomic<bool> stopping_ = false;
};

}  // namespace gridmount::wire
