// The MD5 digest of a file's content, computed by OpenSSL.
//
// Md5 is not thread-safe, but an object may move from thread to thread. available() is thread-safe.
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

  Md5();  // begins with no bytes; aborts if available() is false
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
