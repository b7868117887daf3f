// Reads the arguments of findAndModify, for the command itself and for explain.
//
// The views refer to the request, which must outlive them. Not thread-safe: plain values.
#pragma once

#include "engine/store.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {

struct FindAndModifyCommand {
  engine::Namespace ns;
  bson::View query;
  bson::View update;
  engine::FindAndModifyOptions options;  // without variables and deadline
  bson::Document variables;

  // Takes all fields of findAndModify, but not the generic arguments.
  static Result<FindAndModifyCommand> read(Arguments& arguments);
};

}  // namespace gridmount::wire
