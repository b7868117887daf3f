#include "engine/wire/auth/scram.h"

#include <utility>

#include "engine/bson/builder.h"
#include "engine/wire/auth/digest.h"
#include "engine/wire/auth/password_preparation.h"

namespace gridmount::wire {
namespace {

constexpr size_t kNonceBytes = 24;
constexpr size_t kUserBytesMax = 1024;
constexpr size_t kNonceCharactersMax = 1024;

DigestAlgorithm algorithm_of(ScramMechanism mechanism) {
  return mechanism == ScramMechanism::kSha1 ? DigestAlgorithm::kSha1 : DigestAlgorithm::kSha256;
}

// Returns the length of the digest minus 4 bytes, as on servers. PBKDF2 appends a block counter of
// 4 bytes to the salt.
size_t salt_bytes(ScramMechanism mechanism) {
  return mechanism == ScramMechanism::kSha1 ? 16 : 28;
}

size_t digest_bytes(ScramMechanism mechanism) {
  return mechanism == ScramMechanism::kSha1 ? 20 : 32;
}

Result<ScramCredentials> derive(ScramMechanism mechanism, std::string_view password) {
  const DigestAlgorithm algorithm = algorithm_of(mechanism);
  ScramCredentials made;
  made.iterations = mechanism == ScramMechanism::kSha1 ? kSha1Iterations : kSha256Iterations;
  GM_ASSIGN(made.salt, random_bytes(salt_bytes(mechanism)));
  GM_ASSIGN(const std::string salted, derive_key(algorithm, password, made.salt, made.iterations));
  GM_ASSIGN(const std::string client_key, keyed_digest(algorithm, salted, "Client Key"));
  GM_ASSIGN(made.stored_key, digest(algorithm, client_key));
  GM_ASSIGN(made.server_key, keyed_digest(algorithm, salted, "Server Key"));
  return made;
}

// One "x=value" of a message's comma-separated attributes.
struct Attribute {
  char name = 0;
  std::string_view value;
};

std::optional<std::vector<Attribute>> attributes_of(std::string_view message) {
  std::vector<Attribute> attributes;
  while (true) {
    const size_t comma = message.find(',');
    const std::string_view part = message.substr(0, comma);
    if (part.size() < 2 || part[1] != '=') return std::nullopt;
    attributes.push_back({part[0], part.substr(2)});
    if (comma == std::string_view::npos) return attributes;
    message.remove_prefix(comma + 1);
  }
}

// Decodes a name in which ',' is written as "=2C" and '=' as "=3D". Returns nothing for any other
// '='.
std::optional<std::string> unescaped(std::string_view name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '=') {
      result += name[i];
      continue;
    }
    const std::string_view code = name.substr(i, 3);
    if (code == "=2C") {
      result += ',';
    } else if (code == "=3D") {
      result += '=';
    } else {
      return std::nullopt;
    }
    i += 2;
  }
  return result;
}

std::string exclusive_or(std::string a, std::string_view b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<char>(a[i] ^ b[i]);
  return a;
}

tl::unexpected<Error> malformed(const char* which) {
  return fail(ErrorCode::kAuthenticationFailed, std::string("malformed SCRAM message: ") + which);
}

}  // namespace

std::string_view mechanism_name(ScramMechanism mechanism) {
  return mechanism == ScramMechanism::kSha1 ? "SCRAM-SHA-1" : "SCRAM-SHA-256";
}

std::optional<ScramMechanism> find_mechanism(std::string_view name) {
  for (const ScramMechanism mechanism : {ScramMechanism::kSha1, ScramMechanism::kSha256}) {
    if (name == mechanism_name(mechanism)) return mechanism;
  }
  return std::nullopt;
}

Result<ScramCredentials> make_credentials(ScramMechanism mechanism, std::string_view user,
                                          std::string_view password) {
  if (password.empty()) return fail(ErrorCode::kBadValue, "Password cannot be empty");
  if (mechanism == ScramMechanism::kSha1) {
    GM_ASSIGN(const std::string digest,
              md5_hex(std::string(user) + ":mongo:" + std::string(password)));
    return credentials_of_digest(digest);
  }
  GM_ASSIGN(const std::string prepared, prepare_password(password));
  return derive(mechanism, prepared);
}

Result<ScramCredentials> credentials_of_digest(std::string_view digest) {
  return derive(ScramMechanism::kSha1, digest);
}

bson::Document to_bson(const ScramCredentials& credentials) {
  bson::Builder builder;
  builder.append("iterationCount", credentials.iterations);
  builder.append("salt", to_base64(credentials.salt));
  builder.append("storedKey", to_base64(credentials.stored_key));
  builder.append("serverKey", to_base64(credentials.server_key));
  return std::move(builder).finish();
}

std::optional<ScramCredentials> credentials_from_bson(bson::View document) {
  const auto bytes = [&](std::string_view name) -> std::optional<std::string> {
    const std::optional<bson::ValueView> value = document.find(name);
    if (!value || value->type() != bson::Type::kString) return std::nullopt;
    return from_canonical_base64(value->as_string());
  };
  const std::optional<bson::ValueView> iterations = document.find("iterationCount");
  const int64_t count = iterations ? iterations->integral().value_or(0) : 0;
  const std::optional<std::string> salt = bytes("salt");
  const std::optional<std::string> stored = bytes("storedKey");
  const std::optional<std::string> server = bytes("serverKey");
  constexpr int64_t kIterationsMax = 100'000'000;
  if (count < 1 || count > kIterationsMax || !salt || !stored || !server) {
    return std::nullopt;
  }
  return ScramCredentials{static_cast<int32_t>(count), *salt, *stored, *server};
}

ScramCredentials decoy_credentials(ScramMechanism mechanism, std::string_view user,
                                   std::string_view secret) {
  const Result<std::string> seed =
      keyed_digest(DigestAlgorithm::kSha256, secret,
                   std::string(user) + '\0' + std::string(mechanism_name(mechanism)));
  ScramCredentials decoy;
  decoy.iterations = mechanism == ScramMechanism::kSha1 ? kSha1Iterations : kSha256Iterations;
  decoy.salt = seed.value_or(std::string(32, 'x')).substr(0, salt_bytes(mechanism));
  return decoy;  // its keys are empty, so no proof matches
}

std::vector<ScramMechanism> decoy_mechanisms(std::string_view user, std::string_view secret) {
  const Result<std::string> seed =
      keyed_digest(DigestAlgorithm::kSha256, secret, std::string(user) + '\0' + "mechanisms");
  switch (static_cast<uint8_t>(seed.value_or("x").front()) % 3) {
    case 0:
      return {ScramMechanism::kSha1};
    case 1:
      return {ScramMechanism::kSha256};
    default:
      return {ScramMechanism::kSha1, ScramMechanism::kSha256};
  }
}

Status ScramConversation::first(std::string_view message) {
  if (state_ != State::kNew) return malformed("an exchange has already been started");
  state_ = State::kFailed;
  // The GS2 header must be "n,," or "y,,": no channel binding and no authorization identity.
  if (message.size() < 3 || (message[0] != 'n' && message[0] != 'y') || message[1] != ',') {
    return malformed("channel binding is not supported");
  }
  const size_t comma = message.find(',', 2);
  if (comma != 2) return malformed("an authorization identity is not supported");
  gs2_header_ = message.substr(0, 3);
  client_first_bare_ = message.substr(3);
  const std::optional<std::vector<Attribute>> attributes = attributes_of(client_first_bare_);
  if (!attributes || attributes->size() < 2 || (*attributes)[0].name != 'n' ||
      (*attributes)[1].name != 'r') {
    return malformed("the client's first message");
  }
  const std::optional<std::string> user = unescaped((*attributes)[0].value);
  client_nonce_ = (*attributes)[1].value;
  if (!user || user->empty() || user->size() > kUserBytesMax || client_nonce_.empty() ||
      client_nonce_.size() > kNonceCharactersMax) {
    return malformed("the client's first message");
  }
  user_ = *user;
  state_ = State::kNamed;
  return {};
}

Result<std::string> ScramConversation::begin(ScramCredentials credentials, std::string_view nonce) {
  if (state_ != State::kNamed) return malformed("the client has not named a user yet");
  credentials_ = std::move(credentials);
  server_first_ = "r=" + client_nonce_ + std::string(nonce) + ",s=" + to_base64(credentials_.salt) +
                  ",i=" + std::to_string(credentials_.iterations);
  client_nonce_ += nonce;
  state_ = State::kChallenged;
  return server_first_;
}

Result<std::string> ScramConversation::finish(std::string_view message) {
  if (state_ != State::kChallenged) return malformed("there is no exchange to finish");
  state_ = State::kFailed;
  const size_t at = message.rfind(",p=");
  const std::optional<std::vector<Attribute>> attributes = attributes_of(message);
  if (!attributes || at == std::string_view::npos || attributes->size() < 3 ||
      (*attributes)[0].name != 'c' || (*attributes)[1].name != 'r' ||
      attributes->back().name != 'p') {
    return malformed("the client's last message");
  }
  if (from_canonical_base64((*attributes)[0].value) != gs2_header_)
    return malformed("the channel binding");
  if ((*attributes)[1].value != client_nonce_) return malformed("the nonce");
  const std::optional<std::string> proof = from_canonical_base64(attributes->back().value);
  if (!proof || proof->size() != digest_bytes(mechanism_)) return malformed("the proof");

  const DigestAlgorithm algorithm = algorithm_of(mechanism_);
  const std::string exchange =
      client_first_bare_ + "," + server_first_ + "," + std::string(message.substr(0, at));
  GM_ASSIGN(const std::string signature,
            keyed_digest(algorithm, credentials_.stored_key, exchange));
  GM_ASSIGN(const std::string key, digest(algorithm, exclusive_or(*proof, signature)));
  if (!equal_in_constant_time(key, credentials_.stored_key)) {
    return fail(ErrorCode::kAuthenticationFailed,
                "the password is wrong or the user does not exist");
  }
  GM_ASSIGN(const std::string server_signature,
            keyed_digest(algorithm, credentials_.server_key, exchange));
  state_ = State::kSucceeded;
  return "v=" + to_base64(server_signature);
}

Result<std::string> make_nonce() {
  GM_ASSIGN(const std::string bytes, random_bytes(kNonceBytes));
  return to_base64(bytes);
}

}  // namespace gridmount::wire
