// Arguments that several commands share: hints, the variables of `let`, unsupported options, arrays
// of documents.
//
// Thread-safe: functions without state.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {

// Reads an index name or a key pattern. An empty document counts as no hint. Fails with
// FailedToParse for other types.
Result<std::optional<bson::Value>> read_hint(Arguments& arguments);

// Evaluates the variables of `let` and returns their values by name. Update's `c` has the same
// form.
Result<bson::Document> read_let(Arguments& arguments);

// Fails with CommandNotSupported (115) if the option has a value that would have an effect. False
// and an empty document have none.
Status refuse_option(Arguments& arguments, std::string_view name);

// Fails unless every element of the array is a document.
Status check_documents(const Arguments& arguments, std::string_view name, bson::View array);

}  // namespace gridmount::wire
