#include "command_line/endpoint_options.h"

#include <CLI/CLI.hpp>

namespace gridmount::command_line {

void add_endpoint_options(CLI::App& app, wire::EndpointOptions& options) {
  app.add_option("--listen", options.listen,
                 "TCP address for MongoDB's wire protocol, in addition to gridmount.sock in the "
                 "store's folder; may be given several times")
      ->type_name("HOST:PORT")
      ->take_all()
      ->allow_extra_args(false);
  app.add_flag("--no-auth", options.no_auth,
               "TCP clients need not authenticate; only for loopback addresses");
  app.add_option("--tls-certificate-key-file", options.tls_certificate_key_file,
                 "PEM file with the server's certificate and key: TLS on TCP")
      ->type_name("FILE");
  app.add_option("--tls-ca-file", options.tls_ca_file,
                 "PEM file with the certificate authorities for client certificates; every TCP "
                 "client must show a certificate that one of them signed")
      ->type_name("FILE");
  app.add_flag("--tls-allow-connections-without-certificates", options.tls_allows_no_certificate,
               "with --tls-ca-file, accept clients without a certificate");
}

void set_memory_shares(wire::EndpointOptions& options, const system::MemoryShares& memory) {
  options.request_bytes_max = memory.request_bytes;
  options.reply_bytes_max = memory.reply_bytes;
  options.operation_bytes_max = memory.operation_bytes;
  options.filter_bytes_max = memory.filter_bytes;
  options.worker_threads = memory.worker_threads;
}

}  // namespace gridmount::command_line
