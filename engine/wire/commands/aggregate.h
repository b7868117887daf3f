// The arguments of aggregate, read for aggregate itself and for explain.
//
// Views point into the request. Not thread-safe: plain values.
#pragma once

#include "engine/wire/call.h"
#include "engine/wire/commands/cursor_reply.h"

namespace gridmount::wire {

struct AggregateCommand {
  engine::Namespace ns;     // {aggregate: 1} leaves its collection empty
  bson::Document pipeline;  // the array's elements, with $currentOp and the like already replaced
  bool explain = false;
  bool writes = false;               // ends with $out or $merge
  engine::AggregateOptions options;  // without variables and deadline
  bson::Document variables;
  CursorRequest cursor;

  static Result<AggregateCommand> read(Call& call, Arguments& arguments);

  // Returns the namespace that the reply names: "db.$cmd.aggregate" for {aggregate: 1}.
  engine::Namespace cursor_ns() const;
};

// Returns the privileges that the command needs on the collection itself. The privileges for
// everything else that the pipeline reads and writes are checked when the pipeline is parsed; see
// engine/aggregation/access.h.
std::vector<Privilege> aggregate_privileges(const Request& request);

}  // namespace gridmount::wire
