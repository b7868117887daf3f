// The local side of put and get.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::tools {

// A file (or stdin, for "-") being read for put. Move-only.
class LocalInput {
 public:
  static Result<LocalInput> open(const std::string& name);
  LocalInput(LocalInput&& other) noexcept;
  LocalInput& operator=(LocalInput&&) = delete;
  ~LocalInput();

  // Returns the next bytes, which are valid until the next call. Returns no bytes at the end. Fails
  // with kInterrupted after a signal.
  Result<std::span<const uint8_t>> read();

 private:
  LocalInput(std::string name, int fd, bool owned);

  std::string name_;
  int fd_;
  bool owned_;
  std::vector<uint8_t> buffer_;
};

// Where the name of a file that get writes comes from.
enum class LocalName {
  kOfOption,    // --local: "-" is stdout
  kOfArgument,  // somebody has typed it; "-" is a file too
  // Whoever put the file into the bucket has chosen it. So symbolic links are not followed, and the
  // name cannot lead out of the current folder.
  kOfBucket,
};

// A file (or stdout) being written by get. A regular file is written under a temporary name beside
// its own, and gets its name only when it is complete. If there is something other than a regular
// file at the name (a device, a pipe), that is written directly. Move-only. Without commit(), the
// temporary file is removed.
class LocalOutput {
 public:
  // Without `overwrite`, an existing file is an error, even if it appears only before commit().
  // With `overwrite`, a symbolic link is followed (but see LocalName), and the existing file's
  // permissions are kept.
  static Result<LocalOutput> create(const std::string& name, LocalName kind, bool overwrite);
  LocalOutput(LocalOutput&& other) noexcept;
  LocalOutput& operator=(LocalOutput&&) = delete;
  ~LocalOutput();

  Status write(std::span<const uint8_t> data);
  Status commit();

 private:
  LocalOutput(std::string name, int fd, bool owned);
  static Result<LocalOutput> create_at(const std::string& name, std::string target, bool overwrite,
                                       bool follows_links);
  Status take_name();

  std::string name_;       // as passed to create(), for messages
  std::string target_;     // the path of the complete file
  std::string temporary_;  // empty if written directly
  int fd_;
  int folder_ = -1;  // target_ is in it by /proc/self/fd; -1 if it is not
  bool owned_;
  bool overwrite_ = false;
};

}  // namespace gridmount::tools
