// Options of a stage that stand in it twice. Internal to this folder.
//
// Thread-safety: a function without state.
#pragma once

#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

// Code 40413 for a key that the document has more than once; `path` is what errors call the
// document ("$merge"). Whoever looks at one of two equal keys and acts on the other one is
// deceived.
Status check_given_once(std::string_view path, bson::View options);

}  // namespace gridmount::query
