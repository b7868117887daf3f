// The array element by which a document matches, as projections count it.
//
// Thread-safe: a function without state.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/bson/document.h"
#include "engine/query/filter/filter.h"

namespace gridmount::query {

// Like Filter::matched_position(), for `a.$` in a projection. Servers test the conditions for a
// projection in the order of the filter's specification, for an update in an order of their own.
std::optional<size_t> projected_position(const Filter& filter, bson::View document);

}  // namespace gridmount::query
