// Computes the md5 of a file from the store. Thread-safe.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "engine/bson/value.h"
#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

struct StoredMd5 {
  enum class Outcome {
    kSet,       // the files document now has the md5
    kNeedless,  // there is no such file, or it has an md5, or it is large and mostly a hole
    kChanged,   // the file was changed meanwhile
    kStopped,
  };
  Outcome outcome = Outcome::kNeedless;
  bson::Date upload_date;  // kSet: the uploadDate of the hashed content
  std::string md5;
};

// Reads the file on one snapshot after the other, each for a bounded time. Sets md5 in one
// transaction if length and uploadDate are still the same. Checks `stop` regularly, and if it is
// true ends with kStopped. Fails with ChunkIsMissing and similar errors for damaged files, and with
// the store's errors.
Result<StoredMd5> set_stored_md5(const Bucket& bucket, bson::ValueView id,
                                 const std::atomic<bool>& stop);

}  // namespace gridmount::gridfs
