// TLS 1.2 and later for accepted sockets, with OpenSSL. The certificate files have mongod's form.
//
// No source of the wire server uses OpenSSL's TLS, except tls.cc and tls_sources.cc.
//
// A TlsContext is thread-safe. TlsFiles is a plain value.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/base/error.h"
#include "engine/wire/server/transport.h"

namespace gridmount::wire {

struct TlsFiles {
  // The PEM file with the key, the certificate, and the intermediate certificates that clients may
  // not have.
  std::filesystem::path certificate_key_file;
  // The PEM file with the authorities that may sign client certificates. A client without a valid
  // certificate is disconnected, unless allows_no_certificate permits it. Empty: the server
  // requests no certificates.
  std::filesystem::path ca_file;
  // If true, a client need not show a certificate, even if there is a CA file. A certificate that
  // it shows must be valid nevertheless.
  bool allows_no_certificate = false;
};

class TlsContext {
 public:
  // Loads the files. Fails with InvalidOptions if a file cannot be read or is not valid: the
  // message names the file and the reason. Fails with InternalError if OpenSSL cannot be set up.
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
