// Refuses an option that occurs more than once in a stage. Internal to engine/query.
//
// Thread-safety: a function without state.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

// Fails with code 40413 if `options` has a key more than once. `path` is the name of the document
// in the error's message, such as "$merge". If duplicates were accepted, one function could check
// the first value and another function use the second one.
Status check_given_once(std::string_view path, bson::View options);

}  // namespace gridmount::query
