// A file that a restore reads, or standard input; gzip's compression is undone if asked for.
//
// Errors name the file; damage of compressed data is FailedToParse.
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"

struct z_stream_s;

namespace gridmount::tools {

class InputFile {
 public:
  static Result<std::unique_ptr<InputFile>> open(const std::filesystem::path& path, bool gzip);
  static Result<std::unique_ptr<InputFile>> from_stdin(bool gzip);
  // Of bytes that are there already.
  static Result<std::unique_ptr<InputFile>> of_bytes(std::span<const uint8_t> bytes, bool gzip);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Fills `into`; returns how many bytes, which are fewer only at the end.
  Result<size_t> read(std::span<uint8_t> into);
  // How many bytes have been read, after decompression.
  uint64_t offset() const { return offset_; }
  // For messages: in quotes, or "standard input".
  const std::string& name() const { return name_; }
  // FailedToParse: "<name>, byte <offset>: <what>".
  tl::unexpected<Error> damage(uint64_t offset, const std::string& what) const;

 private:
  struct EndInflate {
    void operator()(z_stream_s* stream) const;
  };

  InputFile(int fd, std::string name);
  Status begin_gzip();
  // Into the buffer, which is empty before; it stays so at the end.
  Status fill_buffer();
  Result<size_t> inflate_into(std::span<uint8_t> into);

  int fd_;
  std::string name_;
  uint64_t offset_ = 0;
  std::vector<uint8_t> buffer_;  // what has been read of the file
  size_t used_ = 0;              // of the buffer
  bool at_end_ = false;
  std::unique_ptr<z_stream_s, EndInflate> gzip_;
  bool between_members_ = false;  // of a gzip file: it may end here
};

}  // namespace gridmount::tools
