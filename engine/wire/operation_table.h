// What runs at the moment: for currentOp, and so that killOp and a shutdown reach it.
//
// Thread-safe. An Operation belongs to the thread that runs it, apart from its interrupt and from
// what the table hands out under its lock.
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

namespace gridmount::wire {

struct Operation {
  int32_t id = 0;
  const Client* client = nullptr;
  bson::View command;  // the request's, valid while the operation is in the table
  std::string_view database;
  std::chrono::steady_clock::time_point begin;
  std::optional<SessionId> session;
  // Null only before begin(). A getMore has its cursor's.
  std::shared_ptr<engine::Interrupt> interrupt;
};

class OperationTable {
 public:
  // The operation is in the table until end(), with what others may see of its command.
  std::shared_ptr<Operation> begin(const Client& client, const Request& request,
                                   bson::View shown_command) GM_EXCLUDES(mutex_);
  void end(const Operation& operation) GM_EXCLUDES(mutex_);

  void set_session(Operation& operation, const std::optional<SessionId>& session)
      GM_EXCLUDES(mutex_);
  // From now on killing the operation kills what runs under that interrupt.
  void set_interrupt(Operation& operation, std::shared_ptr<engine::Interrupt> interrupt)
      GM_EXCLUDES(mutex_);

  // Tells all for which `condition` is true to end for that reason. Returns how many.
  size_t kill_if(const std::function<bool(const Operation&)>& condition, ErrorCode reason)
      GM_EXCLUDES(mutex_);
  // Calls `visit` with each, the table being locked.
  void visit(const std::function<void(const Operation&)>& visit) const GM_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<int32_t, std::shared_ptr<Operation>> operations_ GM_GUARDED_BY(mutex_);
  int32_t last_id_ GM_GUARDED_BY(mutex_) = 0;
};

}  // namespace gridmount::wire
