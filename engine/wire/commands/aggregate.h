// The arguments of aggregate, read for aggregate itself and for explain.
//
// AggregateCommand owns what it holds, so the request need not outlive it. Not thread-safe: plain
// values.
#pragma once

#include "engine/wire/call.h"
#include "engine/wire/commands/cursor_reply.h"

namespace gridmount::wire {

struct AggregateCommand {
  engine::Namespace ns;  // {aggregate: 1} leaves its collection empty
  // The array of stages. A first stage $currentOp or $listLocalSessions has already been replaced
  // by a stage $documents that holds its result.
  bson::Document pipeline;
  bool explain = false;
  bool writes = false;               // ends with $out or $merge
  engine::AggregateOptions options;  // read() sets only `hint` and `bypass_validation`
  bson::Document variables;          // `let`
  CursorRequest cursor;

  // Fails with the codes of servers if an argument is missing or malformed, and with the error of
  // check_privilege() if the user may not run $currentOp or $listLocalSessions. Does not refuse
  // unknown arguments: the caller must call arguments.finish().
  static Result<AggregateCommand> read(Call& call, Arguments& arguments);

  // Returns the namespace that the reply names: "db.$cmd.aggregate" for {aggregate: 1}.
  engine::Namespace cursor_ns() const;
};

// Returns the privileges that the command needs on the collection itself. The privileges for
// everything else that the pipeline reads and writes are checked when the pipeline is parsed; see
// engine/aggregation/access.h.
std::vector<Privilege> aggregate_privileges(const Request& request);

}  // namespace gridmount::wire
