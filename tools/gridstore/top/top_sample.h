// A sample for `gridstore top`: the counters since the start of a server or a mount, and its state,
// at one moment. The difference of two samples shows what happened between them.
//
// Thread-safety: plain values. A source is used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/mongo/mongo_store.h"

namespace gridmount::tools {

// The operations of one kind: on one collection of a server, or on a whole mount.
struct Activity {
  std::string name;
  uint64_t count = 0;  // those that have ended, since the start
  double seconds = 0;  // the sum of their durations
};

// A number that only grows.
struct Counter {
  std::string name;
  uint64_t value = 0;
  bool is_bytes = false;
};

// An operation that has not ended.
struct Pending {
  std::string what;  // the operation, its namespace and its client
  double seconds = 0;
};

struct TopSample {
  std::chrono::steady_clock::time_point at;
  std::vector<Activity> activities;
  std::vector<Counter> counters;
  std::vector<std::string> state;  // each a few words, such as "12 connections"
  std::vector<Pending> pending;    // only the longest ones, the longest first
};

class TopSource {
 public:
  virtual ~TopSource() = default;
  // Fails if the server or the mount does not answer.
  virtual Result<TopSample> read() = 0;
};

// Runs the commands serverStatus, top and currentOp on a server. If the server has users, the user
// in `options` needs the role clusterMonitor. Does not connect before the first read(). Fails as
// mongo::Pool::open() does.
Result<std::unique_ptr<TopSource>> top_of_server(const mongo::ConnectOptions& options);

// Reads stats.json of a mount (fuse/SEMANTICS.md). `file` is its path.
std::unique_ptr<TopSource> top_of_mount(const std::filesystem::path& file);
// Looks for .gridfs/stats.json in `folder`, and then in the folders directly in it. So `folder` may
// be the root of a mount, or of a bucket in it. Returns an empty path if there is no such file.
std::filesystem::path stats_file_below(const std::filesystem::path& folder);

}  // namespace gridmount::tools
