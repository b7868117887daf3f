// What find is asked for, for find itself and for explain.
//
// Views point into the request. Thread-safety: values.
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

  // Takes all fields of the command, but not those of every command.
  static Result<FindCommand> read(Arguments& arguments);
};

}  // namespace gridmount::wire
