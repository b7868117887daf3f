// The input of fuzzers of the query language: a sequence of valid documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/bson/document.h"

namespace gridmount {

inline constexpr size_t kFuzzDocumentsMax = 8;

// Returns the valid documents at the beginning of `bytes`, which must outlive the views. Ignores
// everything from the first document on that is invalid or has more than 65535 bytes, and more than
// kFuzzDocumentsMax documents.
inline std::vector<bson::View> documents_in(std::span<const uint8_t> bytes) {
  std::vector<bson::View> documents;
  while (bytes.size() >= 5 && documents.size() < kFuzzDocumentsMax) {
    const size_t length = size_t{bytes[0]} | size_t{bytes[1]} << 8;
    if (length > bytes.size()) break;
    const Result<bson::View> document = bson::validate(bytes.first(length));
    if (!document) break;
    documents.push_back(*document);
    bytes = bytes.subspan(length);
  }
  return documents;
}

}  // namespace gridmount
