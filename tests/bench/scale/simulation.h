// Simulates a sharded cluster that mounts use. Events happen in the order of their times. The
// processors and the links of shards, each mount's transactions, and directories that change have
// queues.
//
// The costs of commands were measured (costs.h). The shard keys decide to which shards a command
// goes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/scale/costs.h"

namespace gridmount::bench {

// The shards that have the documents of a bucket. In all layouts, `chunks` is sharded by {files_id:
// "hashed", n: 1}.
enum class Layout {
  kPrimary,    // everything except chunks is on the primary shard of the database
  kDatabases,  // as kPrimary, with as many databases as shards, each on another primary shard
  kById,       // files by {_id: "hashed"}, with the zones of chunks; the rest on the primary shard
  kByName,  // files by {filename: 1, _id: 1}, directories by {parent: 1, name: 1}, and each filter
            // with the key, which the program does not have today
};

struct Cluster {
  Layout layout = Layout::kPrimary;
  int shards = 1;
  int cores = 8;               // of a shard's primary
  double link_mib_s = 1100;    // of a shard's primary: ten gigabits
  double round_trip_ms = 0.5;  // from a mount through a mongos to a shard
  double majority_ms = 2;      // until a majority has a write in its journal
};

struct Load {
  std::map<std::string, double> weights;  // of the choices of operations
  int mounts = 1;
  int programs = 4;               // of each mount
  double think_ms = 100;          // average pause of a program between two operations
  int directories = 16;           // over which the changes of a mount are spread
  bool shared_directory = false;  // all mounts change one directory
  int operations = 5000;  // of all mounts; at least four per program. A fifth is not counted
  uint64_t seed = 1;
};

struct Outcome {
  double operations_s = 0;
  double mean_ms = 0;  // of a choice, which repeats an operation until it commits
  double late_ms = 0;  // the 99th percentile
  // "shard 0 CPU" -> the share of the time in which it is busy. The queues of all mounts, and those
  // of their directories, have one entry with the mean.
  std::map<std::string, double> busy;
};

// Throws std::runtime_error if `costs` lacks an operation or a step, or if there are too few
// operations.
Outcome simulate(const Costs& costs, const Cluster& cluster, const Load& load);

}  // namespace gridmount::bench
