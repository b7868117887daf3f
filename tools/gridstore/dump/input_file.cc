#include "tools/gridstore/dump/input_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

#include "engine/system/system_error.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr int kGunzipWindowBits = 15 + 16;  // 16 makes zlib expect the gzip format
constexpr int kNoFile = -1;

}  // namespace

uint64_t known_file_size(const std::filesystem::path& path) {
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path, unknown);
  return unknown ? 0 : size;
}

InputFile::InputFile(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

void InputFile::EndInflate::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

Result<std::unique_ptr<InputFile>> InputFile::open(const std::filesystem::path& path, bool gzip) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(system::system_error(errno, "opening " + in_quotes(path.string())));
  std::unique_ptr<InputFile> file(new InputFile(fd, in_quotes(path.string())));
  if (gzip) GM_TRY(file->begin_gzip());
  return file;
}

Result<std::unique_ptr<InputFile>> InputFile::from_stdin(bool gzip) {
  std::unique_ptr<InputFile> file(new InputFile(STDIN_FILENO, "standard input"));
  if (gzip) GM_TRY(file->begin_gzip());
  return file;
}

Result<std::unique_ptr<InputFile>> InputFile::of_bytes(std::span<const uint8_t> bytes, bool gzip) {
  std::unique_ptr<InputFile> file(new InputFile(kNoFile, "the input"));
  file->buffer_.assign(bytes.begin(), bytes.end());
  if (gzip) GM_TRY(file->begin_gzip());
  return file;
}

InputFile::~InputFile() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
}

Status InputFile::begin_gzip() {
  auto* const stream = new z_stream_s{};
  if (inflateInit2(stream, kGunzipWindowBits) != Z_OK) {
    delete stream;
    return fail(ErrorCode::kOperationFailed, "zlib could not begin to decompress " + name_);
  }
  gzip_.reset(stream);
  return {};
}

Status InputFile::fill_buffer() {
  used_ = 0;
  if (fd_ == kNoFile) {
    buffer_.clear();
    at_end_ = true;
    return {};
  }
  buffer_.resize(kReadBytes);
  ssize_t count = 0;
  do {
    count = ::read(fd_, buffer_.data(), buffer_.size());
  } while (count < 0 && errno == EINTR);
  const int error = errno;
  buffer_.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0) return fail(system::system_error(error, "reading " + name_));
  at_end_ = count == 0;
  if (progress_ != nullptr) progress_->add(buffer_.size());
  return {};
}

Result<size_t> InputFile::read(std::span<uint8_t> into) {
  size_t done = 0;
  while (done < into.size()) {
    if (used_ == buffer_.size() && !at_end_) GM_TRY(fill_buffer());
    size_t count = 0;
    if (gzip_) {
      GM_ASSIGN(count, inflate_into(into.subspan(done)));
    } else {
      count = std::min(into.size() - done, buffer_.size() - used_);
      std::copy_n(buffer_.begin() + static_cast<ptrdiff_t>(used_), count, into.begin() + done);
      used_ += count;
    }
    done += count;
    offset_ += count;
    if (count == 0 && used_ == buffer_.size() && at_end_) break;
  }
  return done;
}

Result<size_t> InputFile::inflate_into(std::span<uint8_t> into) {
  const size_t available = buffer_.size() - used_;
  if (available == 0 && at_end_) {
    if (between_members_) return 0;
    return damage(offset_, "the compressed data end in the middle");
  }
  between_members_ = false;
  gzip_->next_in = buffer_.data() + used_;
  gzip_->avail_in = static_cast<uInt>(available);
  gzip_->next_out = into.data();
  gzip_->avail_out = static_cast<uInt>(into.size());
  const int code = inflate(gzip_.get(), Z_NO_FLUSH);
  used_ = buffer_.size() - gzip_->avail_in;
  const size_t count = into.size() - gzip_->avail_out;
  if (code == Z_STREAM_END) {
    // As for gzip(1), a file may have several members in sequence.
    inflateReset(gzip_.get());
    between_members_ = true;
  } else if (code != Z_OK && code != Z_BUF_ERROR) {
    return damage(offset_ + count, std::string("the compressed data are damaged (") +
                                       (gzip_->msg != nullptr ? gzip_->msg : "zlib") + ")");
  }
  return count;
}

tl::unexpected<Error> InputFile::damage(uint64_t offset, const std::string& what) const {
  return fail(ErrorCode::kFailedToParse, name_ + ", byte " + std::to_string(offset) + ": " + what);
}

}  // namespace gridmount::tools
