#include "engine/local/format/index_key_encoding.h"

#include <openssl/evp.h>

#include "engine/bson/key_string_bytes.h"

namespace gridmount::local {

using bson::kNull;
using bson::kUndefined;

void append_encoded_missing(std::string& out, bool descending) {
  out.push_back(static_cast<char>(descending ? ~kNull : kNull));
}

void append_encoded_empty_array(std::string& out, bool descending) {
  out.push_back(static_cast<char>(descending ? ~kUndefined : kUndefined));
}

bool truncate_encoding(std::string& key, size_t start) {
  if (key.size() - start <= kEncodedBytesMax) return false;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_size = 0;
  EVP_Digest(key.data() + start, key.size() - start, digest, &digest_size, EVP_sha256(), nullptr);
  key.resize(start + kEncodedBytesMax);
  key.push_back(kTruncatedMark);
  key.append(reinterpret_cast<const char*>(digest), 16);
  return true;
}

int64_t hash_of_encoded(std::string_view encoded) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int digest_size = 0;
  EVP_Digest(encoded.data(), encoded.size(), digest, &digest_size, EVP_sha256(), nullptr);
  uint64_t hash = 0;
  for (int i = 0; i < 8; ++i) hash = hash << 8 | digest[i];
  return static_cast<int64_t>(hash);
}

}  // namespace gridmount::local
