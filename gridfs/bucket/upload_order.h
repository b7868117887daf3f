// The orders in which a bucket's files documents are read: the sort documents of queries.
//
// Thread-safety: all functions are thread-safe. The results exist until the process ends.
#pragma once

#include "engine/bson/document.h"

namespace gridmount::gridfs {

// By uploadDate. The newest file of a name is the one that readers of GridFS get (GridFS
// specification, "Revisions").
const bson::Document& newest_first();
const bson::Document& oldest_first();
// By filename, and files of one name with the oldest first. This is the order of the index
// {filename: 1, uploadDate: 1}.
const bson::Document& by_filename_oldest_first();

}  // namespace gridmount::gridfs
