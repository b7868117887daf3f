// A file or standard output that a command writes, compressed with gzip if requested.
//
// A file is an AtomicFile: finish() syncs it and makes it appear under its name. The new name
// survives a power failure only after sync_folder().
//
// Errors: OutOfDiskSpace, IoError and other errors of the operating system, and OperationFailed if
// zlib cannot begin. Messages name the file.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_line/atomic_file.h"
#include "engine/base/error.h"

struct z_stream_s;

namespace gridmount::tools {

class OutputFile {
 public:
  // The folder of `target` must exist.
  static Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& target, bool gzip);
  static Result<std::unique_ptr<OutputFile>> to_stdout(bool gzip);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Status write(std::span<const uint8_t> bytes);
  Status write(std::string_view text);
  // Completes the file. After finish() or after an error, no function may be called.
  Status finish();

 private:
  struct EndDeflate {
    void operator()(z_stream_s* stream) const;
  };

  OutputFile(AtomicFile file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  static Result<std::unique_ptr<OutputFile>> begin(AtomicFile file, std::string name, bool gzip);
  Status begin_gzip();
  Status deflate_bytes(std::span<const uint8_t> bytes, bool last);
  Status flush_buffer();

  AtomicFile file_;
  std::string name_;  // for messages
  std::unique_ptr<z_stream_s, EndDeflate> gzip_;
  std::vector<uint8_t> buffer_;  // bytes that the file gets next; compressed if `gzip_` is set
};

// Makes the names of the files in the folder durable.
Status sync_folder(const std::filesystem::path& folder);

}  // namespace gridmount::tools
