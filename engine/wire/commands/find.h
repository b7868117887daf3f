// The arguments of find, read for find itself and for explain.
//
// Views point into the request. Not thread-safe: plain values.
#pragma once

#include "engine/wire/call.h"
#include "engine/wire/commands/cursor_reply.h"

namespace gridmount::wire {

struct FindCommand {
  engine::Namespace ns;
  bson::View filter;
  engine::FindOptions options;  // without variables and deadline
  bson::Document variables;
  CursorRequest cursor;

  // Takes all fields of find, but not the generic arguments.
  static Result<FindCommand> read(Arguments& arguments);
};

}  // namespace gridmount::wire
