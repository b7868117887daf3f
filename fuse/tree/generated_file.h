// A file of the control directory whose content is not in any document. The object holds the whole
// text, which is made once.
//
// The kernel takes the size of a file from the first reply about the file's node, and reads from
// its cache (sendfile, splice, mappings) end at this size. So the text of a node never changes. A
// later lookup of the name gets another node with a new text, unless is_current() is true.
//
// Thread-safe.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace gridmount::fuse {

class GeneratedFile {
 public:
  explicit GeneratedFile(std::string text);

  const std::string& text() const { return text_; }
  timespec made_at() const { return made_at_; }
  // Returns the object's number. Each further GeneratedFile gets the next number.
  uint64_t serial() const { return serial_; }

  // Returns true if a lookup of the name should still get this object: it has not been opened yet,
  // and was made less than a second ago. So a program that first asks for the size and then opens,
  // as cp(1) does, gets one file. Every later open gets a new text.
  bool is_current() const;
  void record_open() { opened_ = true; }

 private:
  using Clock = std::chrono::steady_clock;

  const std::string text_;
  const timespec made_at_;
  const Clock::time_point begin_ = Clock::now();
  const uint64_t serial_;
  std::atomic<bool> opened_{false};
};

}  // namespace gridmount::fuse
