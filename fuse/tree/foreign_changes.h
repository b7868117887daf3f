// What others than the mount change in its buckets: clients of the wire protocol, whose
// transactions a WatchedStore watches.
//
// A commit's changes are handed on before the commit returns, so a client that has been answered
// finds the mount to agree.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/bson/value.h"
#include "engine/store.h"

namespace gridmount::fuse {

// Of one bucket, by one transaction.
struct BucketChanges {
  std::vector<bson::Value> content;   // _id of files whose content is another one
  std::vector<bson::Value> metadata;  // _id of files of which only attributes may have changed
  // Names that came, went or lead to another file now: filenames, and _ids of files without one.
  std::set<std::string> filenames;
  std::vector<bson::Value> unnamed;
  std::set<std::string> folders;  // paths of explicit folders that came, went or changed
  bool links = false;             // documents of further names, which are among the filenames
  bool everything = false;        // too much to say, or the bucket as a whole
};

using ForeignChanges = std::map<std::string, BucketChanges>;  // by the bucket's name

inline constexpr size_t kForeignChangesMax = 100'000;  // in one transaction; beyond: everything

// `store` as it is, its transactions watched. Thread-safe.
class WatchedStore final : public engine::Store {
 public:
  // `changed` is called by the thread that committed, with nothing locked; `store` outlives this.
  WatchedStore(engine::Store& store, std::string database,
               std::function<void(const ForeignChanges&)> changed)
      : store_(store), database_(std::move(database)), changed_(std::move(changed)) {}

  std::shared_ptr<engine::Database> database(std::string_view name) override {
    return store_.database(name);
  }
  Result<std::vector<std::string>> databases(engine::Snapshot& snapshot) override {
    return store_.databases(snapshot);
  }
  Result<std::unique_ptr<engine::Snapshot>> snapshot() override { return store_.snapshot(); }
  Result<std::unique_ptr<engine::Transaction>> begin(engine::Waits waits) override;
  Status make_durable() override { return store_.make_durable(); }
  Result<int64_t> compact(const engine::Namespace& ns,
                          const std::optional<engine::Deadline>& deadline) override {
    return store_.compact(ns, deadline);
  }
  Result<engine::StoreStats> stats() override { return store_.stats(); }
  bool read_only() const override { return store_.read_only(); }

 private:
  engine::Store& store_;
  const std::string database_;
  const std::function<void(const ForeignChanges&)> changed_;
};

}  // namespace gridmount::fuse
