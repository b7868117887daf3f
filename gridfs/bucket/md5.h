// The MD5 digest of a file's content, over OpenSSL.
//
// Not thread-safe, but may move from thread to thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gridmount::gridfs {

class Md5 {
 public:
  // Returns false if OpenSSL refuses MD5 (FIPS). Files are then written without md5.
  static bool available();

  Md5();  // the digest of no bytes; asserts available()
  ~Md5();
  Md5(Md5&&) noexcept;
  Md5& operator=(Md5&&) noexcept;

  void update(std::span<const uint8_t> data);
  // Returns the digest of all bytes so far as 32 hexadecimal digits. More bytes may follow.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gridmount::gridfs
