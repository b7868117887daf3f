// External changes: changes of the mount's buckets by others. A WatchedStore watches the
// transactions of the wire protocol's clients. Over a deployment, a change stream reports the
// changes instead (change_events.h). file_system_changes.cc decides which parts of the kernel's
// cache a change makes wrong, and KernelCache (kernel_cache.h) drops them.
//
// A WatchedStore reports the changes of a commit before the commit returns. So when a client gets
// its reply, the mount already shows the change.
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

// The changes of one transaction in one bucket. A plain value, not thread-safe.
struct BucketChanges {
  std::vector<bson::Value> content;   // _id of files whose content has changed
  std::vector<bson::Value> metadata;  // _id of files of which only attributes may have changed
  // Names that were added, were removed, or now lead to another file. `unnamed` has the _ids of
  // files that have no filename.
  std::set<std::string> filenames;
  std::vector<bson::Value> unnamed;
  // Paths of explicit directories that were added, removed or changed.
  std::set<std::string> directories;
  // Used only for changes from a change stream, which does not have the former content of
  // documents: the _ids of files and directories that may have lost names.
  std::vector<bson::Value> renamed_files;
  std::vector<bson::Value> renamed_directories;
  bool links = false;       // link documents changed; their names are in `filenames`
  bool everything = false;  // too many changes to list, or a change of the bucket as a whole
};

using ExternalChanges = std::map<std::string, BucketChanges>;  // by the bucket's name

// The maximum number of changes that are listed for one transaction, or for one reply of a change
// stream. Beyond it, `everything` is set.
inline constexpr size_t kExternalChangesMax = 100'000;

// Passes everything on to `store` and watches the transactions. Thread-safe.
class WatchedStore final : public engine::Store {
 public:
  // The thread that commits calls `changed`, and holds no lock meanwhile. `store` must outlive this
  // object.
  WatchedStore(engine::Store& store, std::string database,
               std::function<void(const ExternalChanges&)> changed)
      : store_(store), database_(std::move(database)), changed_(std::move(changed)) {}

  std::shared_ptr<engine::Database> database(std::string_view name) override {
    return store_.database(name);
  }
  Result<std::vector<std::string>> databases(engine::Snapshot& snapshot) override {
    return store_.databases(snapshot);
  }
  Result<std::unique_ptr<engine::Snapshot>> snapshot() override { return store_.snapshot(); }
  Result<std::unique_ptr<engine::Snapshot>> short_snapshot() override {
    return store_.short_snapshot();
  }
  Result<std::unique_ptr<engine::Transaction>> begin(engine::TransactionKind kind) override;
  Status make_durable() override { return store_.make_durable(); }
  Result<int64_t> compact(const engine::Namespace& ns,
                          const std::optional<engine::Deadline>& deadline) override {
    return store_.compact(ns, deadline);
  }
  Result<engine::StoreStats> stats() override { return store_.stats(); }
  engine::Capabilities capabilities() const override { return store_.capabilities(); }
  bool read_only() const override { return store_.read_only(); }

 private:
  engine::Store& store_;
  const std::string database_;
  const std::function<void(const ExternalChanges&)> changed_;
};

}  // namespace gridmount::fuse
