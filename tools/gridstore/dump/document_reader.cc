#include "tools/gridstore/dump/document_reader.h"

#include <array>
#include <cstring>
#include <string>

#include "tools/gridstore/dump/archive_format.h"

namespace gridmount::tools {

namespace {

constexpr uint32_t kSmallestDocument = 5;
constexpr uint32_t kLargestDocument = bson::kMaxDocumentBytes + bson::kInternalOverhead;

}  // namespace

Result<DocumentReader::Found> DocumentReader::next(bool marks) {
  offset_ = file_.offset();
  std::array<uint8_t, sizeof(uint32_t)> prefix{};
  GM_ASSIGN(const size_t got, file_.read(prefix));
  if (got == 0) return Found::kEnd;
  if (got < prefix.size()) return file_.damage(offset_, "the file ends in the middle of a length");
  uint32_t size = 0;
  std::memcpy(&size, prefix.data(), sizeof(size));
  if (marks && size == kArchiveMark) return Found::kMark;
  if (size < kSmallestDocument || size > kLargestDocument) {
    return file_.damage(offset_, std::to_string(size) + " is not the length of a document" +
                                     (marks ? ", nor a mark" : ""));
  }
  bytes_.resize(size);
  std::memcpy(bytes_.data(), prefix.data(), prefix.size());
  GM_ASSIGN(const size_t rest, file_.read(std::span(bytes_).subspan(prefix.size())));
  if (rest < size - prefix.size()) {
    return file_.damage(
        offset_, "the file ends in the middle of a document of " + std::to_string(size) + " bytes");
  }
  const Result<bson::View> valid = bson::validate(bytes_);
  if (!valid) {
    return file_.damage(offset_, "the document is not valid: " + valid.error().message());
  }
  document_ = *valid;
  return Found::kDocument;
}

}  // namespace gridmount::tools
