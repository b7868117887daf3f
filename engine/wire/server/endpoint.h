// A Service with its Server, for programs that own a store. The server listens on gridmount.sock in
// the store's folder if the folder's file system supports sockets, and also on TCP if the user
// wants this.
//
// An Endpoint is thread-safe. EndpointOptions is a plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/limits.h"
#include "engine/store.h"

namespace gridmount::wire {

class Server;
class Service;
class ServiceHandler;

// The options of an endpoint, as a user writes them on the command line.
struct EndpointOptions {
  std::filesystem::path socket_folder;  // the folder of the store
  std::vector<std::string> listen;      // HOST:PORT
  // If true, clients over TCP need not log in, and only loopback addresses are allowed.
  bool no_auth = false;
  std::filesystem::path tls_certificate_key_file;
  std::filesystem::path tls_ca_file;
  bool tls_allows_no_certificate = false;
  // Limits for the memory and the workers of the endpoint: see ServerLimits and ServiceOptions.
  size_t request_bytes_max = size_t{128} << 20;
  size_t reply_bytes_max = size_t{128} << 20;
  uint64_t operation_bytes_max = kOperationBytesMax;
  uint64_t filter_bytes_max = uint64_t{400} << 20;
  size_t worker_threads = 64;
  std::vector<std::string> arguments;  // the program's arguments, for getCmdLineOpts
};

class Endpoint {
 public:
  // Starts to answer requests. Raises the process's soft limit of open files to its hard limit.
  // Fails as Server::start() does. `store` must outlive the endpoint. start() starts threads, so a
  // process that becomes a daemon must call it after fork().
  static Result<std::unique_ptr<Endpoint>> start(engine::Store& store, EndpointOptions options);
  ~Endpoint();  // calls stop(), and then waits for commands that are still running
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Interrupts running commands and sends their replies. Returns after Server::kGrace plus
  // Server::kGraceOfStuck at the latest. Returns false if a command is still running. Then the
  // process must end without destroying this object or the store, because the command's thread uses
  // them.
  bool stop();

  // Returns the addresses on which the server listens. If there is a socket file, it is the first.
  std::vector<std::string> addresses() const;

 private:
  Endpoint(std::unique_ptr<Service> service, std::unique_ptr<ServiceHandler> handler);

  std::unique_ptr<Service> service_;
  std::unique_ptr<ServiceHandler> handler_;
  std::unique_ptr<Server> server_;
};

}  // namespace gridmount::wire
