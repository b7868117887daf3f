// What count and distinct are asked for, for themselves and for explain.
//
// Views point into the request. Thread-safety: values.
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

struct DistinctCommand {
  engine::Namespace ns;
  std::string_view key;
  bson::View query;
  engine::DistinctOptions options;  // without a deadline

  static Result<DistinctCommand> read(Arguments& arguments);
};

}  // namespace gridmount::wire
