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

// The log size of a new store: a few records fit in each of its halves.
inline constexpr uint64_t kCrashRedoBytes = 40 << 10;

// The contents of a store, object by object: a name and a description.
using Facts = std::map<std::string, std::string>;

class CrashSubject {
 public:
  virtual ~CrashSubject() = default;

  // Takes no checkpoints by itself, so that a workload has them at the same points each time.
  virtual Status open(const std::filesystem::path& folder, bool create,
                      const TestOptions& test) = 0;
  // Runs the full check and returns one line per problem. Changes nothing.
  virtual Result<std::vector<std::string>> check() = 0;
  // Closes cleanly what open() opened.
  virtual Status close() = 0;

  // Makes one random change and commits it. It happens completely or not at all. Sets `facts` to
  // the state after it. Returns whether it is durable, which requires `may_be_durable`: a
  // checkpoint may be held up meanwhile.
  virtual Result<bool> step(std::mt19937_64& random, Facts& facts, bool may_be_durable) = 0;
  // Receives the steps of several writers. Except for ended(), only the holder of the write lock
  // calls it.
  struct Watcher {
    std::function<uint64_t()> begins;           // returns the number of the step
    std::function<void(const Facts&)> changed;  // the state after it
    std::function<void(uint64_t)> ended;        // the step is committed
  };
  // Makes steps of `writers` that wait for each other and so may share commits. None of them is
  // durable. Returns false, without any effect, if this kind of store has no such writers.
  virtual Result<bool> steps_of_several(int /*writers*/, std::mt19937_64& /*random*/,
                                        Facts& /*facts*/, const Watcher& /*watcher*/) {
    return false;
  }
  virtual Status make_durable() = 0;
  // The same, by a checkpoint instead of the log.
  virtual Status checkpoint() = 0;
  // Returns the whole contents, read as users read them.
  virtual Result<Facts> read() = 0;

  // Compacts the closed store in the folder. Returns false if this kind of store cannot be
  // compacted.
  virtual Result<bool> compact(const std::filesystem::path&) { return false; }
};

// Returns a message about the difference, or an empty string.
std::string difference(const Facts& expected, const Facts& found);

}  // namespace gridmount::local::testing
