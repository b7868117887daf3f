#include "fuse/operations_in_progress.h"

#include <algorithm>
#include <cstring>

#include "fuse/thread_number.h"

namespace gridmount::fuse {

std::string OperationInProgress::text() const {
  std::string text = operation + " of node " + std::to_string(node);
  if (!name.empty()) text += " name " + name;
  return text;
}

std::vector<OperationInProgress> OperationsInProgress::list() const {
  std::vector<OperationInProgress> operations;
  for (const Place& place : places_) {
    const MutexLock lock(place.mutex);
    if (place.operation != nullptr) operations.push_back(place.copy());
  }
  std::sort(operations.begin(), operations.end(),
            [](const auto& one, const auto& other) { return one.begin < other.begin; });
  return operations;
}

OperationInProgress OperationsInProgress::Place::copy() const {
  return {operation, node, std::string(name.data(), name_bytes), begin};
}

OperationsInProgress::Place* OperationsInProgress::take_place(
    const char* operation, uint64_t node, const char* name,
    std::chrono::steady_clock::time_point begin) {
  const size_t first = thread_number();
  for (size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[(first + i) % places_.size()];
    if (!place.mutex.try_lock()) continue;
    const bool is_free = place.operation == nullptr;
    if (is_free) {
      place.operation = operation;
      place.node = node;
      place.name_bytes = name == nullptr ? 0 : strnlen(name, kNameBytesMax);
      if (name != nullptr) memcpy(place.name.data(), name, place.name_bytes);
      place.begin = begin;
    }
    place.mutex.unlock();
    if (is_free) return &place;
  }
  return nullptr;
}

OperationsInProgress::Note::~Note() {
  if (place_ == nullptr) return;
  const MutexLock lock(place_->mutex);
  place_->operation = nullptr;
}

}  // namespace gridmount::fuse
