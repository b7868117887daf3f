// Reads and writes the records of a collection in the trees.
//
// Thread-safety: that of the Trees passed in, which belong to one Snapshot or Transaction.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

// Returns nothing if there is no such record.
Result<std::optional<std::string_view>> get_record(const Trees& trees, const Keyspace& records,
                                                   RecordId id);

// Copies the document into its record in the tree. `at_end` must be true for a new record.
Status put_record(Trees& trees, const Keyspace& records, RecordId id, bson::View document,
                  bool at_end);

}  // namespace gridmount::local
