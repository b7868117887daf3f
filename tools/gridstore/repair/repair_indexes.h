// Creates the indexes that a bucket lacks.
//
// Not thread-safe.
#pragma once

#include "gridfs/bucket/bucket.h"
#include "tools/gridstore/repair/repair_context.h"

namespace gridmount::tools {

// Creates each index that the bucket lacks. First drops the existing indexes that have the name or
// the keys of the missing index and cannot be used in place of it. If the missing index is unique
// and several documents have the same key, keeps the document with the smallest _id, writes the
// other documents into the folder of kept documents (RepairContext::keep), and removes them from
// the collection. Finds these documents with a temporary index, gridstore_repair. If an interrupted
// repair has left this index, drops it before it creates the missing index. Reports each change as
// a finding about `place`, which must name the bucket. In a store that others use, skips a document
// that they have removed meanwhile, or that is now the only one with its key.
Status repair_indexes(RepairContext& context, const gridfs::Bucket& bucket, const Location& place);

}  // namespace gridmount::tools
