// SCRAM, the protocol with which MongoDB clients log in: the credentials that a server stores for a
// password, and the server's side of the exchange. It uses no clock and no store.
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

// "SCRAM-SHA-1", "SCRAM-SHA-256".
std::string_view mechanism_name(ScramMechanism mechanism);
std::optional<ScramMechanism> find_mechanism(std::string_view name);

// What the server stores. It is enough to verify a proof, but not to make one. Raw bytes, not
// base64.
struct ScramCredentials {
  int32_t iterations = 0;
  std::string salt;
  std::string stored_key;
  std::string server_key;
};

inline constexpr int32_t kSha1Iterations = 10'000;
inline constexpr int32_t kSha256Iterations = 15'000;
inline constexpr int32_t kIterationsMin = 5'000;

// Makes credentials with a new random salt. Takes milliseconds. Fails with BadValue for a password
// that is empty or that SASLprep refuses.
Result<ScramCredentials> make_credentials(ScramMechanism mechanism, std::string_view user,
                                          std::string_view password);
// Makes SCRAM-SHA-1 credentials from a digest that the client has made ("digestPassword: false").
Result<ScramCredentials> credentials_of_digest(std::string_view digest);

// Returns {iterationCount, salt, storedKey, serverKey} with base64 values, as servers store it in
// system.users.
bson::Document to_bson(const ScramCredentials& credentials);
// Returns nothing if the document has any other form.
std::optional<ScramCredentials> credentials_from_bson(bson::View document);

// Returns credentials that no password matches, always the same for one user, mechanism and secret.
// As for an existing user, the salts of two mechanisms have nothing in common. The exchange with a
// user that does not exist then looks like one with an existing user.
ScramCredentials decoy_credentials(ScramMechanism mechanism, std::string_view user,
                                   std::string_view secret);
// Returns the mechanisms to show for a user that does not exist. They vary with the name, as the
// mechanisms of existing users may vary.
std::vector<ScramMechanism> decoy_mechanisms(std::string_view user, std::string_view secret);

// The server's side of one exchange:
//   first(client-first) reads the user's name,
//   begin(credentials) returns server-first,
//   finish(client-final) returns server-final.
// Every failure is AuthenticationFailed (18). Its message is for the log, not for the client.
class ScramConversation {
 public:
  explicit ScramConversation(ScramMechanism mechanism) : mechanism_(mechanism) {}

  ScramMechanism mechanism() const { return mechanism_; }
  const std::string& user() const { return user_; }
  bool succeeded() const { return state_ == State::kSucceeded; }

  Status first(std::string_view message);
  // `nonce` is random base64 text made by the server.
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
