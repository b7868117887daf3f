// What is told of one operation, and a condition on it.
// Source: MongoDB manual, "Database Profiler Output", "Set a Filter to Determine Profiled
// Operations".
//
// Thread-safety: as for any value type.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/query/filter/filter.h"
#include "engine/store.h"

namespace gridmount::profiling {

struct Operation {
  std::string op;  // "query", "insert", "update", "remove", "command"
  engine::Namespace ns;
  bson::Document command;
  bson::Document counts;  // nreturned, nMatched, keysExamined and the like
  std::chrono::microseconds duration{0};
  std::string error = {};  // the message, if it failed
  int32_t error_code = 0;
};

// The document in system.profile.
bson::Document entry_of(const Operation& operation);

class OperationFilter {
 public:
  // Of that document's fields. Errors are Filter::parse()'s.
  static Result<OperationFilter> parse(bson::View specification);

  bool matches(const Operation& operation) const;
  // As servers show it: each condition with its operator.
  bson::View shown() const { return shown_; }

 private:
  explicit OperationFilter(query::Filter filter) : filter_(std::move(filter)) {}

  query::Filter filter_;
  bson::Document shown_;
};

}  // namespace gridmount::profiling
