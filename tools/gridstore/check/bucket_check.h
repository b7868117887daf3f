// Checks one bucket of one database: the indexes, files and chunks of GridFS, and the collections
// of directories, links and detached files that gridmount adds.
//
// Thread-safe if each call has its own snapshot and findings: the functions have no state.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/file_check.h"
#include "tools/gridstore/check/findings.h"

namespace gridmount::tools {

// Returns the names of all buckets, including buckets of which only some collections are left.
Result<std::set<std::string>> buckets_of(engine::Database& database, engine::Snapshot& snapshot);
// Returns the names of the buckets that a check or a repair examines. In a store that others use
// (Capabilities::exclusive is false), these are only buckets with both a collection of files and
// one of chunks, because a single such collection may belong to another application.
Result<std::set<std::string>> buckets_to_check(engine::Store& store, engine::Database& database,
                                               engine::Snapshot& snapshot);

// Returns true if the error means that the store is damaged, as opposed to a failing device or
// wrong use.
bool is_damage(const Error& error);

// Reads the whole bucket on `snapshot`. Memory use does not grow with the bucket: files and chunks
// are read side by side in the order of the file's id, through the bucket's indexes. If the index
// of the chunks is missing, this is a finding, and the chunks are sorted in memory. If there are
// too many chunks for that, the content is reported as not checked. While the store is `in_use`,
// chunks without a file that were made in the last 24 hours may belong to an upload that has not
// ended, so they are only a notice. If the snapshot shows changes by others
// (Capabilities::stable_snapshots is false), each problem is checked twice (recheck.h). Fails for
// errors of reading that do not concern a single document.
Status check_bucket(engine::Store& store, engine::Snapshot& snapshot,
                    const std::shared_ptr<engine::Database>& database, const std::string& bucket,
                    bool in_use, Findings& findings);

// Files and chunks that need repair.
struct ContentDamage {
  struct File {
    Location place;
    bson::Value id;
    FileVerdict verdict;
    bool is_detached_too = false;
    // The files document that was judged. Set if others may have changed it since.
    std::optional<bson::Document> document = {};
  };
  struct Orphans {
    bson::Value files_id;
    uint64_t chunks = 0;
    // Creation time of the newest of these chunks in seconds since 1970. Empty if their _ids do not
    // contain it.
    std::optional<uint32_t> made;
  };
  std::vector<File> files;
  std::vector<Orphans> orphans;
};

// Returns the first damaged files and orphans in the order of the files' ids. There are at most
// 1,000 of them, so that memory use does not grow with the damage. Orphans for which `passes_over`
// is true are skipped.
Result<ContentDamage> find_content_damage(
    const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Location& place,
    const std::function<bool(const ContentDamage::Orphans&)>& passes_over);

}  // namespace gridmount::tools
