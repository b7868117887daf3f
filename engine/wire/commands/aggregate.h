// What aggregate is asked for, for itself and for explain.
//
// Views point into the request. Thread-safety: values.
#pragma once

#include "engine/wire/call.h"
#include "engine/wire/commands/cursor_reply.h"

namespace gridmount::wire {

struct AggregateCommand {
  engine::Namespace ns;     // its collection is empty for {aggregate: 1}
  bson::Document pipeline;  // the elements of the array, $currentOp and its like replaced
  bool explain = false;
  bool writes = false;               // it ends with $out or $merge
  engine::AggregateOptions options;  // without variables and deadline
  bson::Document variables;
  CursorRequest cursor;

  static Result<AggregateCommand> read(Call& call, Arguments& arguments);

  // What the reply calls the namespace: "db.$cmd.aggregate" over no collection.
  engine::Namespace cursor_ns() const;
};

// The privileges of a pipeline: what it reads beside its own collection, and what it writes.
std::vector<Privilege> aggregate_privileges(const Request& request);

}  // namespace gridmount::wire
