#include "engine/wire/service_state.h"

#include <utility>

namespace gridmount::wire {

Service::State::State(engine::Store& store, ServiceOptions options)
    : store_(store),
      options_(std::move(options)),
      started_(bson::Date::now()),
      begin_(std::chrono::steady_clock::now()),
      sessions_(options_.sessions_max),
      access_(store, options_.authentication),
      filter_budget_(std::make_shared<query::FilterBudget>(options_.filter_bytes_max)),
      cursors_({options_.cursor_idle_max, options_.cursors_max}),
      profiler_(store) {}

std::chrono::milliseconds Service::State::uptime() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begin_);
}

void Service::State::record_change() {
  ++changes_;
  if (notify_) notify_();
}

Status Service::State::commit(engine::Transaction& transaction, engine::Durability durability) {
  Status committed = transaction.commit(durability);
  record_change();
  return committed;
}

void Service::State::end_work_of(const SessionPattern& sessions, const Operation* self) {
  operations_.kill_if(
      [&](const Operation& operation) {
        return &operation != self && operation.session &&
               sessions.matches(*operation.session, operation.session_user);
      },
      ErrorCode::kInterrupted);
  const size_t ended = cursors_.kill_if([&](const cursors::CursorInfo& info) {
    const auto* const cursor = static_cast<const ClientCursor*>(info.options.note.get());
    if (cursor == nullptr || !cursor->session) return false;
    if (!sessions.matches(*cursor->session, cursor->session_user)) return false;
    cursor->interrupt->kill(ErrorCode::kInterrupted);
    return true;
  });
  // Wakes the getMores that wait for data of these cursors. They then find that their cursor is
  // gone.
  if (ended > 0) record_change();
}

void Service::State::stop() {
  stopping_ = true;
  operations_.kill_if([](const Operation&) { return true; }, ErrorCode::kInterruptedAtShutdown);
  record_change();
}

}  // namespace gridmount::wire
