// No code here may catch all exceptions or hold a lock while it waits, because libfuse ends its
// threads by cancelling them while they read.
#include "fuse/kernel/request_turns.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <thread>
#include <utility>

#include "fuse/monitoring/thread_number.h"

namespace gridmount::fuse {
namespace {

using std::chrono::steady_clock;

// polls_that_help_ grows by one with each wait for a request that a poll covers, and falls by
// kPollsLost with each longer wait. The owner polls while it is kPollsBefore or more.
constexpr int kPollsMax = 8;
constexpr int kPollsBefore = 2;
constexpr int kPollsLost = 2;
// crowd_ grows by kCrowdPerOther with each request whose sender is not the previous sender, and
// falls by one with each other request. At kCrowdMax the threads read in parallel.
constexpr int kCrowdPerOther = 2;
constexpr int kCrowdMax = 8;
// The delay with which a thread that sleeps until a request comes is woken up.
constexpr std::chrono::microseconds kWakeUp{20};

// Returns a number from 1 to 65,535, which State has room for. After 65,535 threads, the numbers
// repeat. If two threads have the same number, both may read at the same time, which costs time but
// loses nothing.
uint64_t number_of_this_thread() {
  return thread_number() % 65'535 + 1;
}

bool has_message(int connection) {
  pollfd polled{connection, POLLIN, 0};
  return poll(&polled, 1, 0) != 0;
}

timespec after(std::chrono::microseconds time) {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  at.tv_nsec += std::chrono::nanoseconds(time).count();
  constexpr long kSecond = 1'000'000'000;
  at.tv_sec += at.tv_nsec / kSecond;
  at.tv_nsec %= kSecond;
  return at;
}

}  // namespace

RequestTurns::RequestTurns(KindOf kind_of)
    : kind_of_(kind_of),
      begun_(steady_clock::now()),
      may_poll_(std::thread::hardware_concurrency() > 1) {
  sem_init(&wakes_standby_, /*pshared=*/0, 0);
  sem_init(&wakes_other_, /*pshared=*/0, 0);
}

RequestTurns::~RequestTurns() {
  sem_destroy(&wakes_standby_);
  sem_destroy(&wakes_other_);
}

RequestTurns::Microseconds RequestTurns::now() const {
  using std::chrono::duration_cast;
  const auto passed = duration_cast<std::chrono::microseconds>(steady_clock::now() - begun_);
  return static_cast<Microseconds>(passed.count()) + 1;
}

bool RequestTurns::replace(State expected, State next) {
  uint64_t packed = expected.packed();
  return state_.compare_exchange_strong(packed, next.packed());
}

ssize_t RequestTurns::read(int connection, void* buffer, size_t room) {
  const uint64_t thread = number_of_this_thread();
  const State state = State::of(state_);
  // This thread is back, and still has the turn.
  const bool has_turn = state.owner == thread && replace(state, {thread, 0});
  if (!has_turn && (is_parallel() || !wait_for_turn(thread))) {
    return ::read(connection, buffer, room);
  }
  const ssize_t size = read_in_turn(connection, buffer, room);
  const int error = errno;
  const Kind kind =
      size <= 0 ? Kind() : kind_of_({static_cast<const char*>(buffer), static_cast<size_t>(size)});
  count_crowd(kind.sender);
  leave(thread, connection, kind.is_quick);
  errno = error;
  return size;
}

ssize_t RequestTurns::read_in_turn(int connection, void* buffer, size_t room) {
  const steady_clock::time_point begun = steady_clock::now();
  const bool is_there = has_message(connection);
  const bool polls = !is_there && may_poll_ && polls_that_help_ >= kPollsBefore;
  if (polls) {
    while (!has_message(connection) && steady_clock::now() - begun < kPoll) {
    }
  }
  const ssize_t size = ::read(connection, buffer, room);
  if (!is_there) {
    const bool helps = steady_clock::now() - begun < (polls ? kPoll : kPoll + kWakeUp);
    polls_that_help_ = std::clamp(polls_that_help_ + (helps ? 1 : -kPollsLost), 0, kPollsMax);
  }
  last_read_ = now();
  return size;
}

void RequestTurns::count_crowd(uint32_t sender) {
  if (sender == 0) return;
  const bool is_other = std::exchange(last_sender_, sender) != sender;
  crowd_ = std::clamp(crowd_ + (is_other ? kCrowdPerOther : -1), 0, kCrowdMax);
  if (crowd_ < kCrowdMax) return;
  crowd_ = 0;
  parallel_until_ = now() + static_cast<Microseconds>(kParallel.count());
  sem_post(&wakes_standby_);
  for (int left = waiting_; left > 0; --left) sem_post(&wakes_other_);
}

void RequestTurns::leave(uint64_t thread, int connection, bool is_quick) {
  // While the threads read in parallel, nobody waits for the turn.
  if (is_parallel() || (!is_quick && has_message(connection))) {
    if (replace({thread, 0}, {}) && waiting_ > 0) {
      sem_post(standby_ != 0 ? &wakes_standby_ : &wakes_other_);
    }
    return;
  }
  if (replace({thread, 0}, {thread, now()}) && standby_sleeps_.exchange(false)) {
    sem_post(&wakes_standby_);
  }
}

bool RequestTurns::try_turn(uint64_t thread) {
  while (true) {
    const State state = State::of(state_);
    const Microseconds limit = static_cast<Microseconds>(kAwayMax.count());
    const bool is_free = state.owner == 0;
    const bool is_away_long = state.away_since != 0 && now() >= state.away_since + limit;
    if (!is_free && !is_away_long) return false;
    if (replace(state, {thread, 0})) return true;
  }
}

bool RequestTurns::wait_for_turn(uint64_t thread) {
  ++waiting_;
  bool has_turn = false;
  while (!(has_turn = try_turn(thread)) && !is_parallel()) {
    uint64_t nobody = 0;
    if (standby_ == thread || standby_.compare_exchange_strong(nobody, thread)) {
      wait_as_standby();
    } else {
      (void)sem_wait(&wakes_other_);
    }
  }
  // While threads wait, one of them is the standby.
  uint64_t self = thread;
  standby_.compare_exchange_strong(self, 0);
  if (standby_ == 0 && waiting_ > 1) sem_post(&wakes_other_);
  --waiting_;
  return has_turn;
}

void RequestTurns::wait_as_standby() {
  const auto busy = static_cast<Microseconds>(kBusy.count());
  if (State::of(state_).away_since != 0 || now() < last_read_ + busy) {
    const timespec until = after(State::of(state_).away_since != 0 ? kAwayMax : kStandbySleep);
    (void)sem_clockwait(&wakes_standby_, CLOCK_MONOTONIC, &until);
    return;
  }
  standby_sleeps_ = true;
  // The owner looks at standby_sleeps_ after it has left.
  const State state = State::of(state_);
  if (state.owner != 0 && state.away_since == 0) (void)sem_wait(&wakes_standby_);
  standby_sleeps_ = false;
}

}  // namespace gridmount::fuse
