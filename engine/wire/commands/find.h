// Reads the arguments of find, for find itself and for explain.
//
// Not thread-safe: plain values. Each bson::View in a FindCommand refers to bytes of the request,
// which must outlive the FindCommand.
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

// Returns true if a tailable cursor on the collection stays open: the collection is capped and has
// a document. Returns false if the collection is empty or missing: the cursor then ends with the
// first batch. Fails with BadValue for a collection that is not capped, and with
// InvalidPipelineOperator for a view.
Result<bool> can_be_tailed(engine::Database& database, engine::Snapshot& snapshot,
                           const engine::Namespace& ns);

}  // namespace gridmount::wire
