// TLS 1.2 and later on accepted sockets, with OpenSSL and the certificate files that mongod uses.
//
// Only tls.h and tls.cc of the wire server use OpenSSL's TLS.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/base/error.h"
#include "engine/wire/server/transport.h"

namespace gridmount::wire {

struct TlsFiles {
  // PEM file with the certificate, the intermediate certificates that clients may not know, and the
  // key.
  std::filesystem::path certificate_key_file;
  // PEM file with the authorities that may sign client certificates. A client without a valid
  // certificate is disconnected. Empty: clients are not asked for a certificate.
  std::filesystem::path ca_file;
  // With a CA file, a client may still omit its certificate.
  bool allows_no_certificate = false;
};

// Thread-safe.
class TlsContext {
 public:
  // The error names the file and the reason.
  static Result<TlsContext> load(const TlsFiles& files);
  TlsContext(TlsContext&&) noexcept;
  TlsContext& operator=(TlsContext&&) noexcept;
  ~TlsContext();

  // The context must outlive the transport.
  std::unique_ptr<Transport> make_transport(Socket socket);

 private:
  struct Context;
  explicit TlsContext(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;
};

}  // namespace gridmount::wire
