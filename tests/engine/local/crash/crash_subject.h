// The subject of a crash test: a kind of store with a random workload.
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

// The contents of a store: the name of each object, and its description.
using Facts = std::map<std::string, std::string>;

class CrashSubject {
 public:
  virtual ~CrashSubject() = default;

  // Opens the store. It takes no checkpoints by itself, so that a workload has them at the same
  // points each time.
  virtual Status open(const std::filesystem::path& folder, bool create,
                      const TestOptions& test) = 0;
  // Runs the full check and returns one line per problem. Changes nothing.
  virtual Result<std::vector<std::string>> check() = 0;
  // Closes cleanly what open() opened.
  virtual Status close() = 0;

  // Makes one random change and commits it. The change happens completely or not at all. Sets
  // `facts` to the state after the change. Returns true if the change is durable. If
  // `may_be_durable` is false, it must not be made durable, because a checkpoint may be held up
  // meanwhile.
  virtual Result<bool> step(std::mt19937_64& random, Facts& facts, bool may_be_durable) = 0;
  // The functions that receive the steps of several writers. Except for ended(), only the holder of
  // the write lock calls them.
  struct Watcher {
    std::function<uint64_t()> begins;           // a step begins; returns its number
    std::function<void(const Facts&)> changed;  // the state after it
    std::function<void(uint64_t)> ended;        // the step with this number is committed
  };
  // Makes a step in this thread and in each of `writers` other threads. The threads wait for each
  // other and so may share commits. No step is durable. Returns false, without any effect, if this
  // kind of store has no such writers.
  virtual Result<bool> steps_of_several(int /*writers*/, std::mt19937_64& /*random*/,
                                        Facts& /*facts*/, const Watcher& /*watcher*/) {
    return false;
  }
  virtual Status make_durable() = 0;
  // Like make_durable(), but with a checkpoint instead of the log.
  virtual Status checkpoint() = 0;
  // Returns the whole contents, as users read them.
  virtual Result<Facts> read() = 0;

  // Compacts the closed store in the folder. Returns false if this kind of store cannot be
  // compacted.
  virtual Result<bool> compact(const std::filesystem::path&) { return false; }
};

// Returns a message about the first difference, or an empty string if there is none.
std::string difference(const Facts& expected, const Facts& found);

}  // namespace gridmount::local::testing
