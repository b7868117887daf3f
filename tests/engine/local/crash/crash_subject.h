// The subject of a crash test: a kind of store, and a random workload for it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/test_options.h"

namespace gridmount::local::testing {

// Of the log of a store that is made: a few records in each of its halves.
inline constexpr uint64_t kCrashRedoBytes = 40 << 10;

// What a store holds, object by object: a name, and what there is to say of it.
using Facts = std::map<std::string, std::string>;

class CrashSubject {
 public:
  virtual ~CrashSubject() = default;

  // Takes no checkpoints by itself, so that a workload's are at the same places each time.
  virtual Status open(const std::filesystem::path& folder, bool create,
                      const TestOptions& test) = 0;
  // The full check: problems, one line each. Changes nothing.
  virtual Result<std::vector<std::string>> check() = 0;
  // Ends what open() began, cleanly.
  virtual Status close() = 0;

  // One change that is committed, chosen by what there is, which is whole or not there at all.
  // `facts` becomes what holds after it. Whether it is durable on return, if it may be: a
  // checkpoint may be held up meanwhile.
  virtual Result<bool> step(std::mt19937_64& random, Facts& facts, bool may_be_durable) = 0;
  // What is told of the steps of several writers, by whoever has the writers' turn but for ended().
  struct Watcher {
    std::function<uint64_t()> begins;           // returns the number of the step
    std::function<void(const Facts&)> changed;  // what holds after it
    std::function<void(uint64_t)> ended;        // it has been committed
  };
  // Steps of `writers` that wait for each other, and so may share their commits. None of them is
  // durable. False if this kind of store has no such writers; nothing has happened then.
  virtual Result<bool> steps_of_several(int /*writers*/, std::mt19937_64& /*random*/,
                                        Facts& /*facts*/, const Watcher& /*watcher*/) {
    return false;
  }
  virtual Status make_durable() = 0;
  // The same, by a checkpoint.
  virtual Status checkpoint() = 0;
  // Everything there is, read as users read it.
  virtual Result<Facts> read() = 0;

  // Compacts the store in the folder, which is closed. False if there is no such thing.
  virtual Result<bool> compact(const std::filesystem::path&) { return false; }
};

// What is different, for a message; empty if nothing is.
std::string difference(const Facts& expected, const Facts& found);

}  // namespace gridmount::local::testing
