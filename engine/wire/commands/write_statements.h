// Reads the arguments of update and delete, for the commands themselves and for explain.
//
// Views refer to the request. Not thread-safe: plain values.
#pragma once

#include <vector>

#include "engine/store.h"
#include "engine/wire/arguments.h"

namespace gridmount::wire {

struct UpdateStatement {
  bson::View filter;
  bson::View update;
  engine::UpdateOptions options;  // without variables and deadline
  bson::Document variables;
};

struct UpdateCommand {
  engine::Namespace ns;
  std::vector<bson::View> statements;
  bool ordered = true;
  bool bypass_validation = false;
  bson::Document variables;

  // Parses every statement once, so that an invalid statement fails the whole command.
  static Result<UpdateCommand> read(Arguments& arguments);
  Result<UpdateStatement> statement(size_t index) const;
};

struct DeleteStatement {
  bson::View filter;
  bool multi = false;
  engine::RemoveOptions options;  // without variables and deadline
};

struct DeleteCommand {
  engine::Namespace ns;
  std::vector<bson::View> statements;
  bool ordered = true;
  bson::Document variables;

  static Result<DeleteCommand> read(Arguments& arguments);
  Result<DeleteStatement> statement(size_t index) const;
};

}  // namespace gridmount::wire
