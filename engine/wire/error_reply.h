// How errors stand in replies: {ok: 0, errmsg, code, codeName} with the error's own fields, and the
// elements of writeErrors. A message that is not UTF-8, which quotes what a client sent, has the
// bytes that are not as \xff.
//
// Thread-safety: functions without state.
#pragma once

#include "engine/base/error.h"
#include "engine/bson/builder.h"

namespace gridmount::wire {

bson::Document error_reply(const Error& error);

// errmsg, code, codeName and what else the error says.
void append_error(bson::Builder& out, const Error& error);

}  // namespace gridmount::wire
