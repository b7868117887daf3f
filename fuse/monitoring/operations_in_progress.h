// The operations that the kernel waits for at the moment: their kind, their node and their start
// time.
//
// Each operation is recorded in a slot. Threads seldom share a slot, so the slot's lock is usually
// free. At most kOperationsMax operations are recorded at a time. An operation is not recorded if
// every slot is taken or locked when the operation begins.
//
// Thread-safe. A thread that holds a slot's lock takes no other lock, and only copies data.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/thread_safety.h"

namespace gridmount::fuse {

struct OperationInProgress {
  std::string operation;
  uint64_t node = 0;
  // A name in the directory `node`, the name of an xattr of `node`, or the name of a new link to
  // `node`. Empty if the operation has no name.
  std::string name;
  std::chrono::steady_clock::time_point begin;

  // Returns, for example, "lookup of node 1 name a.txt".
  std::string text() const;
};

class OperationsInProgress {
 public:
  static constexpr size_t kOperationsMax = 64;

  // Records an operation from its construction to the end of the scope. `operation` must be a
  // string literal. `name` may be null. The first 255 bytes of `name` are copied. `begin` is the
  // time when the operation started. The OperationsInProgress must outlive the Note.
  class Note;

  // Returns the operations that run at the moment, oldest first.
  std::vector<OperationInProgress> list() const;

  // Returns the operations that run at the moment, that began at or before `begun_until`, and that
  // no earlier call has returned. The order of the result has no meaning. When an operation that
  // was returned ends, its Note logs the end and the duration.
  std::vector<OperationInProgress> take_unreported(
      std::chrono::steady_clock::time_point begun_until);

 private:
  static constexpr size_t kNameBytesMax = 255;

  struct Slot {
    mutable Mutex mutex;
    const char* operation GM_GUARDED_BY(mutex) = nullptr;  // null if the slot is free
    uint64_t node GM_GUARDED_BY(mutex) = 0;
    size_t name_bytes GM_GUARDED_BY(mutex) = 0;
    std::array<char, kNameBytesMax> name GM_GUARDED_BY(mutex);
    std::chrono::steady_clock::time_point begin GM_GUARDED_BY(mutex);
    bool is_reported GM_GUARDED_BY(mutex) = false;

    OperationInProgress copy() const GM_REQUIRES(mutex);
  };

  // Returns null if all slots are taken or locked.
  Slot* take_slot(const char* operation, uint64_t node, const char* name,
                  std::chrono::steady_clock::time_point begin);

  std::array<Slot, kOperationsMax> slots_;
};

class OperationsInProgress::Note {
 public:
  Note(OperationsInProgress& operations, const char* operation, uint64_t node, const char* name,
       std::chrono::steady_clock::time_point begin)
      : slot_(operations.take_slot(operation, node, name, begin)) {}
  ~Note();
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;

 private:
  Slot* const slot_;
};

}  // namespace gridmount::fuse
