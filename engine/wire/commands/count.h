// Reads the arguments of count, for the command itself and for explain.
//
// The views refer to the request, which must outlive them. Not thread-safe: plain values.
#pragma once

#include "engine/store.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {

struct CountCommand {
  engine::Namespace ns;
  bson::View query;
  engine::CountOptions options;  // without a deadline

  static Result<CountCommand> read(Arguments& arguments);
};

}  // namespace gridmount::wire
