// One bucket of one database, as GridFS has it: indexes, files, chunks, and our folders and
// detached files beside them.
#pragma once

#include "engine/store.h"
#include "tools/gridstore/findings.h"

namespace gridmount::tools {

// Reads the whole bucket on `snapshot`. Memory does not grow with it: files and chunks are read
// side by side in the order of the file's id, through the bucket's indexes. A bucket without the
// chunks' index, which is a finding, is sorted in memory as far as that goes; beyond it the content
// is reported as not checked. While the store is `in_use`, chunks without a file that were made
// lately may be of an upload that has not ended, and are worth a notice only. An error is one of
// reading that is no finding about a document.
Status check_bucket(engine::Store& store, engine::Snapshot& snapshot,
                    const std::shared_ptr<engine::Database>& database, const std::string& bucket,
                    bool in_use, Findings& findings);

}  // namespace gridmount::tools
