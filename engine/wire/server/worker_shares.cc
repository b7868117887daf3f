#include "engine/wire/server/worker_shares.h"

#include <algorithm>
#include <utility>

namespace gridmount::wire {
namespace {

// Returns `workers` minus `kept`, but at least 1.
size_t without(size_t workers, size_t kept) {
  return workers > kept ? workers - kept : 1;
}

}  // namespace

WorkerShares::WorkerShares(size_t workers)
    : most_of_all_(without(workers, std::max<size_t>(1, workers / 8))),
      most_of_tcp_(without(workers, std::max<size_t>(2, workers / 4))),
      most_of_account_(std::clamp<size_t>(workers / 2, 1, most_of_tcp_)) {}

bool WorkerShares::fits(const Account& account) const {
  if (is_stopped_) return true;
  if (running_ >= most_of_all_) return false;
  if (account.kind == Kind::kSocket) return true;
  return running_of_tcp_ < most_of_tcp_ && account.running < most_of_account_;
}

void WorkerShares::take(Turn& turn, Account& account) {
  turn.is_held_ = true;
  ++account.running;
  ++running_;
  if (account.kind == Kind::kTcp) ++running_of_tcp_;
}

bool WorkerShares::acquire(Turn& turn, Kind kind, std::string account,
                           std::function<void()> granted) {
  turn.kind_ = kind;
  // All clients of the Unix socket share the account with the empty name. Users and addresses have
  // names.
  turn.account_ = kind == Kind::kSocket ? std::string() : std::move(account);
  const MutexLock lock(mutex_);
  Account& its = accounts_[turn.account_];
  its.kind = kind;
  // A request does not overtake others of its account. It may overtake requests of other accounts:
  // they wait for a limit that does not apply to this request, or they would already have a turn.
  if (its.waiting.empty() && fits(its)) {
    take(turn, its);
    return true;
  }
  if (its.waiting.empty()) rotation_.push_back(turn.account_);
  its.waiting.push_back({&turn, std::move(granted)});
  return false;
}

void WorkerShares::release(Turn& turn) {
  if (!turn.is_held_) return;
  Granted granted;
  {
    const MutexLock lock(mutex_);
    turn.is_held_ = false;
    --running_;
    if (turn.kind_ == Kind::kTcp) --running_of_tcp_;
    const auto found = accounts_.find(turn.account_);
    if (--found->second.running == 0 && found->second.waiting.empty()) accounts_.erase(found);
    granted = grant();
  }
  for (const auto& tell : granted) tell();
}

WorkerShares::Granted WorkerShares::grant() {
  Granted granted;
  // Ends when every waiting account has been tried since the last turn was given, and none fits.
  for (size_t looked_at = 0; looked_at < rotation_.size();) {
    std::string name = std::move(rotation_.front());
    rotation_.pop_front();
    Account& account = accounts_.at(name);
    if (!fits(account)) {
      rotation_.push_back(std::move(name));
      ++looked_at;
      continue;
    }
    Waiter waiter = std::move(account.waiting.front());
    account.waiting.pop_front();
    take(*waiter.turn, account);
    granted.push_back(std::move(waiter.granted));
    if (!account.waiting.empty()) rotation_.push_back(std::move(name));
    looked_at = 0;
  }
  return granted;
}

void WorkerShares::stop() {
  Granted granted;
  {
    const MutexLock lock(mutex_);
    is_stopped_ = true;
    granted = grant();
  }
  for (const auto& tell : granted) tell();
}

}  // namespace gridmount::wire
