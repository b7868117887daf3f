#include "tools/gridstore/repair/repair_bucket.h"

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_files.h"
#include "tools/gridstore/repair/repair_folders.h"
#include "tools/gridstore/repair/repair_indexes.h"
#include "tools/gridstore/repair/repair_links.h"

namespace gridmount::tools {

Status repair_bucket(RepairContext& context, const std::shared_ptr<engine::Database>& database,
                     const std::string& name) {
  gridfs::BucketOptions options;
  options.name = name;
  const gridfs::Bucket bucket(context.store, database, options);
  const Place place{database->name(), name, {}, {}};
  // In this order: the others read along the indexes.
  GM_TRY(repair_indexes(context, bucket, place));
  GM_TRY(repair_folders(context, bucket, place));
  GM_TRY(repair_files(context, bucket, database, place));
  // Of files that went, too.
  return repair_links(context, bucket, place);
}

}  // namespace gridmount::tools
