// The local side of put and get.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/error.h"

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

// A file (or stdout, for "-") being written by get. A regular file appears under its name only once
// it is complete: it is written beside it under a temporary name. What stands there and is no
// regular file (a device, a pipe) is written directly. Move-only; without commit() nothing is left.
class LocalOutput {
 public:
  // Without `overwrite` an existing file is an error, also if it appears before commit(). With it a
  // symbolic link is followed and the existing file's permissions are kept.
  static Result<LocalOutput> create(const std::string& name, bool overwrite);
  LocalOutput(LocalOutput&& other) noexcept;
  LocalOutput& operator=(LocalOutput&&) = delete;
  ~LocalOutput();

  Status write(std::span<const uint8_t> data);
  Status commit();

 private:
  LocalOutput(std::string name, int fd, bool owned);
  Status take_name();

  std::string name_;       // as given, for messages
  std::string target_;     // where it will stand
  std::string temporary_;  // empty if written directly
  int fd_;
  bool owned_;
  bool overwrite_ = false;
};

}  // namespace gridmount::tools
