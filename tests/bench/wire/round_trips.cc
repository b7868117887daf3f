#include "tests/bench/wire/round_trips.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/bench/wire/process.h"

namespace gridmount::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The requests of one slice, distributed to the clients.
using Hands = std::vector<std::vector<Bytes>>;
using Clients = std::vector<std::unique_ptr<Connection>>;

Clients connect(const std::filesystem::path& socket, uint64_t count) {
  Clients clients;
  for (uint64_t i = 0; i < count; ++i) clients.push_back(std::make_unique<Connection>(socket));
  return clients;
}

// Returns the seconds from the first request to the last reply. Checks the last reply to each
// client for this many `documents`, outside the measured time. 0: no check, for the echo.
double play(Clients& clients, const Hands& hands, uint64_t documents) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::barrier start(static_cast<std::ptrdiff_t>(clients.size()) + 1);
  std::barrier end(static_cast<std::ptrdiff_t>(clients.size()) + 1);
  std::vector<std::thread> threads;
  for (size_t client = 0; client < clients.size(); ++client) {
    threads.emplace_back([&, client] {
      Bytes last;
      start.arrive_and_wait();
      try {
        for (const Bytes& request : hands[client]) {
          const std::span<const uint8_t> reply = clients[client]->ask(request);
          if (&request == &hands[client].back()) last.assign(reply.begin(), reply.end());
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
      end.arrive_and_wait();
      try {
        if (documents > 0 && !last.empty()) check_reply(last, documents);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    });
  }
  start.arrive_and_wait();
  const Clock::time_point begin = Clock::now();
  end.arrive_and_wait();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return seconds;
}

class Measurement {
 public:
  Measurement(const RoundTripOptions& options, const std::filesystem::path& temp)
      : options_(options), temp_(temp) {}

  std::vector<RoundTrip> all() {
    Connection filler(options_.server);
    for (const Bytes& request : fill_requests(options_.sizes)) {
      static_cast<void>(filler.ask(request));
    }
    std::vector<RoundTrip> result;
    for (const WireRow& row : make_wire_rows(options_.sizes)) {
      for (const uint64_t clients : options_.clients) {
        std::fprintf(stderr, "%s, %llu clients\n", row.label.c_str(),
                     static_cast<unsigned long long>(clients));
        result.push_back(measure(row, clients));
      }
    }
    return result;
  }

 private:
  RoundTrip measure(const WireRow& row, uint64_t client_count) {
    RoundTrip trip;
    trip.row = row;
    trip.clients = client_count;
    Clients ours = connect(options_.server, client_count);
    // This request also warms up. The echo answers with as many bytes as this reply has.
    const std::span<const uint8_t> reply = ours[0]->ask(row.request(next_number_++));
    check_reply(reply, row.documents_per_operation);
    trip.reply_bytes = reply.size();
    const std::filesystem::path socket = temp_ / ("echo-" + std::to_string(next_echo_++));
    const Process echo(
        {options_.self, "--echo", socket.string(), "--echo-bytes", std::to_string(reply.size())},
        socket);
    Clients theirs = connect(socket, client_count);

    const uint64_t a_hand = std::max<uint64_t>(row.operations / options_.slices / client_count, 1);
    for (uint64_t slice = 0; slice < options_.slices; ++slice) {
      const Hands hands = deal(row, client_count, a_hand);
      const auto on_server = [&] {
        trip.server_seconds.push_back(play(ours, hands, row.documents_per_operation));
      };
      const auto on_echo = [&] { trip.echo_seconds.push_back(play(theirs, hands, 0)); };
      if (slice % 2 == 0) {
        on_server();
        on_echo();
      } else {
        on_echo();
        on_server();
      }
      trip.operations += a_hand * client_count;
    }
    return trip;
  }

  Hands deal(const WireRow& row, uint64_t client_count, uint64_t a_hand) {
    Hands hands(client_count);
    for (std::vector<Bytes>& hand : hands) {
      for (uint64_t i = 0; i < a_hand; ++i) hand.push_back(row.request(next_number_++));
    }
    return hands;
  }

  const RoundTripOptions& options_;
  const std::filesystem::path& temp_;
  uint64_t next_number_ = 0;
  int next_echo_ = 0;
};

}  // namespace

std::vector<RoundTrip> measure_round_trips(const RoundTripOptions& options,
                                           const std::filesystem::path& temp) {
  return Measurement(options, temp).all();
}

}  // namespace gridmount::bench
