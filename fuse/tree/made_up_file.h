// A file of the folder of views that no document has the content of: all that is in it, made once.
//
// The kernel takes the size of a file from the first answer about its node, and what it serves
// through its cache (sendfile, splice, mappings) ends there. So what is in such a node never
// changes: who looks the name up later gets another node, with what there is to tell by then.
//
// Thread-safety: thread-safe.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace gridmount::fuse {

class MadeUpFile {
 public:
  explicit MadeUpFile(std::string text);

  const std::string& text() const { return text_; }
  timespec made_at() const { return made_at_; }
  // One more than that of the file made before.
  uint64_t serial() const { return serial_; }

  // Whether who looks the name up now gets this one: not opened yet, and of this moment. So a
  // program that asks for the size first and opens then, as cp(1) does, meets one file, and each
  // that opens it anew is told what is new.
  bool is_current() const;
  void note_open() { opened_ = true; }

 private:
  using Clock = std::chrono::steady_clock;

  const std::string text_;
  const timespec made_at_;
  const Clock::time_point begin_ = Clock::now();
  const uint64_t serial_;
  std::atomic<bool> opened_{false};
};

}  // namespace gridmount::fuse
