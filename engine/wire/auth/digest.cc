#include "engine/wire/auth/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>

#include "engine/base/base64.h"
#include "engine/base/hex.h"

namespace gridmount::wire {
namespace {

const EVP_MD* message_digest(DigestAlgorithm algorithm) {
  return algorithm == DigestAlgorithm::kSha1 ? EVP_sha1() : EVP_sha256();
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

tl::unexpected<Error> refused(const char* what) {
  return fail(ErrorCode::kInternalError, std::string("OpenSSL refuses ") + what);
}

Result<std::string> digest_with(const EVP_MD* algorithm, std::string_view data, const char* name) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), bytes.data(), &size, algorithm, nullptr) != 1) {
    return refused(name);
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), size);
}

}  // namespace

Result<std::string> digest(DigestAlgorithm algorithm, std::string_view data) {
  return digest_with(message_digest(algorithm), data, "a digest");
}

Result<std::string> keyed_digest(DigestAlgorithm algorithm, std::string_view key,
                                 std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (HMAC(message_digest(algorithm), key.data(), static_cast<int>(key.size()), bytes_of(data),
           data.size(), bytes.data(), &size) == nullptr) {
    return refused("a keyed digest");
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), size);
}

Result<std::string> derive_key(DigestAlgorithm algorithm, std::string_view password,
                               std::string_view salt, int32_t iterations) {
  const EVP_MD* const hash = message_digest(algorithm);
  std::string key(static_cast<size_t>(EVP_MD_get_size(hash)), '\0');
  if (PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()), bytes_of(salt),
                        static_cast<int>(salt.size()), iterations, hash,
                        static_cast<int>(key.size()), bytes_of(key)) != 1) {
    return refused("to derive a key");
  }
  return key;
}

Result<std::string> md5_hex(std::string_view data) {
  GM_ASSIGN(const std::string bytes, digest_with(EVP_md5(), data, "MD5"));
  return to_hex(bytes);
}

Result<std::string> random_bytes(size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(bytes_of(bytes), static_cast<int>(count)) != 1) return refused("random bytes");
  return bytes;
}

Result<std::string> random_uuid() {
  GM_ASSIGN(std::string bytes, random_bytes(16));
  // Version 4, variant 1 of RFC 4122.
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  return bytes;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<std::string> from_canonical_base64(std::string_view text) {
  std::optional<std::string> bytes = from_base64(text);
  if (bytes && to_base64(*bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace gridmount::wire
