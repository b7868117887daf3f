// A slot for one request of a kind. The number of slots limits how many requests of the kind are
// served at the same time.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "http/site_error.h"

namespace gridmount::http {

class Slot {
 public:
  using Count = std::shared_ptr<std::atomic<size_t>>;

  // Takes a slot. The destructor of the result frees the slot. `taken` counts the slots that are
  // taken, and all slots of one kind share it. Fails with TooManyRequests if `most` slots are taken
  // already. `what` names the requests in the error, as a plural.
  static Result<std::unique_ptr<Slot>> take(Count taken, size_t most, const std::string& what) {
    if (++*taken > most) {
      --*taken;
      return fail(kTooManyRequests, "there are too many " + what);
    }
    return std::unique_ptr<Slot>(new Slot(std::move(taken)));
  }
  ~Slot() { --*taken_; }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

 private:
  explicit Slot(Count taken) : taken_(std::move(taken)) {}

  const Count taken_;
};

}  // namespace gridmount::http
