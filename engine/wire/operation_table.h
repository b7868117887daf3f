// The table of running operations. currentOp lists them, and killOp and a shutdown interrupt them.
//
// OperationTable is thread-safe. Only the thread that runs an Operation may use the Operation.
// Exceptions: any thread may use its interrupt, and functions that the table calls under its lock
// may read the Operation.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/deadline.h"
#include "engine/base/error.h"
#include "engine/base/thread_safety.h"
#include "engine/bson/builder.h"
#include "engine/store.h"
#include "engine/wire/client.h"
#include "engine/wire/generic_arguments.h"
#include "engine/wire/request.h"
#include "engine/wire/session_pattern.h"

namespace gridmount::wire {

struct Operation {
  int32_t id = 0;
  const Client* client = nullptr;
  bson::View command;  // as other clients may see it; valid while the operation is in the table
  std::string_view database;
  std::chrono::steady_clock::time_point begin;
  std::optional<SessionId> session;
  UserDigest session_user{};
  // Not null in the table. A getMore uses the interrupt of its cursor.
  std::shared_ptr<engine::Interrupt> interrupt;
};

class OperationTable {
 public:
  // Adds an operation, which is in the table until end(). `shown_command` is the command as other
  // clients may see it. The arguments must stay valid until end().
  std::shared_ptr<Operation> begin(const Client& client, const Request& request,
                                   bson::View shown_command) GM_EXCLUDES(mutex_);
  void end(const Operation& operation) GM_EXCLUDES(mutex_);

  void set_session(Operation& operation, const SessionId& session, const UserDigest& user)
      GM_EXCLUDES(mutex_);
  // Replaces the operation's interrupt. A kill of the operation then kills the new interrupt. If
  // the operation was already killed, also kills the new interrupt, with the same reason.
  void set_interrupt(Operation& operation, std::shared_ptr<engine::Interrupt> interrupt)
      GM_EXCLUDES(mutex_);

  // Kills every operation for which `condition` is true, with the reason `reason`. Returns how many
  // operations it has killed. Calls `condition` while the table is locked.
  size_t kill_if(const std::function<bool(const Operation&)>& condition, ErrorCode reason)
      GM_EXCLUDES(mutex_);
  // Calls `visit` with each operation while the table is locked.
  void visit(const std::function<void(const Operation&)>& visit) const GM_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<int32_t, std::shared_ptr<Operation>> operations_ GM_GUARDED_BY(mutex_);
  int32_t last_id_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::wire
