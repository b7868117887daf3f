#include "tools/gridstore/repair/repair_bucket.h"

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_directories.h"
#include "tools/gridstore/repair/repair_files.h"
#include "tools/gridstore/repair/repair_indexes.h"
#include "tools/gridstore/repair/repair_links.h"

namespace gridmount::tools {

Status repair_bucket(RepairContext& context, const std::shared_ptr<engine::Database>& database,
                     const std::string& name) {
  gridfs::BucketOptions options;
  options.name = name;
  const gridfs::Bucket bucket(context.store, database, options);
  const Location place{database->name(), name, {}, {}};
  // The indexes come first, because the other steps read through them.
  GM_TRY(repair_indexes(context, bucket, place));
  GM_TRY(repair_directories(context, bucket, place));
  GM_TRY(repair_files(context, bucket, database, place));
  // Links come last, because they may lead to files that the steps before have removed.
  return repair_links(context, bucket, place);
}

}  // namespace gridmount::tools
