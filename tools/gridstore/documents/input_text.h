// Reads a file or standard input character by character and counts its lines. Skips a byte order
// mark at the beginning.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "tools/gridstore/dump/input_file.h"

namespace gridmount::tools {

class InputText {
 public:
  // `file` must outlive this object.
  explicit InputText(InputFile& file) : file_(file) {}

  // Returns true if there is a next character. Reads from the file if necessary, and fails as
  // InputFile::read() does. Each call of peek() or take() must follow a call of more() that has
  // returned true, without a call of take() in between.
  Result<bool> more() {
    if (at_ < used_) return true;
    return fill();
  }
  // peek() returns the next character. take() returns it too, and moves to the character after it.
  char peek() const { return buffer_[at_]; }
  char take() {
    const char c = buffer_[at_++];
    if (c == '\n') ++line_;
    return c;
  }

  // Returns the number of the line that the next character is in. The first line has number 1.
  uint64_t line() const { return line_; }
  // Returns a place for messages: "`file.json`, line 7".
  std::string place(uint64_t line) const { return file_.name() + ", line " + std::to_string(line); }

  // Skips the rest of the line, including its end. Fails as more() does.
  Status skip_line();

 private:
  Result<bool> fill();

  InputFile& file_;
  std::vector<char> buffer_;
  size_t used_ = 0;  // the number of bytes in buffer_
  size_t at_ = 0;
  uint64_t line_ = 1;
  bool begun_ = false;
};

}  // namespace gridmount::tools
