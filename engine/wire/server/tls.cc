#include "engine/wire/server/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <asio/ssl.hpp>
#include <string>
#include <utility>

namespace gridmount::wire {
namespace {

// A client can resume a TLS session only in a context with the same id.
constexpr unsigned char kSessionContext[] = "gridmount";

class TlsTransport final : public Transport {
 public:
  TlsTransport(Socket socket, asio::ssl::context& context)
      : Transport(socket.native_handle()), stream_(std::move(socket), context) {}

  void shake_hands(Done done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [done = std::move(done)](std::error_code error) { done(error, 0); });
  }

  void read_some(std::span<uint8_t> into, Done done) override {
    stream_.async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
  }

  void write_some(const Pieces& pieces, Done done) override {
    // Writes the first piece that is not empty. An empty piece would become an empty record.
    for (const auto piece : pieces) {
      if (piece.empty()) continue;
      stream_.async_write_some(asio::buffer(piece.data(), piece.size()), std::move(done));
      return;
    }
    asio::post(stream_.get_executor(), [done = std::move(done)] { done({}, 0); });
  }

  size_t read_now(std::span<uint8_t>) override { return 0; }
  size_t write_now(const Pieces&) override { return 0; }

  std::string certificate_subject() override {
    // The handshake has verified the certificate, and fails for an invalid one.
    X509* const certificate = SSL_get1_peer_certificate(stream_.native_handle());
    if (certificate == nullptr) return {};
    std::string subject;
    if (BIO* const text = BIO_new(BIO_s_mem()); text != nullptr) {
      X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
      const char* data = nullptr;
      const auto size = BIO_get_mem_data(text, &data);
      if (data != nullptr && size > 0) subject.assign(data, static_cast<size_t>(size));
      BIO_free(text);
    }
    X509_free(certificate);
    return subject;
  }

  bool is_tls() const override { return true; }

 private:
  asio::ssl::stream<Socket> stream_;
};

tl::unexpected<Error> refuse(const std::filesystem::path& file, const std::error_code& error) {
  return fail(ErrorCode::kInvalidOptions, "TLS: " + file.string() + ": " + error.message());
}

Status read_files(asio::ssl::context& context, const TlsFiles& files) {
  std::error_code error;
  const std::string certificate = files.certificate_key_file.string();
  if (context.use_certificate_chain_file(certificate, error); error) {
    return refuse(certificate, error);
  }
  if (context.use_private_key_file(certificate, asio::ssl::context::pem, error); error) {
    return refuse(certificate, error);
  }
  if (files.ca_file.empty()) return {};
  const std::string authorities = files.ca_file.string();
  if (context.load_verify_file(authorities, error); error) return refuse(authorities, error);
  const asio::ssl::verify_mode asks = asio::ssl::verify_peer;
  const asio::ssl::verify_mode demands = asks | asio::ssl::verify_fail_if_no_peer_cert;
  if (context.set_verify_mode(files.allows_no_certificate ? asks : demands, error); error) {
    return refuse(authorities, error);
  }
  SSL_CTX_set_client_CA_list(context.native_handle(), SSL_load_client_CA_file(authorities.c_str()));
  return {};
}

}  // namespace

struct TlsContext::Context {
  asio::ssl::context context{asio::ssl::context::tls_server};
};

TlsContext::TlsContext(std::unique_ptr<Context> context) : context_(std::move(context)) {}
TlsContext::TlsContext(TlsContext&&) noexcept = default;
TlsContext& TlsContext::operator=(TlsContext&&) noexcept = default;
TlsContext::~TlsContext() = default;

Result<TlsContext> TlsContext::load(const TlsFiles& files) {
  try {
    auto holder = std::make_unique<Context>();
    SSL_CTX* const native = holder->context.native_handle();
    SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
    SSL_CTX_set_options(
        native, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // Idle connections release their buffers, and the server keeps no sessions.
    SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_id_context(native, kSessionContext, sizeof kSessionContext - 1);
    GM_TRY(read_files(holder->context, files));
    return TlsContext(std::move(holder));
  } catch (const std::system_error& error) {
    return fail(ErrorCode::kInternalError, "TLS cannot be set up: " + std::string(error.what()));
  }
}

std::unique_ptr<Transport> TlsContext::make_transport(Socket socket) {
  return std::make_unique<TlsTransport>(std::move(socket), context_->context);
}

}  // namespace gridmount::wire
