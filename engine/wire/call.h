// One execution of a command, with its request, its client, and access to the service's state.
//
// Not thread-safe: only the thread that runs the command uses a Call. The state, the client, the
// request and the command that are passed to the constructor must outlive the Call.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/deadline.h"
#include "engine/store.h"
#include "engine/wire/arguments.h"
#include "engine/wire/client.h"
#include "engine/wire/command.h"
#include "engine/wire/generic_arguments.h"
#include "engine/wire/operation_table.h"
#include "engine/wire/request.h"
#include "engine/wire/service_state.h"

namespace gridmount::wire {

// One statement of an update or a delete, with the results that the profiler records.
struct ProfiledStatement {
  bson::Document statement;  // {q, u, multi, ...} or {q, limit, ...}
  bson::Document counts;     // nMatched and other counts
  engine::ReadObserver examined;
  std::chrono::microseconds duration{0};
  std::optional<Error> error;
};

class Call {
 public:
  Call(Service::State& state, Client& client, const Request& request, const Command& command,
       std::shared_ptr<Operation> operation, Arguments arguments)
      : state_(state),
        client_(client),
        request_(request),
        command_(command),
        operation_(std::move(operation)),
        arguments_(std::move(arguments)) {}

  Service::State& state() { return state_; }
  engine::Store& store() { return state_.store(); }
  Client& client() { return client_; }
  const Client& client() const { return client_; }
  const Request& request() const { return request_; }
  const Command& command() const { return command_; }
  Operation& operation() { return *operation_; }
  Arguments& arguments() { return arguments_; }

  // Records that this client uses the session. Does nothing for a client that must still log in, so
  // that such clients cannot fill the session table.
  void touch_session(const SessionId& id);

  const GenericArguments& generic() const { return generic_; }
  void set_generic(const GenericArguments& generic) { generic_ = generic; }

  // Returns the time at which the command must end: that of maxTimeMS, or at once if the operation
  // was killed.
  engine::Deadline deadline() const {
    return engine::Deadline(std::shared_ptr<const engine::Interrupt>(operation_->interrupt));
  }
  // Fails with MaxTimeMSExpired if the deadline has passed. If the operation was killed,
  // Service::handle() replaces this code by the reason of the kill.
  Status check_interrupt() const {
    if (std::chrono::steady_clock::now() <= deadline()) return {};
    return fail(ErrorCode::kMaxTimeMsExpired, "operation exceeded time limit");
  }

  // Begin a snapshot or a transaction of the store. Their reads are reported to observer(). If ns()
  // is a collection system.profile, snapshot() first waits for the profiler's records.
  Result<std::unique_ptr<engine::Snapshot>> snapshot();
  Result<std::unique_ptr<engine::Transaction>> begin(
      engine::TransactionKind kind = engine::TransactionKind::kMayBlock);
  // Returns the observer of this call's reads. Returns null before the first snapshot or
  // transaction, and if no database is profiled.
  const std::shared_ptr<engine::ReadObserver>& observer() const { return observer_; }

  // The privileges that the command's pipelines need in addition to those of the command itself.
  // This client has all of them.
  const std::vector<Privilege>& reached() const { return reached_; }
  void record_reached(const Privilege& privilege) { reached_.push_back(privilege); }

  // Postpones the call: if run() of the command succeeds, the service drops the reply, and the
  // request runs again later (see Deferral in request.h).
  void defer(std::chrono::steady_clock::time_point until,
             Deferral::Wakes wakes = Deferral::Wakes::kByChange) {
    deferral_ = Deferral{until, wakes};
  }
  const std::optional<Deferral>& deferral() const { return deferral_; }

  // The functions below are for the profiler, the log and Counters: the namespace of the command,
  // the counts of its results, and the counts of its reads. snapshot() and run_batch() also use
  // ns(), so a command must call set_ns() before them.
  void set_ns(engine::Namespace ns) { ns_ = std::move(ns); }
  const engine::Namespace& ns() const { return ns_; }
  bson::Builder& counts() { return counts_; }
  void set_examined(engine::ReadObserver examined) { examined_ = std::move(examined); }
  // Returns the argument of set_examined() if it was called, otherwise the counts of observer().
  engine::ReadObserver examined() const;
  // Returns the statements of an update or a delete. Servers profile each statement, and profile
  // the command itself only if it fails.
  std::vector<ProfiledStatement>& profiled_statements() { return profiled_statements_; }

 private:
  void observe(engine::Snapshot& snapshot);

  Service::State& state_;
  Client& client_;
  const Request& request_;
  const Command& command_;
  const std::shared_ptr<Operation> operation_;
  Arguments arguments_;
  GenericArguments generic_;
  std::optional<Deferral> deferral_;
  engine::Namespace ns_;
  bson::Builder counts_;
  std::shared_ptr<engine::ReadObserver> observer_;
  std::optional<engine::ReadObserver> examined_;
  std::vector<ProfiledStatement> profiled_statements_;
  std::vector<Privilege> reached_;
};

}  // namespace gridmount::wire
