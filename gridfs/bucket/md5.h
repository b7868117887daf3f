// The MD5 digest of a file's content, over OpenSSL.
//
// Not thread-safe; may be handed from thread to thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gridmount::gridfs {

class Md5 {
 public:
  // False where OpenSSL is set up to refuse MD5 (FIPS): files are then written without it.
  static bool available();

  Md5();  // of nothing; asserts that MD5 is available
  ~Md5();
  Md5(Md5&&) noexcept;
  Md5& operator=(Md5&&) noexcept;

  void update(std::span<const uint8_t> data);
  // 32 hexadecimal digits of all that was given so far; more may follow.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::gridfs
