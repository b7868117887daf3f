// The local side of put and get.
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

  // The next bytes, empty at the end; valid until the next call. kInterrupted if a signal came.
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
  kOfArgument,  // somebody has typed it: a file, also "-"
  // Whoever put the file into the bucket has chosen it: it leads through no symbolic link, and so
  // not out of the current folder.
  kOfBucket,
};

// A file (or stdout) being written by get. A regular file appears under its name only once
// it is complete: it is written beside it under a temporary name. What stands there and is no
// regular file (a device, a pipe) is written directly. Move-only; without commit() nothing is left.
class LocalOutput {
 public:
  // Without `overwrite` an existing file is an error, also if it appears before commit(). With it a
  // symbolic link is followed, but see LocalName, and the existing file's permissions are kept.
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

  std::string name_;       // as given, for messages
  std::string target_;     // where it will stand
  std::string temporary_;  // empty if written directly
  int fd_;
  int folder_ = -1;  // target_ is in it by /proc/self/fd; -1 if it is not
  bool owned_;
  bool overwrite_ = false;
};

}  // namespace gridmount::tools
