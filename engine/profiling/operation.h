// The profiler's record of one operation, and a filter for these records.
// Source: MongoDB manual, "Database Profiler Output", "Set a Filter to Determine Profiled
// Operations".
//
// Thread-safety: values. While one thread changes an object, no other thread may use it.
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
  std::string op;  // "query", "getmore", "insert", "update", "remove", "command"
  engine::Namespace ns;
  bson::Document command;
  bson::Document counts;  // nreturned, nMatched, keysExamined and so on
  std::chrono::microseconds duration{0};
  std::string error = {};  // the error's message; empty if the operation succeeded
  int32_t error_code = 0;  // 0 if the operation succeeded
};

// Returns the operation's document for system.profile. Its `ts` is the time of this call. A command
// of more than 50,000 bytes is replaced by {$truncated: the name of the command}.
bson::Document entry_of(const Operation& operation);

class OperationFilter {
 public:
  // Parses a filter for the documents of system.profile. Fails as query::Filter::parse() does.
  static Result<OperationFilter> parse(bson::View specification);

  bool matches(const Operation& operation) const;
  // Returns the filter as servers show it, with an operator in each condition. The view is valid as
  // long as this object.
  bson::View shown() const { return shown_; }

 private:
  explicit OperationFilter(query::Filter filter) : filter_(std::move(filter)) {}

  query::Filter filter_;
  bson::Document shown_;
};

}  // namespace gridmount::profiling
