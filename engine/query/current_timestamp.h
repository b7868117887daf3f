// The Timestamps that the store itself gives: those of $currentDate, and those that take the place
// of empty ones. Internal to the engine.
#pragma once

#include "engine/bson/document.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// Seconds since 1970, and a count that sets apart those of one second: no two are the same in this
// process, as with servers. Thread-safe.
bson::Timestamp current_timestamp();

// Timestamp(0, 0): an application leaves it to the store to fill it in. In an _id it does not.
bool is_to_be_filled_in(const bson::Element& element);
// The document with its top-level empty timestamps filled in.
bson::Document with_timestamps(bson::View document);

}  // namespace gridmount::query
