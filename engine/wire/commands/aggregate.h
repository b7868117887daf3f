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

// The privilege on the collection itself. Of what the pipeline reaches beside it, it is asked for
// when it is parsed; see engine/aggregation/access.h.
std::vector<Privilege> aggregate_privileges(const Request& request);

}  // namespace gridmount::wire
