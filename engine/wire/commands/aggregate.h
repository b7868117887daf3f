// The arguments of aggregate, read for aggregate itself and for explain.
//
// An AggregateCommand owns its documents, except `options.collation`, which refers to the request.
// Not thread-safe: plain values.
#pragma once

#include "engine/wire/call.h"
#include "engine/wire/commands/cursor_reply.h"

namespace gridmount::wire {

struct AggregateCommand {
  engine::Namespace ns;  // for {aggregate: 1} the collection's name is empty
  // The array of stages. If the first stage was $currentOp or $listLocalSessions, it has been
  // replaced by a stage $documents with its result.
  bson::Document pipeline;
  bool explain = false;
  bool writes = false;               // has $out or $merge, wherever it is in the pipeline
  engine::AggregateOptions options;  // read() sets only `hint`, `bypass_validation` and `collation`
  bson::Document variables;          // `let`
  CursorRequest cursor;

  // Fails with the codes of servers if an argument is missing or malformed, with APIStrictError
  // (323) if {apiStrict: true} forbids a stage, and with the error of check_privilege() if the user
  // may not run $currentOp or $listLocalSessions. Does not refuse unknown arguments: the caller
  // must call arguments.finish().
  static Result<AggregateCommand> read(Call& call, Arguments& arguments);

  // Returns the namespace for the reply, which is "db.$cmd.aggregate" for {aggregate: 1}.
  engine::Namespace cursor_ns() const;
};

// Returns the privileges that the command needs for the collection itself. Those for everything
// else that the pipeline reads and writes are checked when the pipeline is parsed: see
// engine/aggregation/access.h.
std::vector<Privilege> aggregate_privileges(const Request& request);

}  // namespace gridmount::wire
