// One bucket of one database, as GridFS has it: indexes, files, chunks, and our folders and
// detached files beside them.
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

// The names of all buckets, also of those of which only orphans are left.
Result<std::set<std::string>> buckets_of(engine::Database& database, engine::Snapshot& snapshot);

// A failure that says that the store is damaged, not the device or its use.
bool is_damage(const Error& error);

// Reads the whole bucket on `snapshot`. Memory does not grow with it: files and chunks are read
// side by side in the order of the file's id, through the bucket's indexes. A bucket without the
// chunks' index, which is a finding, is sorted in memory as far as that goes; beyond it the content
// is reported as not checked. While the store is `in_use`, chunks without a file that were made
// lately may be of an upload that has not ended, and are worth a notice only. An error is one of
// reading that is no finding about a document.
Status check_bucket(engine::Store& store, engine::Snapshot& snapshot,
                    const std::shared_ptr<engine::Database>& database, const std::string& bucket,
                    bool in_use, Findings& findings);

// Files and chunks that need mending.
struct ContentDamage {
  struct File {
    Place place;
    bson::Value id;
    FileVerdict verdict;
    bool is_detached_too = false;
  };
  struct Orphans {
    bson::Value files_id;
    uint64_t chunks = 0;
    // When the newest of them was made, seconds since 1970; nothing if their _ids do not tell.
    std::optional<uint32_t> made;
  };
  std::vector<File> files;
  std::vector<Orphans> orphans;
};

// The first of them in the order of the files' ids, so many that memory does not grow with the
// damage. `passes_over` says of orphans that they are to be left where they are.
Result<ContentDamage> find_content_damage(
    const gridfs::Bucket& bucket, engine::Snapshot& snapshot, const Place& place,
    const std::function<bool(const ContentDamage::Orphans&)>& passes_over);

}  // namespace gridmount::tools
