// Rechecks files and documents that a check has found damaged, in a store whose snapshots
// show changes by others (Capabilities::stable_snapshots). A file that was changed while it was
// checked may look damaged although it never was. So such a check reports only damage that a
// recheck confirms.
//
// Thread-safety: functions without state, if each call has a read view of its own.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/bson/value.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/check/file_check.h"

namespace gridmount::tools {

// Returns a copy of the document that matches, or nothing.
Result<std::optional<bson::Document>> read_one(engine::Collection& collection,
                                               engine::Snapshot& snapshot, bson::View filter);

// Returns true if the collection has exactly these bytes as the document with that _id.
Result<bool> is_unchanged(engine::Collection& collection, engine::Snapshot& snapshot,
                          bson::View document);

struct Recheck {
  enum class Kind {
    kGone,      // there is no files document
    kSound,     // the file was changed during the check, or is no longer damaged
    kDamaged,   // `verdict` and `is_detached_too` say how
    kChanging,  // changed during each recheck
  };
  Kind kind = Kind::kGone;
  FileVerdict verdict;
  Location place;
  bool is_detached_too = false;
  std::optional<bson::Document> document;  // the files document that was judged
};

// Checks one file. `garbage` are the chunks that its truncation has left. The verdict is about one
// state of the file: its files document, which every commit changes, was the same before and after
// its chunks were read.
Result<Recheck> recheck_file(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                             const Location& place, const bson::Value& id, const Garbage& garbage);

// Returns true if the store has chunks of this file, but neither a files document nor a document of
// `detached`.
Result<bool> are_orphans(const gridfs::Bucket& bucket, engine::Snapshot& snapshot,
                         const bson::Value& files_id);

}  // namespace gridmount::tools
