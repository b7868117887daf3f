// Goal: a server survives many clients that send malformed data while others behave well.
// Method: a fuzzer of sockets with seeded random misbehaviour. Afterwards file descriptors, threads
// and memory are what they were, and a good client is served. GRIDMOUNT_WIRE_SEED replays a run,
// and GRIDMOUNT_WIRE_RUNS makes it longer.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <thread>
#include <vector>

#include "engine/wire/protocol/op_msg.h"
#include "tests/engine/wire/server/server_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::wire {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMiB = size_t{1} << 20;

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Attacker {
 public:
  explicit Attacker(uint64_t seed) : random_(seed) {}

  // Returns one message, or malformed bytes instead of one.
  Bytes misdeed() {
    Bytes bytes = good_message();
    switch (below(10)) {
      case 0:  // unchanged
        break;
      case 1:  // a false length
        lie(bytes, 0);
        break;
      case 2: {  // false anywhere
        for (uint64_t i = below(8); i > 0; --i) lie(bytes, below(bytes.size() - 4));
        break;
      }
      case 3:  // truncated
        bytes.resize(below(bytes.size()));
        break;
      case 4:  // random bytes
        bytes.resize(below(300));
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
        break;
      case 5:  // a few bytes changed
        for (uint64_t i = 1 + below(5); i > 0; --i) {
          bytes[16 + below(bytes.size() - 16)] = static_cast<uint8_t>(random_());
        }
        break;
      case 6:
        bytes = op_msg(nested(below(300)));
        break;
      case 7:
        bytes = bomb();
        break;
      case 8: {  // another opcode
        const int32_t opcodes[] = {0, 1, 2001, 2002, 2004, 2005, 2006, 2007, 2012, 2013, 9999};
        std::memcpy(bytes.data() + 12, &opcodes[below(std::size(opcodes))], 4);
        break;
      }
      default:  // several in a row
        for (uint64_t i = below(20); i > 0; --i) put(bytes, good_message());
    }
    return bytes;
  }

  // Sends such messages over one connection.
  void attack(RawClient client) {
    const uint64_t count = 1 + below(6);
    for (uint64_t i = 0; i < count; ++i) {
      const Bytes bytes = misdeed();
      if (below(8) == 0) {
        dribble(client, bytes);
      } else {
        client.send_now(bytes);
      }
      if (below(3) == 0) client.is_silent_for(static_cast<int>(below(5)));
    }
    if (below(4) == 0) client.end_sending();
    if (below(4) == 0) (void)client.is_closed_within(static_cast<int>(below(30)));
  }

  uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }

 private:
  bson::Document random_command() {
    switch (below(6)) {
      case 0:
        return command("echo", std::string(below(20'000), 'e'));
      case 1:
        return command("big", static_cast<int64_t>(below(300'000)));
      case 2:
        return command("wait", static_cast<int64_t>(below(50)));
      case 3:
        return command("sleep", static_cast<int64_t>(below(3)));
      case 4:
        return command("unknown");
      default:
        return command("ping");
    }
  }

  Bytes good_message() {
    const uint32_t flags = below(4) == 0 ? static_cast<uint32_t>(random_()) & 0x10003u : 0;
    switch (below(5)) {
      case 0:
        return op_query("admin.$cmd", command("isMaster"));
      case 1:
        return compressed(op_msg(command("echo", std::string(1000 + below(50'000), 'c')), flags),
                          static_cast<Compressor>(below(4)));
      case 2: {
        TestSequence sequence{"documents", {}};
        sequence.documents.resize(below(50), command("x"));
        return op_msg_of({sequence_section(sequence), body_section(command("insert"))}, flags);
      }
      default:
        return op_msg(random_command(), flags);
    }
  }

  void lie(Bytes& bytes, size_t at) {
    const uint32_t lies[] = {0,
                             1,
                             4,
                             15,
                             17,
                             47'999'999,
                             48'000'001,
                             0x7fffffff,
                             0x80000000,
                             0xffffffff,
                             static_cast<uint32_t>(random_()),
                             static_cast<uint32_t>(bytes.size() + below(100))};
    std::memcpy(bytes.data() + at, &lies[below(std::size(lies))], 4);
  }

  bson::Document nested(uint64_t depth) {
    bson::Document document = command("ping");
    for (; depth > 0; --depth) {
      bson::Builder around;
      around.append("ping", document).append("$db", "test");
      document = std::move(around).finish();
    }
    return document;
  }

  Bytes bomb() {
    Bytes bytes = compressed(op_msg(command("echo", std::string(100'000 + below(2 * kMiB), 0))),
                             static_cast<Compressor>(1 + below(3)));
    if (below(2) == 0) lie(bytes, 20);  // the size it claims to expand to
    return bytes;
  }

  void dribble(RawClient& client, const Bytes& bytes) {
    const size_t size = std::min<size_t>(bytes.size(), 40);
    for (size_t i = 0; i < size; ++i) client.send_now(std::span(bytes).subspan(i, 1));
    client.send_now(std::span(bytes).subspan(size));
  }

  std::mt19937_64 random_;
};

class HostileTest : public ServerTest {
 protected:
  HostileTest() {
    options_.limits.receive_timeout = milliseconds(300);
    options_.limits.send_timeout = milliseconds(300);
    options_.limits.pressed_timeout = milliseconds(100);
    options_.limits.request_bytes_max = 16 * kMiB;
    options_.limits.reply_bytes_max = 16 * kMiB;
    // A corrupted request may ask for any duration and want no reply. Without this limit, nothing
    // would end the request earlier.
    handler_.longest = milliseconds(500);
  }
};

TEST_F(HostileTest, RandomMisdeeds_LeaveNothingBehind) {
  const uint64_t seed = number_from("GRIDMOUNT_WIRE_SEED", std::random_device()());
  const uint64_t runs = number_from("GRIDMOUNT_WIRE_RUNS", random_rounds(400));
  SCOPED_TRACE("GRIDMOUNT_WIRE_SEED=" + std::to_string(seed));
  std::cout << "GRIDMOUNT_WIRE_SEED=" << seed << std::endl;
  start();
  ASSERT_TRUE(is_served());
  ASSERT_TRUE(comes_true([&] { return server_->connections() == 0; }));
  // After the first round, the allocators have the memory that they keep. The attacker may be gone
  // before the server has even accepted the connection.
  { Attacker(seed).attack(connect()); }
  ASSERT_TRUE(comes_true([&] { return server_->connections_created() == 2; }));
  ASSERT_TRUE(comes_true([&] { return server_->connections() == 0; }));
  const size_t descriptors = open_descriptors();
  const size_t threads = threads_now();
  const size_t memory = resident_bytes();

  std::atomic<bool> is_over = false;
  std::thread good([&] {
    while (!is_over) EXPECT_TRUE(is_served());
  });
  std::vector<std::thread> attackers;
  for (uint64_t t = 0; t < 4; ++t) {
    attackers.emplace_back([&, t] {
      Attacker attacker(seed * 1000 + t);
      for (uint64_t i = 0; i < runs / 4; ++i) {
        attacker.attack(attacker.below(2) == 0 ? connect() : connect_tcp());
      }
    });
  }
  for (std::thread& attacker : attackers) attacker.join();
  is_over = true;
  good.join();

  EXPECT_TRUE(comes_true([&] { return server_->connections() == 0; })) << server_->connections();
  EXPECT_TRUE(is_served());
  EXPECT_TRUE(comes_true([&] { return open_descriptors() == descriptors; }));
  EXPECT_TRUE(comes_true([&] { return threads_now() == threads; }));
  EXPECT_LT(memory_grown_since(memory), 128 * kMiB);
  EXPECT_TRUE(comes_true([&] { return handler_.forgotten == server_->connections_created(); }));
}

TEST_F(HostileTest, FloodOfConnections_LeavesTheOwnerHisSocket) {
  options_.limits.connections_max = 50;
  start();
  ASSERT_TRUE(is_served());
  ASSERT_TRUE(comes_true([&] { return server_->connections() == 0; }));
  const size_t descriptors = open_descriptors();
  {
    std::vector<RawClient> flood;
    for (int i = 0; i < 300; ++i) flood.push_back(connect_tcp());
    EXPECT_TRUE(comes_true([&] { return server_->connections() == 50; }));
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(is_served());
  }
  EXPECT_TRUE(comes_true([&] { return server_->connections() == 0; }));
  EXPECT_TRUE(comes_true([&] { return open_descriptors() == descriptors; }));
}

TEST_F(HostileTest, NoDescriptorsLeft_IsSurvived) {
  // A sanitizer makes a pipe to check the type of an object, and reports a missing pipe as a wrong
  // type.
  if (kSanitized) GTEST_SKIP() << "the sanitizers need descriptors themselves";
  start();
  ASSERT_TRUE(is_served());
  RawClient before = connect();
  ASSERT_TRUE(before.ask(command("ping")));
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  // Leaves room for this client's end of a connection, but not for the server's.
  rlimit small = limit;
  small.rlim_cur = open_descriptors() + 1;
  RawClient waiting = [&] {
    ::setrlimit(RLIMIT_NOFILE, &small);
    return connect_tcp();
  }();
  EXPECT_EQ(before.ask(command("ping"))->ok(), 1);
  std::this_thread::sleep_for(milliseconds(300));
  ::setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_TRUE(!waiting.is_connected() || waiting.ask(command("ping")));
  EXPECT_TRUE(is_served());
}

}  // namespace
}  // namespace gridmount::wire
