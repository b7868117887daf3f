// Decides which of libfuse's threads reads the next request of the kernel, and lets this thread
// wait in the cheapest way.
//
// Most programs wait for the reply to each request, and send the next request some microseconds
// later. Sleeping and waking up take longer than that, above all in a virtual machine. So the
// thread that has just replied polls for a moment before it sleeps, if polling has helped lately.
// For each request, the kernel wakes up one of the threads that sleep in a read, even while another
// thread polls. Therefore only one thread reads, and the others wait here.
//
//  R1. At most one thread, the owner, has the turn. The owner reads, or is away with the request
//      that it has read. The owner keeps the turn while it is away, so that the same thread reads
//      the next request. There are two exceptions. If the next request is already there when the
//      owner leaves, and the owner's request is not quick, the owner gives up the turn. While the
//      threads read in parallel (R3), an owner that leaves gives up the turn too.
//  R2. A thread that waits for the turn gets the turn when no thread has it, or when the owner has
//      been away for kAwayMax. One of the waiting threads, the standby, checks this at least every
//      kStandbySleep. The standby sleeps without a limit only while the owner reads and nothing has
//      been read for kBusy. In this case the owner wakes up the standby when the owner leaves. So
//      each request finds a thread, even if the owner waits for an effect of this request.
//  R3. If several programs send requests, all threads read without turns, for kParallel.
//
// Whenever no thread waits for a request, libfuse starts another thread, unless the session has its
// maximum of threads. If all threads are away, the next thread that comes back gets the turn as R2
// says.
//
// Thread-safe. libfuse cancels its threads while they are in read(). This is safe at any time, but
// then no thread may call read() again.
#pragma once

#include <semaphore.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gridmount::fuse {

class RequestTurns {
 public:
  static constexpr std::chrono::microseconds kAwayMax{100};
  static constexpr std::chrono::microseconds kBusy{1000};
  static constexpr std::chrono::microseconds kStandbySleep{250};
  static constexpr std::chrono::microseconds kParallel{200'000};
  // How long a thread polls for the next request: about the time of falling asleep and waking up.
  static constexpr std::chrono::microseconds kPoll{30};

  struct Kind {
    bool is_quick = false;  // the request takes only a few microseconds
    uint32_t sender = 0;    // the thread that waits for the reply; 0: nobody waits
  };
  using KindOf = Kind (*)(std::span<const char> message);

  explicit RequestTurns(KindOf kind_of);
  ~RequestTurns();
  RequestTurns(const RequestTurns&) = delete;
  RequestTurns& operator=(const RequestTurns&) = delete;

  // Waits for the turn, except while the threads read in parallel (R3). Then waits for a message on
  // `connection`. Returns what read(2) returns, with its errno. `connection` is a blocking
  // descriptor, from which each read gets one whole message.
  ssize_t read(int connection, void* buffer, size_t room);

 private:
  using Microseconds = uint64_t;
  // Who has the turn, and since when it has been away.
  struct State {
    uint64_t owner = 0;           // the number of a thread; 0: the turn is free
    Microseconds away_since = 0;  // 0: the owner reads

    static State of(uint64_t packed) { return {packed >> kTimeBits, packed & kTimeMask}; }
    uint64_t packed() const { return owner << kTimeBits | (away_since & kTimeMask); }
    static constexpr int kTimeBits = 48;
    static constexpr uint64_t kTimeMask = (uint64_t{1} << kTimeBits) - 1;
  };

  bool is_parallel() const { return now() < parallel_until_; }
  // Called by the owner for each message. Begins kParallel if several senders take turns.
  void count_crowd(uint32_t sender);
  Microseconds now() const;  // since the object was made, at least 1
  bool replace(State expected, State next);
  // Returns false if the threads read in parallel.
  bool wait_for_turn(uint64_t thread);
  // Tries to get the turn. Returns false if another thread has it and may keep it.
  bool try_turn(uint64_t thread);
  void wait_as_standby();
  ssize_t read_in_turn(int connection, void* buffer, size_t room);
  void leave(uint64_t thread, int connection, bool is_quick);

  const KindOf kind_of_;
  const std::chrono::steady_clock::time_point begun_;
  const bool may_poll_;
  std::atomic<uint64_t> state_{0};
  std::atomic<Microseconds> last_read_{0};
  std::atomic<Microseconds> parallel_until_{0};
  std::atomic<int> waiting_{0};              // threads in wait_for_turn()
  std::atomic<uint64_t> standby_{0};         // the number of the standby; 0: there is none
  std::atomic<bool> standby_sleeps_{false};  // without a limit
  // Posted once for each thread that is to look again.
  sem_t wakes_standby_;
  sem_t wakes_other_;
  // Only the owner uses these.
  int crowd_ = 0;
  uint32_t last_sender_ = 0;
  int polls_that_help_ = 0;
};

}  // namespace gridmount::fuse
