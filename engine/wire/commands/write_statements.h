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
  engine::UpdateOptions options;  // `variables` and `deadline` are not set
  bson::Document variables;
};

struct UpdateCommand {
  engine::Namespace ns;
  std::vector<bson::View> statements;
  bool ordered = true;
  bool bypass_validation = false;
  bson::Document variables;

  // Reads the command. Also checks the fields of every statement, and the names of the stages in
  // pipelines. So an invalid field fails the whole command before any statement has run. Does not
  // parse the filters and updates themselves.
  static Result<UpdateCommand> read(Arguments& arguments);
  Result<UpdateStatement> statement(size_t index) const;
};

struct DeleteStatement {
  bson::View filter;
  bool multi = false;
  engine::RemoveOptions options;  // `variables` and `deadline` are not set
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
