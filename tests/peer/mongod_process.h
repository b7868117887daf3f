// MongoDB's own server, for tests that run our code over it.
//
// CTest's fixture `peer` installs it into the build folder (tests/clients/install.sh), and the
// environment variable MONGOD is its path. A test program that needs it has the option PEER of
// gridmount_test(), and calls require_mongod() before anything else.
//
// Thread-safety: not thread-safe. The server dies with the thread that started it, so that no
// server remains if a test is killed. So it must be started on the main thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::peer {

// If there is no mongod, prints a line that says so and ends the program with status 77, which
// CTest counts as skipped.
void require_mongod();

enum class MongodKind {
  kStandalone,
  kReplicaSet,  // with one member, which is the primary when start() returns
};

// A server on a free port of 127.0.0.1, with an empty folder of its own.
class MongodProcess {
 public:
  // Starts a server. Returns when it accepts writes. Fails with InternalError if the server ends,
  // or is not ready in time. `options` are further options of mongod's command line.
  static Result<std::unique_ptr<MongodProcess>> start(MongodKind kind,
                                                      std::vector<std::string> options = {});
  // Kills the server and removes its folder.
  ~MongodProcess();
  MongodProcess(const MongodProcess&) = delete;
  MongodProcess& operator=(const MongodProcess&) = delete;

  // Returns the connection string "mongodb://127.0.0.1:PORT/DATABASE?...". `options` are further
  // options of the URI ("a=1&b=2").
  std::string uri(std::string_view database = "", std::string_view options = "") const;
  // Returns "127.0.0.1:PORT".
  std::string address() const;
  pid_t pid() const { return pid_; }

  // Sends the signal and waits for the server's end.
  void end(int signal);
  // Starts the server again after end(), on the same port and folder.
  Status start_again();

  // Returns what the server has logged since its last start.
  std::string log() const;

 private:
  MongodProcess(MongodKind kind, std::filesystem::path folder, std::vector<std::string> options);

  Status run(uint16_t port);
  // Fails at once if the process ends.
  Status wait_until_it_listens();
  Status initiate();
  Status wait_until_it_is_writable();

  const MongodKind kind_;
  const std::filesystem::path folder_;
  const std::vector<std::string> options_;
  uint16_t port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace gridmount::peer
