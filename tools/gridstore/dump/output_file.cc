#include "tools/gridstore/dump/output_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <utility>

#include "engine/system/system_error.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

constexpr size_t kWriteBytes = 256 * 1024;
constexpr size_t kDeflatedBytes = 32 * 1024;  // taken from zlib at a time
constexpr int kGzipWindowBits = 15 + 16;      // 16 makes zlib write the gzip format
constexpr int kGzipMemoryLevel = 8;

AtomicFileOptions file_options(const std::string& name) {
  AtomicFileOptions options;
  options.sync = true;
  options.error = [name](AtomicFileStep step, int error_number) {
    const std::string what = step == AtomicFileStep::kOpen ? "creating the file " : "writing ";
    return system::system_error(error_number, what + name);
  };
  return options;
}

}  // namespace

void OutputFile::EndDeflate::operator()(z_stream_s* stream) const {
  deflateEnd(stream);
  delete stream;
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::filesystem::path& target,
                                                       bool gzip) {
  std::string name = in_quotes(target.string());
  GM_ASSIGN(AtomicFile file, AtomicFile::create(target, file_options(name)));
  return begin(std::move(file), std::move(name), gzip);
}

Result<std::unique_ptr<OutputFile>> OutputFile::to_stdout(bool gzip) {
  std::string name = "standard output";
  return begin(AtomicFile::to_stdout(file_options(name)), name, gzip);
}

Result<std::unique_ptr<OutputFile>> OutputFile::begin(AtomicFile file, std::string name,
                                                      bool gzip) {
  std::unique_ptr<OutputFile> output(new OutputFile(std::move(file), std::move(name)));
  if (gzip) GM_TRY(output->begin_gzip());
  return output;
}

Status OutputFile::begin_gzip() {
  auto* const stream = new z_stream_s{};
  if (deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kGzipMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    delete stream;
    return fail(ErrorCode::kOperationFailed, "zlib could not begin to compress " + name_);
  }
  gzip_.reset(stream);
  return {};
}

Status OutputFile::write(std::string_view text) {
  return write({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

Status OutputFile::write(std::span<const uint8_t> bytes) {
  if (gzip_) return deflate_bytes(bytes, false);
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return buffer_.size() < kWriteBytes ? Status() : flush_buffer();
}

Status OutputFile::deflate_bytes(std::span<const uint8_t> bytes, bool last) {
  // zlib does not write through next_in.
  gzip_->next_in = const_cast<uint8_t*>(bytes.data());
  gzip_->avail_in = static_cast<uInt>(bytes.size());
  int code = Z_OK;
  std::array<uint8_t, kDeflatedBytes> deflated{};
  do {
    gzip_->next_out = deflated.data();
    gzip_->avail_out = static_cast<uInt>(deflated.size());
    code = deflate(gzip_.get(), last ? Z_FINISH : Z_NO_FLUSH);
    const auto end = deflated.end() - static_cast<ptrdiff_t>(gzip_->avail_out);
    buffer_.insert(buffer_.end(), deflated.begin(), end);
    if (buffer_.size() >= kWriteBytes) GM_TRY(flush_buffer());
  } while (last ? code != Z_STREAM_END : gzip_->avail_in > 0);
  return {};
}

Status OutputFile::flush_buffer() {
  GM_TRY(file_.write(buffer_));
  buffer_.clear();
  return {};
}

Status OutputFile::finish() {
  if (gzip_) GM_TRY(deflate_bytes({}, true));
  GM_TRY(flush_buffer());
  return file_.commit();
}

Status sync_folder(const std::filesystem::path& folder) {
  const std::string name = folder.empty() ? "." : folder.string();
  const int fd = ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int error = fd < 0 ? errno : 0;
  if (fd >= 0 && ::fsync(fd) != 0) error = errno;
  if (fd >= 0) ::close(fd);
  // EINVAL: the file system does not support syncing a directory and does not need it.
  if (error == 0 || error == EINVAL) return {};
  return fail(system::system_error(error, "syncing the folder " + in_quotes(name)));
}

}  // namespace gridmount::tools
