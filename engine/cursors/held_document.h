// A copy of a document that a cursor has read and that did not fit in the batch. The next batch
// returns the document. All cursors of a registry share one total of the bytes of such documents.
//
// Thread-safety: an object is not thread-safe. Objects in several threads may share one total,
// because it is atomic.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/bson/document.h"

namespace gridmount::cursors {

class HeldDocument {
 public:
  // Copies the document, and adds its size in bytes to `total`. The destructor subtracts the size
  // again. `total` must outlive this object.
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

  // The view is valid as long as this object.
  bson::View view() const { return document_.view(); }

 private:
  bson::Document document_;
  uint64_t bytes_;
  std::atomic<uint64_t>* total_;
};

}  // namespace gridmount::cursors
