// Errors as they appear in replies: {ok: 0, errmsg, code, codeName} with the error's own fields,
// and the elements of writeErrors. A message may quote bytes of a client that are not UTF-8. Such
// bytes appear as \xff.
//
// Thread-safe: functions without state.
#pragma once

#include "engine/base/error.h"
#include "engine/bson/builder.h"

namespace gridmount::wire {

bson::Document error_reply(const Error& error);

// Appends errmsg, code, codeName and the error's own fields.
void append_error(bson::Builder& out, const Error& error);

}  // namespace gridmount::wire
