// A file or standard output that a dump writes, compressed with gzip if requested.
//
// Until finish() a file has a temporary name beside its own. finish() syncs and renames it, so a
// file under its own name is always complete. Without finish() the file is removed. The new name
// survives a power failure only after the folder has been synced too.
//
// Errors: OutOfDiskSpace, IoError and other errors of the operating system. Messages name the file.
//
// Not thread-safe.
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

class OutputFile {
 public:
  // The folder of the target must exist.
  static Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& target, bool gzip);
  static Result<std::unique_ptr<OutputFile>> to_stdout(bool gzip);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Status write(std::span<const uint8_t> bytes);
  Status write(std::string_view text);
  // Completes the file. Nothing may be written after it or after an error.
  Status finish();

 private:
  struct EndDeflate {
    void operator()(z_stream_s* stream) const;
  };

  OutputFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  Status begin_gzip();
  Status deflate_bytes(std::span<const uint8_t> bytes, bool last);
  Status flush_buffer();
  tl::unexpected<Error> failure(int error_number) const;

  int fd_;
  std::string name_;                 // for messages
  std::filesystem::path target_;     // both paths empty: standard output
  std::filesystem::path temporary_;  // until it is renamed
  std::unique_ptr<z_stream_s, EndDeflate> gzip_;
  std::vector<uint8_t> buffer_;  // compressed bytes for the file
};

Status sync_folder(const std::filesystem::path& folder);

}  // namespace gridmount::tools
