// SCRAM, the protocol with which MongoDB clients log in. The functions make the credentials that a
// server stores for a password. ScramConversation is the server's side of the exchange. Nothing
// here uses a clock or a store.
// Source: RFC 5802, RFC 7677; drivers' specification "Authentication", SCRAM-SHA-1 and -256. In
// SCRAM-SHA-1, the hexadecimal MD5 of "user:mongo:password" takes the place of the password.
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

// The data that the server stores for a password. With this data the server can verify a proof, but
// nobody can compute a proof from it. The strings are raw bytes, not base64.
struct ScramCredentials {
  int32_t iterations = 0;
  std::string salt;
  std::string stored_key;
  std::string server_key;
};

inline constexpr int32_t kSha1Iterations = 10'000;
inline constexpr int32_t kSha256Iterations = 15'000;

// Makes credentials with a new random salt. This takes milliseconds. Fails with BadValue for an
// empty password, and with InternalError if OpenSSL refuses. For kSha256, also fails as
// prepare_password() does.
Result<ScramCredentials> make_credentials(ScramMechanism mechanism, std::string_view user,
                                          std::string_view password);
// Makes SCRAM-SHA-1 credentials from the hexadecimal MD5 of "user:mongo:password", which the client
// has computed ("digestPassword: false"). Fails with InternalError if OpenSSL refuses.
Result<ScramCredentials> credentials_of_digest(std::string_view digest);

// Returns {iterationCount, salt, storedKey, serverKey} with base64 values, as servers store them in
// system.users.
bson::Document to_bson(const ScramCredentials& credentials);
// Reads a document of this form. Returns nothing for any other document, and for an iterationCount
// outside 1 to 100,000,000.
std::optional<ScramCredentials> credentials_from_bson(bson::View document);

// Returns credentials for a user that does not exist. No password matches them. They depend only on
// the three arguments. The salts of a user's two mechanisms seem unrelated, like the salts of an
// existing user. So the exchange looks like the exchange for an existing user.
ScramCredentials decoy_credentials(ScramMechanism mechanism, std::string_view user,
                                   std::string_view secret);
// Returns the mechanisms that the server shows for a user that does not exist. They differ from
// user to user, because existing users may have different mechanisms, too.
std::vector<ScramMechanism> decoy_mechanisms(std::string_view user, std::string_view secret);

// The server's side of one exchange. The functions must be called in this order:
// - first() reads the message client-first, which has the user's name.
// - begin() returns the message server-first.
// - finish() reads the message client-final, verifies the proof in it, and returns the message
//   server-final.
// They fail with AuthenticationFailed (18) for a wrong message or a wrong proof, and if they are
// called in another order. The text of this error is for the program's log, not for the client.
// finish() also fails with InternalError if OpenSSL refuses.
class ScramConversation {
 public:
  explicit ScramConversation(ScramMechanism mechanism) : mechanism_(mechanism) {}

  ScramMechanism mechanism() const { return mechanism_; }
  const std::string& user() const { return user_; }
  bool succeeded() const { return state_ == State::kSucceeded; }

  Status first(std::string_view message);
  // `nonce` is the server's part of the nonce: a new result of make_nonce().
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

// Returns 24 random bytes in base64. Fails with InternalError if OpenSSL refuses.
Result<std::string> make_nonce();

}  // namespace gridmount::wire
