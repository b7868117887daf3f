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

  // A version of a page. Bytes beyond the end of the file are zeros.
  struct Page {
    std::shared_ptr<const Bytes> bytes = nullptr;  // null: zeros
    size_t size = 0;                               // the bytes before the end of the file
  };

  // Throws std::runtime_error if the file cannot be read.
  static FileContents read(const std::filesystem::path& path);

  size_t size() const { return size_; }
  // Added bytes are zeros.
  void resize(size_t size);
  // Grows the file if necessary.
  void write(size_t offset, std::span<const uint8_t> bytes);
  // Returns an empty page beyond the end of the file.
  Page page(size_t number) const;
  // Grows the file to the page's end if necessary.
  void set_page(size_t number, const Page& page);

  // Writes these contents to the file, whatever it held before. Overwrites the file instead of
  // replacing it, because new pages in memory cost more. Throws std::runtime_error if this fails.
  void put_into(const std::filesystem::path& path) const;

 private:
  // Returns page `number`, which the caller may change. Copies of this object that share the page
  // keep the old bytes.
  Bytes& own(size_t number);

  std::vector<std::shared_ptr<const Bytes>> pages_;
  size_t size_ = 0;
};

}  // namespace gridmount::local::testing
