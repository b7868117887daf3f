#include "engine/wire/operation_table.h"

#include <limits>
#include <utility>

namespace gridmount::wire {

std::shared_ptr<Operation> OperationTable::begin(const Client& client, const Request& request,
                                                 bson::View shown_command) {
  auto operation = std::make_shared<Operation>();
  operation->client = &client;
  operation->command = shown_command;
  operation->database = request.database;
  operation->begin = std::chrono::steady_clock::now();
  operation->interrupt = std::make_shared<engine::Interrupt>();
  const MutexLock lock(mutex_);
  do {
    last_id_ = last_id_ == std::numeric_limits<int32_t>::max() ? 1 : last_id_ + 1;
  } while (operations_.count(last_id_) != 0);
  operation->id = last_id_;
  operations_[operation->id] = operation;
  return operation;
}

void OperationTable::end(const Operation& operation) {
  const MutexLock lock(mutex_);
  operations_.erase(operation.id);
}

void OperationTable::set_session(Operation& operation, const SessionId& session,
                                 const UserDigest& user) {
  const MutexLock lock(mutex_);
  operation.session = session;
  operation.session_user = user;
}

void OperationTable::set_interrupt(Operation& operation,
                                   std::shared_ptr<engine::Interrupt> interrupt) {
  const MutexLock lock(mutex_);
  if (const std::optional<ErrorCode> reason = operation.interrupt->reason()) {
    interrupt->kill(*reason);
  }
  operation.interrupt = std::move(interrupt);
}

size_t OperationTable::kill_if(const std::function<bool(const Operation&)>& condition,
                               ErrorCode reason) {
  const MutexLock lock(mutex_);
  size_t killed = 0;
  for (const auto& [id, operation] : operations_) {
    if (!condition(*operation)) continue;
    operation->interrupt->kill(reason);
    ++killed;
  }
  return killed;
}

void OperationTable::visit(const std::function<void(const Operation&)>& visit) const {
  const MutexLock lock(mutex_);
  for (const auto& [id, operation] : operations_) visit(*operation);
}

}  // namespace gridmount::wire
