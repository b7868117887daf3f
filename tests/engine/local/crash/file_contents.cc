#include "tests/engine/local/crash/file_contents.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/system/file.h"
#include "tests/must.h"

namespace gridmount::local::testing {
namespace {

constexpr size_t kContentPageBytes = FileContents::kPageBytes;

size_t pages_of(size_t bytes) {
  return (bytes + kContentPageBytes - 1) / kContentPageBytes;
}

// Writes zeros to a range, except where it already has zeros.
void clear(const system::File& file, size_t begin, size_t end) {
  const auto offset = static_cast<off_t>(begin);
  const off_t data = ::lseek(file.fd(), offset, SEEK_DATA);
  if (data < 0 || data >= static_cast<off_t>(end)) return;
  constexpr int kPunch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (::fallocate(file.fd(), kPunch, offset, static_cast<off_t>(end - begin)) != 0) {
    throw std::runtime_error("no hole can be made in " + file.path().string());
  }
}

}  // namespace

FileContents FileContents::read(const std::filesystem::path& path) {
  const system::File file = must(system::File::open(path, O_RDONLY));
  FileContents contents;
  contents.resize(must(file.size()));
  off_t at = 0;
  while ((at = ::lseek(file.fd(), at, SEEK_DATA)) >= 0) {
    at -= at % static_cast<off_t>(kContentPageBytes);
    const std::vector<uint8_t> bytes =
        must(file.read(static_cast<uint64_t>(at), kContentPageBytes));
    if (bytes.empty()) break;
    contents.write(static_cast<size_t>(at), bytes);
    at += static_cast<off_t>(bytes.size());
  }
  return contents;
}

FileContents::Bytes& FileContents::own(size_t number) {
  std::shared_ptr<const Bytes>& page = pages_[number];
  const auto copy = page ? std::make_shared<Bytes>(*page) : std::make_shared<Bytes>();
  page = copy;
  return *copy;
}

void FileContents::resize(size_t size) {
  if (size < size_ && size % kContentPageBytes != 0 && pages_[size / kContentPageBytes]) {
    Bytes& last = own(size / kContentPageBytes);
    std::fill(last.begin() + size % kContentPageBytes, last.end(), uint8_t{0});
  }
  pages_.resize(pages_of(size));
  size_ = size;
}

void FileContents::write(size_t offset, std::span<const uint8_t> bytes) {
  if (bytes.empty()) return;
  resize(std::max(size_, offset + bytes.size()));
  for (size_t done = 0; done < bytes.size();) {
    const size_t in_page = (offset + done) % kContentPageBytes;
    const std::span<const uint8_t> part =
        bytes.subspan(done, std::min(kContentPageBytes - in_page, bytes.size() - done));
    if (part.size() == kContentPageBytes) pages_[(offset + done) / kContentPageBytes].reset();
    std::copy(part.begin(), part.end(), own((offset + done) / kContentPageBytes).begin() + in_page);
    done += part.size();
  }
}

FileContents::Page FileContents::page(size_t number) const {
  if (number >= pages_.size()) return {};
  return {pages_[number], std::min(kContentPageBytes, size_ - number * kContentPageBytes)};
}

void FileContents::set_page(size_t number, const Page& page) {
  if (page.size == 0) return;
  resize(std::max(size_, number * kContentPageBytes + page.size));
  pages_[number] = page.bytes;
}

void FileContents::put_into(const std::filesystem::path& path) const {
  const system::File file = must(system::File::open(path, O_RDWR | O_CREAT));
  must(file.resize(size_));
  for (size_t number = 0; number < pages_.size();) {
    size_t end = number + 1;
    if (pages_[number]) {
      must(file.write(number * kContentPageBytes,
                      std::span(*pages_[number]).first(page(number).size)));
    } else {
      while (end < pages_.size() && !pages_[end]) ++end;
      clear(file, number * kContentPageBytes, end * kContentPageBytes);
    }
    number = end;
  }
}

}  // namespace gridmount::local::testing
