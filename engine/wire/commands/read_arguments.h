// Arguments that several commands share: hint, let, the order and part of what is read.
//
// Thread-safety: values and functions without state.
#pragma once

#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {

// A name or a key pattern; an empty document stands for none. FailedToParse otherwise.
Result<std::optional<bson::Value>> read_hint(Arguments& arguments);

// The values of `let`'s variables by name, and of more of them (update's `c`).
Result<bson::Document> read_let(Arguments& arguments);

// A field that is refused by its name wherever it means something: CommandNotSupported (115). False
// and empty documents mean nothing.
Status refuse_option(Arguments& arguments, std::string_view name);

// The elements of an array of documents.
Status check_documents(const Arguments& arguments, std::string_view name, bson::View array);

}  // namespace gridmount::wire
