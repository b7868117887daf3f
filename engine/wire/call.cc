#include "engine/wire/call.h"

namespace gridmount::wire {

Result<std::unique_ptr<engine::Snapshot>> Call::snapshot() {
  // A separate thread writes the entries of system.profile. A reader must find the entries of all
  // requests that were answered before.
  if (ns_.collection == "system.profile") state_.profiler().flush();
  GM_ASSIGN(std::unique_ptr<engine::Snapshot> snapshot, store().snapshot());
  observe(*snapshot);
  return snapshot;
}

Result<std::unique_ptr<engine::Transaction>> Call::begin(engine::TransactionKind kind) {
  GM_ASSIGN(std::unique_ptr<engine::Transaction> transaction, store().begin(kind));
  observe(*transaction);
  return transaction;
}

void Call::touch_session(const SessionId& id) {
  const AccessControl& access = state_.access();
  if (!access.may_have_sessions(client_)) return;
  state_.sessions().touch(id, access.session_owner(client_), operation_->begin);
}

void Call::observe(engine::Snapshot& snapshot) {
  if (!state_.profiler().active()) return;
  if (!observer_) observer_ = std::make_shared<engine::ReadObserver>();
  snapshot.observe(observer_);
}

engine::ReadObserver Call::examined() const {
  if (examined_) return *examined_;
  return observer_ ? *observer_ : engine::ReadObserver();
}

}  // namespace gridmount::wire
