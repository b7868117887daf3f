// A document that a cursor has read, and that did not fit in the batch. It is returned in the next
// batch. Its size is part of a total that all cursors of a registry share.
//
// Thread-safety: not thread-safe, but the shared total is atomic.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/bson/document.h"

namespace gridmount::cursors {

class HeldDocument {
 public:
  // Copies the document, and adds its size to `total`. `total` must outlive this object, whose
  // destructor subtracts the size again.
  HeldDocument(bson::View document, std::atomic<uint64_t>& total)
      : document_(document), bytes_(document.size()), total_(&total) {
    total += bytes_;
  }
  HeldDocument(HeldDocument&& other) noexcept
      : document_(std::move(other.document_)),
        bytes_(other.bytes_),
        total_(std::exchange(other.total_, nullptr)) {}
  HeldDocument& operator=(HeldDocument&&) = delete;
  ~HeldDocument() {
    if (total_ != nullptr) *total_ -= bytes_;
  }

  bson::View view() const { return document_.view(); }

 private:
  bson::Document document_;
  uint64_t bytes_;
  std::atomic<uint64_t>* total_;
};

}  // namespace gridmount::cursors
