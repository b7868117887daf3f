// One thread of the test. It chooses steps, runs each on the mount and on the plain directory, and
// compares their results and effects. It stops at the first difference and reports it with the
// steps before it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/mount/differential/attributes.h"
#include "tests/mount/differential/step.h"

namespace gridmount::differential {

struct Count {
  uint64_t steps = 0;
  uint64_t succeeded = 0;
};
using Tally = std::map<std::string, Count>;

struct Choice {
  std::vector<CallKind> kinds = {};
  bool odd_names = true;
  bool other_users = true;
};

class Worker {
 public:
  // Gives the calling thread, which must run the worker, its own current directory and umask. If
  // `plain` is null, the steps run only on the mount, at the same time as those of other workers.
  // The worker then finds only errors that no call may ever return.
  Worker(std::string name, uint64_t seed, const Choice& choice, const std::string& mount,
         const std::string* plain);

  // Runs `count` random steps. Returns false if it finds an error, which report() then describes.
  // Appends the steps to `steps` if it is not null.
  bool run(uint64_t count, std::vector<Step>* steps = nullptr);
  // Runs these steps instead of random ones.
  bool run(const std::vector<Step>& steps);
  const std::string& report() const { return report_; }
  // Returns the numbers of steps by the names of the calls.
  const Tally& tally() const { return tally_; }

 private:
  Step choose();
  void run_one(const Step& step);
  void run_compared(const Step& step);
  void run_alone(const Step& step);
  void count(const Step& step, const Outcome& outcome);
  void find(const std::string& what);

  std::string name_;
  Chance chance_;
  std::vector<CallKind> kinds_;
  uint64_t weights_ = 0;
  Side mount_;
  std::optional<Side> plain_;
  uint64_t number_ = 0;
  std::deque<std::string> history_;
  std::string report_;
  Tally tally_;
};

}  // namespace gridmount::differential
