#include "command_line/endpoint_options.h"

#include <CLI/CLI.hpp>

namespace gridmount::command_line {

void add_endpoint_options(CLI::App& app, wire::EndpointOptions& options) {
  app.add_option(
         "--listen", options.listen,
         "address of TCP to answer MongoDB's wire protocol on, beside gridmount.sock in the "
         "store's folder; may be given several times")
      ->type_name("HOST:PORT")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--no-auth", options.no_auth,
               "let clients of TCP in without a log-in; only for loopback addresses");
  app.add_option("--tls-certificate-key-file", options.tls_certificate_key_file,
                 "PEM file with the server's certificate and key: TLS on TCP")
      ->type_name("FILE");
  app.add_option(
         "--tls-ca-file", options.tls_ca_file,
         "PEM file with the authorities of clients' certificates; every client of TCP must show "
         "a certificate that one of them signed")
      ->type_name("FILE");
  app.add_flag("--tls-allow-connections-without-certificates", options.tls_allows_no_certificate,
               "with --tls-ca-file, let in clients that show no certificate");
}

void set_memory_shares(wire::EndpointOptions& options, const system::MemoryShares& memory) {
  options.request_bytes_max = memory.request_bytes;
  options.reply_bytes_max = memory.reply_bytes;
  options.operation_bytes_max = memory.operation_bytes;
  options.filter_bytes_max = memory.filter_bytes;
  options.worker_threads = memory.worker_threads;
}

}  // namespace gridmount::command_line
