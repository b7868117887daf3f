// Builds error replies, {ok: 0, errmsg, code, codeName, ...}. The last fields are those of
// Error::details(). A message may quote bytes of a client that are not UTF-8. The reply has \x and
// two hexadecimal digits for each such byte.
//
// Thread-safe: functions without state.
#pragma once

#include "engine/base/error.h"
#include "engine/bson/builder.h"

namespace gridmount::wire {

bson::Document error_reply(const Error& error);

// Appends errmsg, code, codeName and the fields of Error::details().
void append_error(bson::Builder& out, const Error& error);

}  // namespace gridmount::wire
