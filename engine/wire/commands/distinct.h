// Reads the arguments of distinct, for the command itself and for explain.
//
// Not thread-safe: a plain value.
#pragma once

#include "engine/store.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {

// `key`, `query` and the views in `options` refer to the request, which must outlive this object.
struct DistinctCommand {
  engine::Namespace ns;
  std::string_view key;
  bson::View query;
  engine::DistinctOptions options;  // the deadline is not set

  static Result<DistinctCommand> read(Arguments& arguments);
};

}  // namespace gridmount::wire
