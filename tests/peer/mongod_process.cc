#include "tests/peer/mongod_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/mongo/connection.h"

namespace gridmount::peer {
namespace {

using std::chrono::steady_clock;

constexpr int kSkipped = 77;  // what CMakeLists.txt calls SKIP_RETURN_CODE
constexpr const char* kSetName = "r0";
constexpr std::chrono::seconds kStartMax{60};
constexpr std::chrono::milliseconds kPollInterval{20};
// Another program may take a port between its choice and its use.
constexpr int kPortsTriedMax = 5;
// What a server logs when it has the port.
constexpr const char* kListens = "Waiting for connections";
constexpr std::uintmax_t kMemoryBytesMin = 2ULL << 30U;

std::string mongod() {
  const char* const path = std::getenv("MONGOD");
  return path == nullptr ? std::string() : std::string(path);
}

tl::unexpected<Error> no_server(std::string why) {
  return fail(ErrorCode::kInternalError, "mongod " + std::move(why));
}

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class LoopbackSocket {
 public:
  LoopbackSocket() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~LoopbackSocket() { ::close(fd_); }
  LoopbackSocket(const LoopbackSocket&) = delete;
  LoopbackSocket& operator=(const LoopbackSocket&) = delete;

  // Returns 0 if no port is free.
  uint16_t free_port() {
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(fd_, any, length) != 0 || ::getsockname(fd_, any, &length) != 0) return 0;
    return ntohs(address.sin_port);
  }
  bool connects(uint16_t port) {
    const sockaddr_in address = loopback(port);
    return ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }

 private:
  const int fd_;
};

// Makes only calls that are safe between fork and exec.
[[noreturn]] void become(const char* const* arguments, const char* log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int out = ::open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  ::execv(arguments[0], const_cast<char* const*>(arguments));
  ::_exit(127);
}

// Returns a folder in memory if there is room. A server syncs its journal for each commit, and no
// test depends on the journal after a power loss.
std::filesystem::path place_for_folders() {
  const std::filesystem::path memory = "/dev/shm";
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(memory, error);
  if (!error && space.available >= kMemoryBytesMin && ::access(memory.c_str(), W_OK) == 0) {
    return memory;
  }
  return std::filesystem::temp_directory_path();
}

Result<bson::Document> command_to(const std::string& uri, bson::View command) {
  GM_ASSIGN(const std::unique_ptr<mongo::Pool> pool,
            mongo::Pool::open({.uri = uri, .application = "peer", .connections_max = 1}));
  GM_ASSIGN(const std::unique_ptr<mongo::Connection> connection, pool->connection());
  return connection->run_apart("admin", command);
}

bson::Document hello() {
  bson::Builder command;
  command.append("hello", int32_t{1});
  return std::move(command).finish();
}

}  // namespace

void require_mongod() {
  if (::access(mongod().c_str(), X_OK) == 0) return;
  std::cout << "skipped: mongod, which this test runs over, could not be had" << std::endl;
  std::exit(kSkipped);
}

MongodProcess::MongodProcess(MongodKind kind, std::filesystem::path folder,
                             std::vector<std::string> options)
    : kind_(kind), folder_(std::move(folder)), options_(std::move(options)) {}

MongodProcess::~MongodProcess() {
  end(SIGKILL);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Result<std::unique_ptr<MongodProcess>> MongodProcess::start(MongodKind kind,
                                                            std::vector<std::string> options) {
  std::string folder = (place_for_folders() / "mongod-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return no_server("has no folder: " + folder);
  std::unique_ptr<MongodProcess> server(new MongodProcess(kind, folder, std::move(options)));
  Status running = no_server("found no free port");
  for (int tried = 0; tried < kPortsTriedMax && !running; ++tried) {
    const uint16_t port = LoopbackSocket().free_port();
    if (port == 0) break;
    running = server->run(port);
    if (!running && server->log().find("Address already in use") == std::string::npos) break;
  }
  GM_TRY(running);
  if (kind == MongodKind::kReplicaSet) GM_TRY(server->initiate());
  GM_TRY(server->wait_until_it_is_writable());
  return server;
}

std::string MongodProcess::address() const {
  return "127.0.0.1:" + std::to_string(port_);
}

std::string MongodProcess::uri(std::string_view database, std::string_view options) const {
  std::string uri = "mongodb://" + address() + "/" + std::string(database);
  uri += kind_ == MongodKind::kReplicaSet ? "?replicaSet=" + std::string(kSetName)
                                          : std::string("?directConnection=true");
  if (!options.empty()) uri += "&" + std::string(options);
  return uri;
}

void MongodProcess::end(int signal) {
  if (pid_ <= 0) return;
  ::kill(pid_, signal);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Status MongodProcess::start_again() {
  GM_TRY(run(port_));
  return wait_until_it_is_writable();
}

std::string MongodProcess::log() const {
  std::ostringstream text;
  text << std::ifstream(folder_ / "log").rdbuf();
  return text.str();
}

Status MongodProcess::run(uint16_t port) {
  port_ = port;
  std::vector<std::string> words{mongod(),
                                 "--dbpath",
                                 folder_.string(),
                                 "--bind_ip",
                                 "127.0.0.1",
                                 "--port",
                                 std::to_string(port),
                                 "--nounixsocket",
                                 "--wiredTigerCacheSizeGB",
                                 "0.25",
                                 "--setParameter",
                                 "diagnosticDataCollectionEnabled=false"};
  if (kind_ == MongodKind::kReplicaSet) words.insert(words.end(), {"--replSet", kSetName});
  words.insert(words.end(), options_.begin(), options_.end());
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  arguments.push_back(nullptr);
  const std::string log = (folder_ / "log").string();
  std::ofstream(log, std::ios::trunc).close();  // of the process before
  pid_ = ::fork();
  if (pid_ == 0) become(arguments.data(), log.c_str());
  if (pid_ < 0) return no_server("cannot be started");
  return wait_until_it_listens();
}

Status MongodProcess::wait_until_it_listens() {
  const auto deadline = steady_clock::now() + kStartMax;
  while (steady_clock::now() < deadline) {
    // Another program may have taken the port and accept connections.
    const bool listens = log().find(kListens) != std::string::npos;
    if (listens && LoopbackSocket().connects(port_)) return {};
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return no_server("ended:\n" + log());
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return no_server("does not listen:\n" + log());
}

Status MongodProcess::initiate() {
  bson::Builder command;
  bson::Builder& set = command.open_document("replSetInitiate").append("_id", kSetName);
  bson::Builder& member = set.open_array("members").push_open_document();
  member.append("_id", int32_t{0}).append("host", address());
  member.close().close().close();
  GM_TRY(command_to("mongodb://" + address() + "/?directConnection=true",
                    std::move(command).finish()));
  return {};
}

Status MongodProcess::wait_until_it_is_writable() {
  const auto deadline = steady_clock::now() + kStartMax;
  while (steady_clock::now() < deadline) {
    GM_ASSIGN(const bson::Document reply,
              command_to("mongodb://" + address() + "/?directConnection=true", hello()));
    const auto writable = reply.find("isWritablePrimary");
    if (writable && writable->type() == bson::Type::kBool && writable->as_bool()) return {};
    std::this_thread::sleep_for(kPollInterval);
  }
  return no_server("does not take writes:\n" + log());
}

}  // namespace gridmount::peer
