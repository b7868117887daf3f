#include "fuse/tree/generated_file.h"

#include <utility>

#include "gridfs/bucket/file_time.h"

namespace gridmount::fuse {

namespace {

constexpr std::chrono::seconds kUnopenedLifetime{1};

uint64_t next_serial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

GeneratedFile::GeneratedFile(std::string text)
    : text_(std::move(text)), made_at_(gridfs::file_time_now()), serial_(next_serial()) {}

bool GeneratedFile::is_current() const {
  return !opened_ && Clock::now() - begin_ < kUnopenedLifetime;
}

}  // namespace gridmount::fuse
