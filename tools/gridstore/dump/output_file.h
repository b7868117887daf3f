// A file that a dump writes, or standard output; compressed by gzip if asked for.
//
// A file has a temporary name beside its own until finish(), which syncs and renames it: what is
// there under its own name is complete. Without finish() it is removed. The new name survives a
// power loss once the folder has been synced as well.
//
// Errors: OutOfDiskSpace, IoError and what else the operating system says, naming the file.
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

class OutputFile {
 public:
  // The folder must exist.
  static Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& target, bool gzip);
  static Result<std::unique_ptr<OutputFile>> to_stdout(bool gzip);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Status write(std::span<const uint8_t> bytes);
  Status write(std::string_view text);
  // Nothing may be written afterwards, nor after an error.
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
  std::filesystem::path target_;     // both empty: standard output
  std::filesystem::path temporary_;  // until it is renamed
  std::unique_ptr<z_stream_s, EndDeflate> gzip_;
  std::vector<uint8_t> buffer_;  // what goes to the file, compressed
};

Status sync_folder(const std::filesystem::path& folder);

}  // namespace gridmount::tools
