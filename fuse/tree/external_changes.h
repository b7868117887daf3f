// External changes: changes that others make in the mount's buckets. A WatchedStore watches the
// transactions of the clients of the wire protocol and of HTTP. Over a deployment, a change stream
// reports the changes instead (change_events.h). file_system_changes.cc and
// file_system_changes_by_others.cc decide which parts of the kernel's cache are wrong after a
// change, and KernelCache (kernel_cache.h) drops these parts.
//
// A WatchedStore reports the changes of a commit before the commit returns. So when a client gets
// its reply, the mount already shows the change.
//
// WatchedStore is thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/bson/value.h"
#include "engine/store.h"
#include "gridfs/namespace/changes_by_others.h"

namespace gridmount::fuse {

// The changes of one transaction in one bucket. A plain value, not thread-safe.
struct BucketChanges {
  // _ids of files that were added, were removed, or have other content.
  std::vector<bson::Value> content;
  // _ids of files whose attributes, chunks or number of names may have changed.
  std::vector<bson::Value> metadata;
  // Filenames, aliases and links that were added, were removed, or now lead to another file. If the
  // file has no filename, its _id is in `unnamed` instead.
  std::set<std::string> filenames;
  std::vector<bson::Value> unnamed;
  // Paths of explicit directories that were added, removed or changed.
  std::set<std::string> directories;
  // Used only for changes from a change stream: the _ids of files and directories that may have
  // lost names. The names are unknown, because a change stream does not have the former content of
  // documents.
  std::vector<bson::Value> renamed_files;
  std::vector<bson::Value> renamed_directories;
  bool links = false;       // link documents changed; their names are in `filenames`
  bool everything = false;  // too many changes to list, or a change of the bucket as a whole
};

using ExternalChanges = std::map<std::string, BucketChanges>;  // by the bucket's name

// The maximum number of changes that are listed for one transaction, or for one reply of a change
// stream. If there are more changes, `everything` is set.
inline constexpr size_t kExternalChangesMax = 100'000;

// Passes all calls to `store`, and watches the transactions that are begun with it.
class WatchedStore final : public engine::Store {
 public:
  // The thread that commits calls `changed` with the changes in the buckets of `database`, after it
  // has released the store's write lock. `counts` counts what the transactions change in these
  // buckets. `store` must outlive this object.
  WatchedStore(engine::Store& store, std::string database,
               std::function<void(const ExternalChanges&)> changed,
               std::shared_ptr<gridfs::ChangesByOthers> counts)
      : store_(store),
        database_(std::move(database)),
        changed_(std::move(changed)),
        counts_(std::move(counts)) {}

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
  const std::shared_ptr<gridfs::ChangesByOthers> counts_;
};

}  // namespace gridmount::fuse
