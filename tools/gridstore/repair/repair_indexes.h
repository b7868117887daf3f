// Creates the indexes that a bucket lacks.
//
// Not thread-safe.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Creates each index that the bucket lacks. First drops the existing indexes that have the name or
// the keys of the missing one and cannot be used in its place. If the missing index is unique and
// several documents have the same key, keeps the document with the smallest _id, writes the others
// into the folder of kept documents (RepairContext::keep), and removes them from the collection. To
// find these documents, uses an index gridstore_repair for a time. Also drops such an index if an
// interrupted repair has left it. Reports what it does as findings about `place`, which names the
// bucket.
Status repair_indexes(RepairContext& context, const gridfs::Bucket& bucket, const Location& place);

}  // namespace gridmount::tools
