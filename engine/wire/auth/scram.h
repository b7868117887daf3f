// SCRAM, the protocol with which MongoDB clients log in. This file makes the credentials that a
// server stores for a password, and has the server's side of the exchange. It uses no clock and no
// store.
// Source: RFC 5802, RFC 7677; drivers' specification "Authentication", SCRAM-SHA-1 and -256. The
// password that SCRAM-SHA-1 proves is the hexadecimal MD5 of "user:mongo:password".
//
// The functions are thread-safe. A ScramConversation is not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::wire {

enum class ScramMechanism { kSha1, kSha256 };

// Returns "SCRAM-SHA-1" or "SCRAM-SHA-256". find_mechanism() does the reverse, and returns nothing
// for any other name.
std::string_view mechanism_name(ScramMechanism mechanism);
std::optional<ScramMechanism> find_mechanism(std::string_view name);

// The data that the server stores. With them it can verify a proof, but nobody can make a proof
// from them. The strings are raw bytes, not base64.
struct ScramCredentials {
  int32_t iterations = 0;
  std::string salt;
  std::string stored_key;
  std::string server_key;
};

inline constexpr int32_t kSha1Iterations = 10'000;
inline constexpr int32_t kSha256Iterations = 15'000;
inline constexpr int32_t kIterationsMin = 5'000;

// Makes credentials with a new random salt. This takes milliseconds. Fails with BadValue for an
// empty password, and with InternalError if OpenSSL refuses. SCRAM-SHA-256 prepares the password,
// so it also fails as prepare_password() does.
Result<ScramCredentials> make_credentials(ScramMechanism mechanism, std::string_view user,
                                          std::string_view password);
// Makes SCRAM-SHA-1 credentials from a digest that the client has made ("digestPassword: false").
Result<ScramCredentials> credentials_of_digest(std::string_view digest);

// Returns {iterationCount, salt, storedKey, serverKey} with base64 values, as servers store them in
// system.users.
bson::Document to_bson(const ScramCredentials& credentials);
// Reads a document of this form. Returns nothing for any other document, and for an iterationCount
// outside 1 to 100,000,000.
std::optional<ScramCredentials> credentials_from_bson(bson::View document);

// Returns credentials that no password matches. They depend only on the mechanism, the user and the
// secret, and the salts of the two mechanisms seem unrelated, as those of an existing user are. So
// the exchange for a user that does not exist looks like the exchange for an existing user.
ScramCredentials decoy_credentials(ScramMechanism mechanism, std::string_view user,
                                   std::string_view secret);
// Returns the mechanisms to show for a user that does not exist. They depend on the name, because
// existing users too may have different mechanisms.
std::vector<ScramMechanism> decoy_mechanisms(std::string_view user, std::string_view secret);

// The server's side of one exchange: first(client-first) reads the user's name, begin(credentials)
//   returns server-first, finish(client-final) returns server-final. Every error in the messages is
//   AuthenticationFailed (18), also a call in the wrong order. Its message is for the program's
//   log, not for the client.
class ScramConversation {
 public:
  explicit ScramConversation(ScramMechanism mechanism) : mechanism_(mechanism) {}

  ScramMechanism mechanism() const { return mechanism_; }
  const std::string& user() const { return user_; }
  bool succeeded() const { return state_ == State::kSucceeded; }

  Status first(std::string_view message);
  // `nonce` is a random text that the server has made (make_nonce()).
  Result<std::string> begin(ScramCredentials credentials, std::string_view nonce);
  Result<std::string> finish(std::string_view message);

 private:
  enum class State { kNew, kNamed, kChallenged, kSucceeded, kFailed };

  ScramMechanism mechanism_;
  State state_ = State::kNew;
  std::string user_;
  std::string client_nonce_;
  std::string client_first_bare_;
  std::string server_first_;
  std::string gs2_header_;
  ScramCredentials credentials_;
};

// Returns 24 random bytes in base64.
Result<std::string> make_nonce();

}  // namespace gridmount::wire
