// The operations that the kernel waits for at the moment: which they are, on what, and since when.
//
// Each is noted in a place that its thread seldom shares with another, so that noting one takes a
// lock that is free. An operation beyond kOperationsMax at a time is not noted.
//
// Thread-safety: thread-safe. The places' locks are leaves, and held for no more than a copy.
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
  std::string name;  // in the folder `node`; empty if the operation has none
  std::chrono::steady_clock::time_point begin;

  // "lookup of node 1 name a.txt"
  std::string text() const;
};

class OperationsInProgress {
 public:
  static constexpr size_t kOperationsMax = 64;

  // Notes an operation from here to the end of the scope. `operation` is a literal, `name` may be
  // null and is copied.
  class Note;

  // The oldest first.
  std::vector<OperationInProgress> list() const;

  // Those that were begun until then and that no call has returned before. The end of each will be
  // logged.
  std::vector<OperationInProgress> take_untold(std::chrono::steady_clock::time_point begun_until);

 private:
  static constexpr size_t kNameBytesMax = 255;

  struct Place {
    mutable Mutex mutex;
    const char* operation GM_GUARDED_BY(mutex) = nullptr;  // null: the place is free
    uint64_t node GM_GUARDED_BY(mutex) = 0;
    size_t name_bytes GM_GUARDED_BY(mutex) = 0;
    std::array<char, kNameBytesMax> name GM_GUARDED_BY(mutex);
    std::chrono::steady_clock::time_point begin GM_GUARDED_BY(mutex);
    bool is_told GM_GUARDED_BY(mutex) = false;

    OperationInProgress copy() const GM_REQUIRES(mutex);
  };

  // Null if all are taken.
  Place* take_place(const char* operation, uint64_t node, const char* name,
                    std::chrono::steady_clock::time_point begin);

  std::array<Place, kOperationsMax> places_;
};

class OperationsInProgress::Note {
 public:
  Note(OperationsInProgress& operations, const char* operation, uint64_t node, const char* name,
       std::chrono::steady_clock::time_point begin)
      : place_(operations.take_place(operation, node, name, begin)) {}
  ~Note();
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;

 private:
  Place* const place_;
};

}  // namespace gridmount::fuse
