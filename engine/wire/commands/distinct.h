// Reads the arguments of distinct, for the command itself and for explain.
//
// Views refer to the request. Not thread-safe: plain values.
#pragma once

#include "engine/store.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {

struct DistinctCommand {
  engine::Namespace ns;
  std::string_view key;
  bson::View query;
  engine::DistinctOptions options;  // without a deadline

  static Result<DistinctCommand> read(Arguments& arguments);
};

}  // namespace gridmount::wire
