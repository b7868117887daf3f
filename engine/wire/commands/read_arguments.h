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

// Reads `hint`, which is an index name or a key pattern. Returns nothing if `hint` is missing or an
// empty document. Fails with FailedToParse if `hint` is neither a string nor a document, also for
// null and undefined.
Result<std::optional<bson::Value>> read_hint(Arguments& arguments);

// Evaluates the expressions of `let`, and returns {name: value, ...}. Fails as
// query::evaluate_let() and query::Collator::parse() do, and with the error of Arguments if `let`
// is not a document.
Result<bson::Document> read_let(Arguments& arguments, bson::View collation = {});

// Takes the option. Fails with CommandNotSupported (115) unless the option is missing, null,
// undefined, false, 0 or an empty document, which have no effect.
Status refuse_option(Arguments& arguments, std::string_view name);

// Fails with TypeMismatch unless every element of the array is a document.
Status check_documents(const Arguments& arguments, std::string_view name, bson::View array);

}  // namespace gridmount::wire
