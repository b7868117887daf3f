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

// Returns true if a tailable cursor stays open. For that the collection must be capped and have at
// least one document. A cursor on an empty or missing collection ends at once. Fails with BadValue
// for a collection that is not capped, and with InvalidPipelineOperator for a view.
Result<bool> can_be_tailed(engine::Database& database, engine::Snapshot& snapshot,
                           const engine::Namespace& ns);

}  // namespace gridmount::wire
