// TLS on accepted sockets, by OpenSSL: version 1.2 and later, with the files that mongod takes.
//
// This pair of files is the only one of the wire server that sees OpenSSL.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/base/error.h"
#include "engine/wire/server/transport.h"

namespace gridmount::wire {

struct TlsFiles {
  // PEM: the certificate, what it was signed with as far as clients do not know it, and the key.
  std::filesystem::path certificate_key_file;
  // PEM: who may have signed the certificates of clients. One that does not verify, or none, ends
  // the connection. Empty: clients are not asked.
  std::filesystem::path ca_file;
  // A client may show none all the same.
  bool allows_no_certificate = false;
};

// Thread-safe.
class TlsContext {
 public:
  // Errors say which file is at fault and why.
  static Result<TlsContext> load(const TlsFiles& files);
  TlsContext(TlsContext&&) noexcept;
  TlsContext& operator=(TlsContext&&) noexcept;
  ~TlsContext();

  // The context outlives the transport.
  std::unique_ptr<Transport> make_transport(Socket socket);

 private:
  struct Context;
  explicit TlsContext(std::unique_ptr<Context> context);
  std::unique_ptr<Context> context_;
};

}  // namespace gridmount::wire
