#include "engine/wire/session_pattern.h"

#include <algorithm>

#include "engine/wire/auth/digest.h"

namespace gridmount::wire {

Result<UserDigest> digest_of_user(std::string_view user) {
  GM_ASSIGN(const std::string bytes, digest(DigestAlgorithm::kSha256, user));
  UserDigest result{};
  std::copy_n(bytes.begin(), result.size(), result.begin());
  return result;
}

}  // namespace gridmount::wire
