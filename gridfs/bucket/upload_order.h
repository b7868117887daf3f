// The orders in which a bucket's files documents are read: the sort documents of queries.
//
// Thread-safety: all functions are thread-safe. The results exist until the process ends.
#pragma once

#include "engine/bson/document.h"

namespace gridmount::gridfs {

// Sort by uploadDate. Readers of GridFS get the newest file of a name (GridFS specification,
// "Revisions").
const bson::Document& newest_first();
const bson::Document& oldest_first();
// Sorts by filename, and the files of one name by uploadDate, the oldest first. This is the order
// of the index {filename: 1, uploadDate: 1}.
const bson::Document& by_filename_oldest_first();

}  // namespace gridmount::gridfs
