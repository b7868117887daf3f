#include "fuse/monitoring/operations_in_progress.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/base/log.h"
#include "fuse/monitoring/thread_number.h"

namespace gridmount::fuse {

std::string OperationInProgress::text() const {
  std::string text = operation + " of node " + std::to_string(node);
  if (!name.empty()) text += " name " + name;
  return text;
}

std::vector<OperationInProgress> OperationsInProgress::list() const {
  std::vector<OperationInProgress> operations;
  for (const Slot& slot : slots_) {
    const MutexLock lock(slot.mutex);
    if (slot.operation != nullptr) operations.push_back(slot.copy());
  }
  std::sort(operations.begin(), operations.end(),
            [](const auto& one, const auto& other) { return one.begin < other.begin; });
  return operations;
}

std::vector<OperationInProgress> OperationsInProgress::take_unreported(
    std::chrono::steady_clock::time_point begun_until) {
  std::vector<OperationInProgress> operations;
  for (Slot& slot : slots_) {
    const MutexLock lock(slot.mutex);
    if (slot.operation == nullptr || slot.is_reported || slot.begin > begun_until) continue;
    operations.push_back(slot.copy());
    slot.is_reported = true;
  }
  return operations;
}

OperationInProgress OperationsInProgress::Slot::copy() const {
  return {operation, node, std::string(name.data(), name_bytes), begin};
}

OperationsInProgress::Slot* OperationsInProgress::take_slot(
    const char* operation, uint64_t node, const char* name,
    std::chrono::steady_clock::time_point begin) {
  const size_t first = thread_number();
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[(first + i) % slots_.size()];
    if (!slot.mutex.try_lock()) continue;
    const bool is_free = slot.operation == nullptr;
    if (is_free) {
      slot.operation = operation;
      slot.node = node;
      slot.name_bytes = name == nullptr ? 0 : strnlen(name, kNameBytesMax);
      if (name != nullptr) memcpy(slot.name.data(), name, slot.name_bytes);
      slot.begin = begin;
    }
    slot.mutex.unlock();
    if (is_free) return &slot;
  }
  return nullptr;
}

OperationsInProgress::Note::~Note() {
  if (slot_ == nullptr) return;
  std::optional<OperationInProgress> reported;
  {
    const MutexLock lock(slot_->mutex);
    if (slot_->is_reported) reported = slot_->copy();
    slot_->operation = nullptr;
    slot_->is_reported = false;
  }
  if (!reported) return;
  const auto duration = std::chrono::steady_clock::now() - reported->begin;
  log::warn("ended after {:.1f} s: {}", std::chrono::duration<double>(duration).count(),
            reported->text());
}

}  // namespace gridmount::fuse
