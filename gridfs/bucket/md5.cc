#include "gridfs/bucket/md5.h"

#include <openssl/evp.h>

#include <array>
#include <cassert>
#include <cstdlib>

#include "engine/base/hex.h"

namespace gridmount::gridfs {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

// Fetched once, because an implicit fetch costs more than the digest of a small file.
const EVP_MD* algorithm() {
  static const EVP_MD* const md5 = EVP_MD_fetch(nullptr, "MD5", nullptr);
  return md5;
}

// After a successful fetch, only a lack of memory can make these calls fail.
void require(bool done) {
  assert(done);
  if (!done) std::abort();
}

}  // namespace

struct Md5::State {
  Context context{EVP_MD_CTX_new()};
};

bool Md5::available() {
  static const bool can_start = [] {
    const Context context(EVP_MD_CTX_new());
    return algorithm() != nullptr && context &&
           EVP_DigestInit_ex(context.get(), algorithm(), nullptr) == 1;
  }();
  return can_start;
}

Md5::Md5() : state_(std::make_unique<State>()) {
  require(state_->context && EVP_DigestInit_ex(state_->context.get(), algorithm(), nullptr) == 1);
}

Md5::~Md5() = default;
Md5::Md5(Md5&&) noexcept = default;
Md5& Md5::operator=(Md5&&) noexcept = default;

void Md5::update(std::span<const uint8_t> data) {
  require(EVP_DigestUpdate(state_->context.get(), data.data(), data.size()) == 1);
}

std::string Md5::hex() const {
  const Context copy(EVP_MD_CTX_new());
  std::array<uint8_t, 16> digest{};
  require(copy && EVP_MD_CTX_copy_ex(copy.get(), state_->context.get()) == 1 &&
          EVP_DigestFinal_ex(copy.get(), digest.data(), nullptr) == 1);
  return to_hex(digest);
}

}  // namespace gridmount::gridfs
