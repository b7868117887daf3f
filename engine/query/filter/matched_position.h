// Finds the array element that makes a document match, for projections.
//
// Thread-safe: a function without state.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/bson/document.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

// Like Filter::matched_position(), but for `a.$` in a projection. For a projection, servers test
// the conditions in the order of the filter's specification. For an update, servers test the
// conditions in their own order.
std::optional<size_t> projected_position(const Filter& filter, bson::View document);

}  // namespace gridmount::query
