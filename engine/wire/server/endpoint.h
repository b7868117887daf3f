// A service and the server around it, as used by programs that own a store. It always listens on
// gridmount.sock in the store's folder, and on TCP if requested.
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
  // Clients over TCP need not log in. Then only loopback addresses are allowed.
  bool no_auth = false;
  std::filesystem::path tls_certificate_key_file;
  std::filesystem::path tls_ca_file;
  bool tls_allows_no_certificate = false;
  // Limits of the memory that the endpoint may use; see ServerLimits and ServiceOptions.
  size_t request_bytes_max = size_t{128} << 20;
  size_t reply_bytes_max = size_t{128} << 20;
  uint64_t operation_bytes_max = kOperationBytesMax;
  uint64_t filter_bytes_max = uint64_t{400} << 20;
  size_t worker_threads = 64;
  std::vector<std::string> arguments;  // the program's arguments, for getCmdLineOpts
};

// Thread-safe.
class Endpoint {
 public:
  // Starts to answer requests, or fails for the reasons of Server::start(). `store` must outlive
  // the endpoint. Must not be called before fork().
  static Result<std::unique_ptr<Endpoint>> start(engine::Store& store, EndpointOptions options);
  ~Endpoint();  // calls stop() and waits for commands that stop() did not wait for
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Interrupts running commands and sends their replies. Returns within Server::kGrace plus
  // Server::kGraceOfStuck. Returns false if a command is still running. The process must then end
  // without destroying this object or the store, because the command's thread uses them.
  bool stop();

  // Returns the addresses on which it listens. The socket file comes first.
  std::vector<std::string> addresses() const;

 private:
  Endpoint(std::unique_ptr<Service> service, std::unique_ptr<ServiceHandler> handler);

  std::unique_ptr<Service> service_;
  std::unique_ptr<ServiceHandler> handler_;
  std::unique_ptr<Server> server_;
};

}  // namespace gridmount::wire
