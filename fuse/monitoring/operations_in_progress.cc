#include "fuse/monitoring/operations_in_progress.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "fuse/monitoring/thread_number.h"

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

std::vector<OperationInProgress> OperationsInProgress::take_untold(
    std::chrono::steady_clock::time_point begun_until) {
  std::vector<OperationInProgress> operations;
  for (Place& place : places_) {
    const MutexLock lock(place.mutex);
    if (place.operation == nullptr || place.is_told || place.begin > begun_until) continue;
    operations.push_back(place.copy());
    place.is_told = true;
  }
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
  std::optional<OperationInProgress> told;
  {
    const MutexLock lock(place_->mutex);
    if (place_->is_told) told = place_->copy();
    place_->operation = nullptr;
    place_->is_told = false;
  }
  if (!told) return;
  const auto duration = std::chrono::steady_clock::now() - told->begin;
  spdlog::warn("after {:.1f} s ended: {}", std::chrono::duration<double>(duration).count(),
               told->text());
}

}  // namespace gridmount::fuse
