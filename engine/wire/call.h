// One run of a command: its request, its client, and the parts of the service that it uses.
//
// Not thread-safe: used by the thread that runs the command.
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

// One statement of an update or a delete, as the profiler records it.
struct ProfiledStatement {
  bson::Document statement;  // {q, u, multi, ...} or {q, limit, ...}
  bson::Document counts;     // nMatched and the like
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

  // When the command must have ended: by maxTimeMS, or at once if it has been killed.
  engine::Deadline deadline() const {
    return engine::Deadline(std::shared_ptr<const engine::Interrupt>(operation_->interrupt));
  }
  // Fails with MaxTimeMSExpired once the deadline has passed. Service::handle() replaces this code
  // by the reason if the operation was killed.
  Status check_interrupt() const {
    if (std::chrono::steady_clock::now() <= deadline()) return {};
    return fail(ErrorCode::kMaxTimeMsExpired, "operation exceeded time limit");
  }

  // Open a read view or a transaction on the store. Their reads are reported to observer().
  Result<std::unique_ptr<engine::Snapshot>> snapshot();
  Result<std::unique_ptr<engine::Transaction>> begin(
      engine::TransactionKind kind = engine::TransactionKind::kMayBlock);
  // Null while no database is profiled.
  const std::shared_ptr<engine::ReadObserver>& observer() const { return observer_; }

  // The privileges that the command's pipelines need beyond those of the command itself. All of
  // them have been checked for this client.
  const std::vector<Privilege>& reached() const { return reached_; }
  void record_reached(const Privilege& privilege) { reached_.push_back(privilege); }

  // Ends the call without a result for now (see Deferral). Whatever run() has put into the reply
  // is dropped.
  void defer(std::chrono::steady_clock::time_point until,
             Deferral::Wakes wakes = Deferral::Wakes::kByChange) {
    deferral_ = Deferral{until, wakes};
  }
  const std::optional<Deferral>& deferral() const { return deferral_; }

  // For the profiler: the namespace of the command, its result counts, and what it read.
  void set_ns(engine::Namespace ns) { ns_ = std::move(ns); }
  const engine::Namespace& ns() const { return ns_; }
  bson::Builder& counts() { return counts_; }
  void set_examined(engine::ReadObserver examined) { examined_ = std::move(examined); }
  // Returns the argument of set_examined() if that was called, otherwise what observer() has
  // recorded.
  engine::ReadObserver examined() const;
  // Servers profile updates and deletes statement by statement. The command itself is profiled only
  // if it fails.
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
