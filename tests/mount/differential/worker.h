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
  // The calling thread's current directory and umask become the worker's. Without a plain side the
  // steps run on the mount alone, beside those of other workers. Then only errors that no call may
  // ever return are found.
  Worker(std::string name, uint64_t seed, const Choice& choice, const std::string& mount,
         const std::string* plain);

  // Returns false if something was found, which `report` then describes. Appends the steps to
  // `steps`.
  bool run(uint64_t count, std::vector<Step>* steps = nullptr);
  // Runs these steps and chooses none.
  bool run(const std::vector<Step>& steps);
  const std::string& report() const { return report_; }
  // By the names of the calls.
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
