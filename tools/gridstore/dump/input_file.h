// A file, standard input or bytes in memory that a command reads. Decompresses gzip if requested.
//
// Errors: those of the operating system, FailedToParse for damaged compressed data, and
// OperationFailed if zlib cannot begin. Messages name the file.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "command_line/progress.h"
#include "engine/base/error.h"

struct z_stream_s;

namespace gridmount::tools {

// Returns the size of the file in bytes, or 0 if the size is not known, for example of a pipe. The
// result is the number of bytes for Progress::expect().
uint64_t known_file_size(const std::filesystem::path& path);

class InputFile {
 public:
  static Result<std::unique_ptr<InputFile>> open(const std::filesystem::path& path, bool gzip);
  static Result<std::unique_ptr<InputFile>> from_stdin(bool gzip);
  // Reads from memory instead of a file. Copies the bytes.
  static Result<std::unique_ptr<InputFile>> of_bytes(std::span<const uint8_t> bytes, bool gzip);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // From now on, counts the bytes that are read from the file, before decompression, on the
  // progress line. `progress` must outlive this object.
  void show(Progress& progress) { progress_ = &progress; }

  // Fills `into` and returns the number of bytes. The number is smaller than the size of `into`
  // only at the end of the file.
  Result<size_t> read(std::span<uint8_t> into);
  // Returns the number of bytes read so far, after decompression.
  uint64_t offset() const { return offset_; }
  // Returns the name for messages: the path in quotes, "standard input", or "the input" for bytes
  // in memory.
  const std::string& name() const { return name_; }
  // Returns FailedToParse with the message "<name>, byte <offset>: <what>".
  tl::unexpected<Error> damage(uint64_t offset, const std::string& what) const;

 private:
  struct EndInflate {
    void operator()(z_stream_s* stream) const;
  };

  InputFile(int fd, std::string name);
  Status begin_gzip();
  // Replaces the contents of the buffer by the next bytes of the file. All bytes of the buffer must
  // have been used. At the end of the file, the buffer becomes empty.
  Status fill_buffer();
  Result<size_t> inflate_into(std::span<uint8_t> into);

  int fd_;
  std::string name_;
  Progress* progress_ = nullptr;
  uint64_t offset_ = 0;
  std::vector<uint8_t> buffer_;  // bytes of the file that have been read
  size_t used_ = 0;              // number of buffer bytes already used
  bool at_end_ = false;
  std::unique_ptr<z_stream_s, EndInflate> gzip_;
  bool between_members_ = false;  // between two members of a gzip file, which may end here
};

}  // namespace gridmount::tools
