#include "tests/engine/wire/server/server_fixture.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "engine/wire/protocol/reply.h"
#include "tests/sanitized.h"

namespace gridmount::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

bson::Document ok() {
  bson::Builder builder;
  builder.append("ok", 1.0);
  return std::move(builder).finish();
}

std::string line_of(const char* file, std::string_view key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return "0";
}

// Bounds the duration that a hostile client asks for, which may exceed the clock's range or the
// test's time.
milliseconds bounded(int64_t asked, milliseconds most) {
  return milliseconds(std::clamp<int64_t>(asked, 0, most.count()));
}

}  // namespace

bson::Document command(std::string_view name, int64_t argument) {
  bson::Builder builder;
  builder.append(name, argument).append("$db", "test");
  return std::move(builder).finish();
}

bson::Document command(std::string_view name, std::string_view argument) {
  bson::Builder builder;
  builder.append(name, argument).append("$db", "test");
  return std::move(builder).finish();
}

bool comes_true(const std::function<bool()>& condition) {
  const auto deadline = steady_clock::now() + std::chrono::seconds(20);
  while (steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return condition();
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

size_t resident_bytes() {
  return std::stoul(line_of("/proc/self/status", "VmRSS:")) * 1024;
}

size_t memory_grown_since(size_t before) {
  constexpr size_t kSanitizersShare = kSanitized ? 20 : 1;
  const size_t now = resident_bytes();
  return now > before ? (now - before) / kSanitizersShare : 0;
}

size_t threads_now() {
  return std::stoul(line_of("/proc/self/status", "Threads:"));
}

Outcome FakeRequestHandler::handle(Client& client, const Request& request) {
  {
    const MutexLock lock(mutex_);
    last_peer_ = client.peer();
  }
  const std::string_view name = request.name();
  const bson::ValueView argument = (*request.body.begin()).value;
  const bool takes_number = name == "big" || name == "sleep" || name == "wait";
  const bool is_good = !takes_number || argument.type() == bson::Type::kInt64;
  bson::Builder reply;
  reply.append("ok", is_good ? 1.0 : 0.0);
  if (!is_good) return std::move(reply).finish();
  if (name == "hello" || name == "isMaster") {
    reply.append("connectionId", client.id());
  } else if (name == "echo") {
    reply.append("echo", argument);
  } else if (name == "big") {
    constexpr int64_t kMost = 64 << 20;
    const int64_t bytes = std::clamp<int64_t>(argument.as_int64(), 0, kMost);
    if (const Status room = request.room->make_room(static_cast<uint64_t>(bytes)); !room) {
      return error_document(room.error());
    }
    reply.append("big", std::string(static_cast<size_t>(bytes), 'x'));
  } else if (name == "insert") {
    ++inserted;
  } else if (name == "getMore") {
    reply.open_document("cursor").append("id", --batches_left).close();
  } else if (name == "gate") {
    return wait_at_gate(client);
  } else if (name == "hold") {
    return hold();
  } else if (name == "sleep") {
    ++running;
    std::this_thread::sleep_for(bounded(argument.as_int64(), longest));
    --running;
  } else if (name == "wait") {
    return wait_for_change(client, argument.as_int64());
  }
  return std::move(reply).finish();
}

Outcome FakeRequestHandler::wait_at_gate(Client& client) {
  ++running;
  const MutexLock lock(mutex_);
  while (!gate_is_open_ && !client.gone()) gate_changed_.wait_for(mutex_, milliseconds(5));
  if (client.gone()) ++found_gone;
  --running;
  return ok();
}

Outcome FakeRequestHandler::hold() {
  ++running;
  const MutexLock lock(mutex_);
  while (!gate_is_open_) gate_changed_.wait(mutex_);
  --running;
  return ok();
}

Outcome FakeRequestHandler::wait_for_change(Client& client, int64_t milliseconds_max) {
  const MutexLock lock(mutex_);
  const auto now = steady_clock::now();
  const auto waiting =
      waiting_.try_emplace(client.id(), Waiting{changes_, now + bounded(milliseconds_max, longest)})
          .first;
  const bool has_changed = changes_ != waiting->second.changes;
  if (!has_changed && now < waiting->second.until && !is_shut_down) {
    ++deferral;
    return Deferral{waiting->second.until};
  }
  waiting_.erase(waiting);
  bson::Builder reply;
  reply.append("ok", 1.0).append("changed", has_changed);
  return std::move(reply).finish();
}

void FakeRequestHandler::forget(Client&) {
  ++forgotten;
}

void FakeRequestHandler::shut_down() {
  is_shut_down = true;
}

void FakeRequestHandler::on_change(std::function<void()> notify) {
  const MutexLock lock(mutex_);
  notify_ = std::move(notify);
}

void FakeRequestHandler::change() {
  ++changes_;
  std::function<void()> notify;
  {
    const MutexLock lock(mutex_);
    notify = notify_;
  }
  notify();
}

void FakeRequestHandler::open_gate() {
  const MutexLock lock(mutex_);
  gate_is_open_ = true;
  gate_changed_.notify_all();
}

std::string FakeRequestHandler::last_peer() const {
  return last_peer_details().address;
}

Peer FakeRequestHandler::last_peer_details() const {
  const MutexLock lock(mutex_);
  return last_peer_;
}

ServerTest::ServerTest() {
  std::string pattern = testing::TempDir() + "gridmount_wire_XXXXXX";
  folder_ = ::mkdtemp(pattern.data());
  options_.socket_folder = folder_;
  options_.listen = {"127.0.0.1:0"};
  options_.authentication = false;
  options_.limits.worker_threads = 8;
  spdlog::set_level(spdlog::level::off);
}

ServerTest::~ServerTest() {
  handler_.open_gate();
  server_.reset();
  std::filesystem::remove_all(folder_);
}

void ServerTest::start() {
  Result<std::unique_ptr<Server>> server = Server::start(handler_, options_);
  ASSERT_TRUE(server) << server.error().message();
  server_ = std::move(*server);
}

std::string ServerTest::tcp_address() const {
  return server_->addresses().back();
}

bool ServerTest::is_served() const {
  RawClient client = connect();
  const auto reply = client.ask(command("ping"));
  return reply && reply->ok() == 1;
}

}  // namespace gridmount::wire
