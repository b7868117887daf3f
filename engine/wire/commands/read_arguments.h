// Reads arguments that several commands have: hints, the variables of `let`, unsupported options,
// arrays of documents.
//
// Thread-safe: functions without state.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {

// Reads `hint`, which is an index name or a key pattern. Returns nothing if it is missing or an
// empty document. Fails with FailedToParse for other types, also for null and undefined.
Result<std::optional<bson::Value>> read_hint(Arguments& arguments);

// Evaluates the expressions of `let`, and returns {name: value, ...}. The field `c` of an update
// statement has the same form.
Result<bson::Document> read_let(Arguments& arguments, bson::View collation = {});

// Takes the option. Fails with CommandNotSupported (115) unless its value would have no effect, as
// false, 0 and an empty document have none.
Status refuse_option(Arguments& arguments, std::string_view name);

// Fails unless every element of the array is a document.
Status check_documents(const Arguments& arguments, std::string_view name, bson::View array);

}  // namespace gridmount::wire
