// The profiler's record of one operation, and a filter for such records.
// Source: MongoDB manual, "Database Profiler Output", "Set a Filter to Determine Profiled
// Operations".
//
// Thread-safety: values. Not thread-safe for concurrent writes.
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
  bson::Document counts;  // nreturned, nMatched, keysExamined and so on
  std::chrono::microseconds duration{0};
  std::string error = {};  // the error message, if it failed
  int32_t error_code = 0;
};

// Returns the document for system.profile.
bson::Document entry_of(const Operation& operation);

class OperationFilter {
 public:
  // Parses a filter over the fields of the document in system.profile. Errors are those of
  // Filter::parse().
  static Result<OperationFilter> parse(bson::View specification);

  bool matches(const Operation& operation) const;
  // Returns the filter as servers show it: each condition with its operator.
  bson::View shown() const { return shown_; }

 private:
  explicit OperationFilter(query::Filter filter) : filter_(std::move(filter)) {}

  query::Filter filter_;
  bson::Document shown_;
};

}  // namespace gridmount::profiling
