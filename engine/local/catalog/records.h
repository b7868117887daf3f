// Reading and writing the records of a collection in the trees.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"

namespace gridmount::local {

// Nothing if there is no such record.
Result<std::optional<std::string_view>> get_record(const Trees& trees, const Range& records,
                                                   RecordId id);

// Copies the document into the record's place in the tree. `at_end` for a new record.
Status put_record(Trees& trees, const Range& records, RecordId id, bson::View document,
                  bool at_end);

}  // namespace gridmount::local
