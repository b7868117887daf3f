// Rechecks files and documents that a check has found damaged, in a store whose snapshots show
// changes by others (Capabilities::stable_snapshots is false). A sound file may look damaged if
// somebody changes it during the check. So in such a store, a check reports only damage that a
// recheck confirms.
//
// Thread-safety: functions without state. Each thread needs a Snapshot of its own.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/bson/value.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/file_check.h"

namespace gridmount::tools {

// Returns a copy of a document that matches the filter, or nothing if there is none.
Result<std::optional<bson::Document>> read_one(engine::Collection& collection,
                                               engine::Snapshot& snapshot, bson::View filter);

// Returns true if the collection has exactly these bytes as the document with that _id.
Result<bool> is_unchanged(engine::Collection& collection, engine::Snapshot& snapshot,
                          bson::View document);

struct Recheck {
  enum class Kind {
    kGone,      // there is no files document
    kSound,     // the file only looked damaged, or is no longer damaged
    kDamaged,   // `verdict` and `is_detached_too` say how
    kChanging,  // the file was changed during each recheck
  };
  Kind kind = Kind::kGone;
  FileVerdict verdict;
  Location place;
  bool is_detached_too = false;
  std::optional<bson::Document> document;  // the files document that was checked
};

// Checks one file again. `garbage` is the range of chunks that a truncation has left. The verdict
// is about one state of the file: the files document, which every commit changes, was the same
// before and after the chunks were read.
Result<Recheck> recheck_file(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                             const Location& place, const bson::Value& id, const Garbage& garbage);

// Returns true if the store has chunks of this file, but no document of the file in `files` or
// `detached`.
Result<bool> are_orphans(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                         const bson::Value& files_id);

}  // namespace gridmount::tools
