#include "engine/wire/server/connection_table.h"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "engine/wire/server/connection.h"

namespace gridmount::wire {

void ConnectionTable::add(std::shared_ptr<Connection> connection) {
  const MutexLock lock(mutex_);
  ++created_;
  const Connection* const key = connection.get();
  connections_.emplace(key, std::move(connection));
}

void ConnectionTable::remove(Connection& connection) {
  std::shared_ptr<Connection> removed;  // destroyed after the lock is released
  const MutexLock lock(mutex_);
  connection.close_transport();
  const auto found = connections_.find(&connection);
  if (found == connections_.end()) return;
  removed = std::move(found->second);
  connections_.erase(found);
  if (connections_.empty()) removed_.notify_all();
}

size_t ConnectionTable::size() const {
  const MutexLock lock(mutex_);
  return connections_.size();
}

int64_t ConnectionTable::created() const {
  const MutexLock lock(mutex_);
  return created_;
}

// Holds the lock throughout. Otherwise another thread could close a socket, and its number could be
// reused, between poll() and the use of its result. Nothing in this function blocks: poll() has a
// timeout of 0.
void ConnectionTable::sweep(TimePoint now) {
  const MutexLock lock(mutex_);
  std::vector<pollfd> watched;
  std::vector<Connection*> watched_connections;
  for (const auto& [key, connection] : connections_) {
    if (connection->is_running()) {
      watched.push_back({connection->fd(), POLLRDHUP, 0});
      watched_connections.push_back(connection.get());
    } else {
      connection->end_if_stalled(now);
    }
  }
  if (watched.empty() || ::poll(watched.data(), watched.size(), 0) <= 0) return;
  for (size_t i = 0; i < watched.size(); ++i) {
    if (watched[i].revents != 0) watched_connections[i]->on_hangup(watched[i].revents);
  }
}

void ConnectionTable::end_idle() {
  const MutexLock lock(mutex_);
  for (const auto& [key, connection] : connections_) connection->end_if_idle();
}

void ConnectionTable::end_all() {
  const MutexLock lock(mutex_);
  for (const auto& [key, connection] : connections_) connection->end();
}

bool ConnectionTable::wait_until_empty(TimePoint deadline) {
  // wait_for() overflows with the largest time point, so it waits in steps.
  constexpr std::chrono::hours kAtOnce{1};
  const MutexLock lock(mutex_);
  while (!connections_.empty()) {
    const TimePoint now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    removed_.wait_for(mutex_, std::min<TimePoint::duration>(deadline - now, kAtOnce));
  }
  return true;
}

}  // namespace gridmount::wire
