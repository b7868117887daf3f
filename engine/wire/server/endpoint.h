// A service and the server around it, as programs that own a store run them: on gridmount.sock in
// the store's folder always, on TCP where asked.
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

// What a user says of it, on the command line.
struct EndpointOptions {
  std::filesystem::path socket_folder;  // the store's
  std::vector<std::string> listen;      // HOST:PORT
  // Clients of TCP need not log in; then only loopback addresses are listened on.
  bool no_auth = false;
  std::filesystem::path tls_certificate_key_file;
  std::filesystem::path tls_ca_file;
  bool tls_allows_no_certificate = false;
  // What it may take of the process's memory; see ServerLimits and ServiceOptions.
  size_t request_bytes_max = size_t{128} << 20;
  size_t reply_bytes_max = size_t{128} << 20;
  uint64_t operation_bytes_max = kOperationBytesMax;
  uint64_t filter_bytes_max = uint64_t{400} << 20;
  size_t worker_threads = 64;
  std::vector<std::string> arguments;  // of the program, which getCmdLineOpts tells
};

// Thread-safe.
class Endpoint {
 public:
  // Answers from then on, or says why not: see Server::start(). `store` outlives it. Not to be
  // called before fork().
  static Result<std::unique_ptr<Endpoint>> start(engine::Store& store, EndpointOptions options);
  ~Endpoint();  // stop(), and waits for what stop() did not wait for
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Tells what runs to end and lets it be answered; returns within Server::kGrace and
  // Server::kGraceOfStuck. False if a command still runs: the process has to end then without
  // destroying this or the store, which its thread uses.
  bool stop();

  // Where it listens, the socket's file first.
  std::vector<std::string> addresses() const;

 private:
  Endpoint(std::unique_ptr<Service> service, std::unique_ptr<ServiceHandler> handler);

  std::unique_ptr<Service> service_;
  std::unique_ptr<ServiceHandler> handler_;
  std::unique_ptr<Server> server_;
};

}  // namespace gridmount::wire
