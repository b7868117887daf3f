// SCRAM, the way MongoDB's clients log in: what is kept of a password, and the server's side of the
// exchange. Pure: no clock, no store.
// Source: RFC 5802, RFC 7677; drivers' specification "Authentication", SCRAM-SHA-1 and -256 (the
// password that SCRAM-SHA-1 proves is the hexadecimal MD5 of "user:mongo:password").
//
// Thread-safety: values; a conversation belongs to one thread at a time.
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

// What the server keeps: enough to verify a proof, not to make one. Bytes, not base64.
struct ScramCredentials {
  int32_t iterations = 0;
  std::string salt;
  std::string stored_key;
  std::string server_key;
};

inline constexpr int32_t kSha1Iterations = 10'000;
inline constexpr int32_t kSha256Iterations = 15'000;
inline constexpr int32_t kIterationsMin = 5'000;

// With a new random salt. Costs milliseconds. BadValue for a password that SASLprep refuses or that
// is empty.
Result<ScramCredentials> make_credentials(ScramMechanism mechanism, std::string_view user,
                                          std::string_view password);
// The same for a digest the client made ("digestPassword: false"), which SCRAM-SHA-1 takes.
Result<ScramCredentials> credentials_of_digest(std::string_view digest);

// {iterationCount, salt, storedKey, serverKey} with base64, as servers keep it in system.users.
bson::Document to_bson(const ScramCredentials& credentials);
// Nothing if it is anything else.
std::optional<ScramCredentials> credentials_from_bson(bson::View document);

// Credentials that nobody has the password of, the same each time for one user and secret: whoever
// asks for a user that does not exist is answered as for one that does.
ScramCredentials decoy_credentials(ScramMechanism mechanism, std::string_view user,
                                   std::string_view secret);
// The mechanisms of such a user, as any that exists may have them.
std::vector<ScramMechanism> decoy_mechanisms(std::string_view user, std::string_view secret);

// One exchange:
//   first(client-first) -> who wants in; begin(credentials) -> server-first;
//   finish(client-final) -> server-final.
// Every failure is AuthenticationFailed (18); its message is for the log, not for the client.
class ScramConversation {
 public:
  explicit ScramConversation(ScramMechanism mechanism) : mechanism_(mechanism) {}

  ScramMechanism mechanism() const { return mechanism_; }
  const std::string& user() const { return user_; }
  bool succeeded() const { return state_ == State::kSucceeded; }

  Status first(std::string_view message);
  // `nonce` is random base64 text of the server's.
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

// 24 random bytes in base64.
Result<std::string> make_nonce();

}  // namespace gridmount::wire
