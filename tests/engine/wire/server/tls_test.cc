// Goal: TLS: certificates of the server and of clients, protocol versions, and clients that send
// plain text or nothing instead of TLS.
// Method: certificates made here, and OpenSSL's client on a socket.
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "engine/wire/protocol/byte_reader.h"
#include "tests/engine/wire/server/server_fixture.h"

namespace gridmount::wire {
namespace {

using std::chrono::milliseconds;

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;

struct Identity {
  Key key;
  Certificate certificate;
};

// Makes an identity signed by `issuer`, or self-signed.
Identity make_identity(const char* name, const Identity* issuer) {
  Identity identity{Key(EVP_EC_gen("P-256")), Certificate(X509_new())};
  X509* const certificate = identity.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), issuer == nullptr ? 1 : 2);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, identity.key.get());
  X509_NAME* const subject = X509_get_subject_name(certificate);
  const auto add = [&](const char* field, const char* text) {
    X509_NAME_add_entry_by_txt(subject, field, MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(text), -1, -1, 0);
  };
  add("O", "gridmount");
  add("CN", name);
  const Identity& signer = issuer == nullptr ? identity : *issuer;
  X509_set_issuer_name(certificate, X509_get_subject_name(signer.certificate.get()));
  if (issuer == nullptr) {
    X509_EXTENSION* const extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(certificate, signer.key.get(), EVP_sha256());
  return identity;
}

void write_pem(const std::filesystem::path& path, const Identity& identity, bool with_key) {
  FILE* const file = std::fopen(path.c_str(), "w");
  PEM_write_X509(file, identity.certificate.get());
  if (with_key) {
    PEM_write_PrivateKey(file, identity.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }
  std::fclose(file);
}

class TlsTest : public ServerTest {
 protected:
  TlsTest() : authority_(make_identity("authority", nullptr)) {
    server_identity_ = make_identity("server", &authority_);
    write_pem(folder_ / "server.pem", server_identity_, true);
    write_pem(folder_ / "ca.pem", authority_, false);
    options_.tls_certificate_key_file = folder_ / "server.pem";
    options_.tls_ca_file = folder_ / "ca.pem";
    options_.tls_allows_no_certificate = true;
    options_.limits.handshake_timeout = milliseconds(500);
  }

  // Returns the reply to "ping" over TLS, or nothing if there is no connection.
  std::optional<ReadReply> ask(const Identity* client_identity, int version_max = TLS1_3_VERSION,
                               const bson::Document& request = command("ping")) {
    using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
    const Context context(SSL_CTX_new(TLS_client_method()));
    // Debian disables the old versions. Here the server must refuse them.
    SSL_CTX_set_security_level(context.get(), 0);
    SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context.get(), version_max);
    SSL_CTX_load_verify_locations(context.get(), (folder_ / "ca.pem").c_str(), nullptr);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    if (client_identity != nullptr) {
      SSL_CTX_use_certificate(context.get(), client_identity->certificate.get());
      SSL_CTX_use_PrivateKey(context.get(), client_identity->key.get());
    }
    const RawClient client = connect_tcp();
    const std::unique_ptr<SSL, Freed<SSL_free>> ssl(SSL_new(context.get()));
    SSL_set_fd(ssl.get(), client.fd());
    ERR_clear_error();
    if (SSL_connect(ssl.get()) != 1) return std::nullopt;
    const Bytes bytes = op_msg(request);
    if (SSL_write(ssl.get(), bytes.data(), static_cast<int>(bytes.size())) <= 0)
      return std::nullopt;
    Bytes reply(4);
    if (!read_all(ssl.get(), reply, 0)) return std::nullopt;
    reply.resize(load_32(reply.data()));
    if (!read_all(ssl.get(), reply, 4)) return std::nullopt;
    return read_reply(reply);
  }

  static bool read_all(SSL* ssl, Bytes& into, size_t from) {
    while (from < into.size()) {
      const int got = SSL_read(ssl, into.data() + from, static_cast<int>(into.size() - from));
      if (got <= 0) return false;
      from += static_cast<size_t>(got);
    }
    return true;
  }

  Identity authority_;
  Identity server_identity_;
};

TEST_F(TlsTest, Client_WithoutCertificate_IsRefused_WhereItIsNotAllowed) {
  options_.tls_allows_no_certificate = false;
  start();
  EXPECT_FALSE(ask(nullptr));
  EXPECT_FALSE(ask(nullptr, TLS1_2_VERSION));
  const Identity client = make_identity("me", &authority_);
  EXPECT_TRUE(ask(&client));
  EXPECT_TRUE(ask(&client, TLS1_2_VERSION));
  EXPECT_TRUE(is_served());
}

TEST_F(TlsTest, NoCertificateAllowed_WithoutAuthorities_IsRefused) {
  options_.tls_ca_file.clear();
  const auto server = Server::start(handler_, options_);
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().message().find("--tls-allow-connections-without-certificates"),
            std::string::npos);
}

TEST_F(TlsTest, Client_WithoutCertificate_IsServed_WhereItIsAllowed) {
  start();
  ASSERT_TRUE(ask(nullptr));
  EXPECT_TRUE(handler_.last_peer_details().is_tls);
  EXPECT_EQ(handler_.last_peer_details().certificate_subject, "");
  // The owner's socket does not need TLS.
  EXPECT_TRUE(is_served());
}

TEST_F(TlsTest, Client_WithCertificate_IsKnownByItsSubject) {
  start();
  const Identity client = make_identity("me", &authority_);
  ASSERT_TRUE(ask(&client));
  EXPECT_EQ(handler_.last_peer_details().certificate_subject, "CN=me,O=gridmount");
  ASSERT_TRUE(ask(&client, TLS1_2_VERSION));
}

TEST_F(TlsTest, Client_WithCertificateOfAnotherAuthority_IsRefused) {
  start();
  const Identity stranger = make_identity("stranger", nullptr);
  EXPECT_FALSE(ask(&stranger));
  EXPECT_TRUE(ask(nullptr));
}

TEST_F(TlsTest, OldVersions_AreRefused) {
  start();
  EXPECT_FALSE(ask(nullptr, TLS1_1_VERSION));
  EXPECT_TRUE(ask(nullptr, TLS1_2_VERSION));
}

TEST_F(TlsTest, LargeMessages_BothWays_Arrive) {
  start();
  const auto reply = ask(nullptr, TLS1_3_VERSION, command("echo", std::string(3'000'000, 'x')));
  ASSERT_TRUE(reply);
  EXPECT_EQ((*reply->document.find("echo")).as_string().size(), 3'000'000u);
}

TEST_F(TlsTest, PlainText_AndSilence_AreEnded) {
  start();
  RawClient plain = connect_tcp();
  ASSERT_TRUE(plain.send(op_msg(command("ping"))));
  EXPECT_TRUE(plain.is_closed_within(3000));
  RawClient silent = connect_tcp();
  EXPECT_TRUE(silent.is_closed_within(3000));
  EXPECT_TRUE(ask(nullptr));
}

TEST_F(TlsTest, Files_ThatCannotBeUsed_AreRefusedByName) {
  std::ofstream(folder_ / "nonsense.pem") << "nonsense";
  write_pem(folder_ / "keyless.pem", server_identity_, false);
  for (const char* name : {"missing.pem", "nonsense.pem", "keyless.pem"}) {
    options_.tls_certificate_key_file = folder_ / name;
    const auto server = Server::start(handler_, options_);
    ASSERT_FALSE(server) << name;
    EXPECT_NE(server.error().message().find(name), std::string::npos) << server.error().message();
  }
  options_.tls_certificate_key_file = folder_ / "server.pem";
  options_.tls_allows_no_certificate = false;
  options_.tls_ca_file = folder_ / "missing.pem";
  EXPECT_FALSE(Server::start(handler_, options_));
  options_.tls_ca_file = folder_ / "ca.pem";
  options_.tls_certificate_key_file.clear();
  EXPECT_FALSE(Server::start(handler_, options_));
}

TEST_F(TlsTest, AddressBeyondLoopback_WithLogIn_IsListenedOn) {
  options_.listen = {"0.0.0.0:0"};
  options_.authentication = true;
  start();
  const std::string address = tcp_address();
  RawClient client = RawClient::to_address("127.0.0.1" + address.substr(address.rfind(':')));
  EXPECT_TRUE(client.is_connected());
}

}  // namespace
}  // namespace gridmount::wire
