// The md5 of a file as it stands in the store.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "engine/bson/value.h"
#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

struct StoredMd5 {
  enum class Outcome {
    kSet,       // the files document has it now
    kNeedless,  // there is no such file, or it has one
    kChanged,   // the file was changed meanwhile
    kStopped,
  };
  Outcome outcome = Outcome::kNeedless;
  bson::Date upload_date;  // kSet: of the content it is the md5 of
  std::string md5;
};

// Reads the file on snapshots, a bounded time on each, and sets md5 in one transaction if length
// and uploadDate are still the same. Looks at `stop` now and then. Errors of damaged files:
// ChunkIsMissing and the like.
Result<StoredMd5> set_stored_md5(const Bucket& bucket, bson::ValueView id,
                                 const std::atomic<bool>& stop);

}  // namespace gridmount::gridfs
