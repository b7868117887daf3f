// Timestamps that the store generates: for $currentDate, and in place of empty timestamps. Internal
// to the engine.
#pragma once

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// Returns the seconds since 1970 and a counter that distinguishes timestamps of the same second. No
// two timestamps of a process are equal, as on MongoDB servers. Thread-safe.
bson::Timestamp current_timestamp();

// Returns whether the element is Timestamp(0, 0), which asks the store for the current timestamp.
// False for an _id, where Timestamp(0, 0) is an ordinary value.
bool is_to_be_filled_in(const bson::Element& element);
// Returns a copy of the document with its empty top-level timestamps filled in.
bson::Document with_timestamps(bson::View document);

}  // namespace gridmount::query
