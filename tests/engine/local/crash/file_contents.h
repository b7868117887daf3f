// The contents of a file, for recordings and images. Copies share equal pages, and pages of zeros
// take no memory. So the space that a store keeps in reserve costs nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace gridmount::local::testing {

class FileContents {
 public:
  static constexpr size_t kPageBytes = 4096;
  using Bytes = std::array<uint8_t, kPageBytes>;

  // A version of a page; what is behind the end of the file in it is zeros.
  struct Page {
    std::shared_ptr<const Bytes> bytes = nullptr;  // null: zeros
    size_t size = 0;                               // up to the end of the file
  };

  // Throws std::runtime_error if the file cannot be read.
  static FileContents read(const std::filesystem::path& path);

  size_t size() const { return size_; }
  // Grows by zeros.
  void resize(size_t size);
  // Grows if it must.
  void write(size_t offset, std::span<const uint8_t> bytes);
  // Beyond the end: an empty one.
  Page page(size_t number) const;
  // Grows to the page's end if it must.
  void set_page(size_t number, const Page& page);

  // Makes the file hold this, whatever it held. Over what was there: in memory that costs less than
  // new pages. Throws std::runtime_error.
  void put_into(const std::filesystem::path& path) const;

 private:
  // Page `number`, to be changed; others keep theirs.
  Bytes& own(size_t number);

  std::vector<std::shared_ptr<const Bytes>> pages_;
  size_t size_ = 0;
};

}  // namespace gridmount::local::testing
