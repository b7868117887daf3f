// The timestamps that the store generates for $currentDate and in place of empty timestamps.
// Internal to the engine. Thread-safety: the functions are thread-safe.
#pragma once

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// Returns the current time in seconds since 1970, and a counter that distinguishes timestamps in
// the same second. The timestamps of a process are all different, as on MongoDB servers.
bson::Timestamp current_timestamp();

// Returns whether the element is Timestamp(0, 0), which the store replaces by the current
// timestamp. Returns false for an _id, in which Timestamp(0, 0) is an ordinary value.
bool is_to_be_filled_in(const bson::Element& element);
// Returns a copy of the document in which the empty timestamps of top-level fields are replaced.
bson::Document with_timestamps(bson::View document);

}  // namespace gridmount::query
