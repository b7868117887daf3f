// Tests one kind of store with one failing call: the n-th write, sync, growth, mapping or
// allocation, for every n.
//
// A child process makes a store and runs the same workload each time until a call fails, and then
// closes the store. It must end by itself, and its error must be one of the promised errors.
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
  // If there are more calls than this, only this many are tested, spread evenly from a random one
  // on, so each run tests others. GRIDMOUNT_FAULTS sets the number. GRIDMOUNT_FAULT_AT tests that
  // call alone.
  uint64_t runs_max = 400;
  // Whether parts of a step are acknowledged before it returns, such as several writes to a file.
  bool parts_may_show = false;
  // Whether the process may end itself instead of failing, as programs do when memory is short.
  bool may_abort = false;
};

struct FaultRunResult {
  uint64_t runs = 0;
  uint64_t aborted = 0;
  uint64_t broken = 0;
  std::string first;  // what is wrong with the first of them
};

FaultRunResult run_faults(const FaultRun& run);

}  // namespace gridmount::local::testing
