// Tests one kind of store with one failing call, for every n: the n-th write, sync, change of a
// file's size, mapping or allocation.
//
// Each time, a child process makes a store, runs the same workload until a call fails, and then
// closes the store. The child must end by itself, and its error must be one of the promised errors.
// Another process then opens the store, checks it in full, compares it with the states that the
// promises allow (every acknowledged change is there; after a failed sync, every durable one), and
// writes to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tests/engine/local/crash/crash_subject.h"
#include "tests/engine/local/crash/fault_injector.h"

namespace gridmount::local::testing {

struct FaultRun {
  std::function<std::unique_ptr<CrashSubject>()> make_subject;
  FaultKind kind = FaultKind::kNone;
  bool lasting = false;  // all calls after the n-th fail too
  int code = 0;          // errno
  uint64_t steps = 0;
  // If there are more calls than this, only this many are tested. They are spread evenly and begin
  // at a random call, so each run tests other calls. GRIDMOUNT_FAULTS sets another number. With
  // GRIDMOUNT_FAULT_AT=N, only call N is tested.
  uint64_t runs_max = 400;
  // True if parts of a step, such as several writes to a file, are acknowledged before the step
  // returns.
  bool parts_may_show = false;
  // True if the process may end itself instead of failing, as programs do when memory is short.
  bool may_abort = false;
};

struct FaultRunResult {
  uint64_t runs = 0;
  uint64_t aborted = 0;
  uint64_t broken = 0;
  std::string first;  // what is wrong with the first five broken stores
};

FaultRunResult run_faults(const FaultRun& run);

}  // namespace gridmount::local::testing
