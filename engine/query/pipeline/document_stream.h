// A sequence of documents that is read one document at a time: the input or the output of a
// pipeline. Thread-safety: a stream must be used by one thread at a time.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

// After an error, next() must not be called again, except after DataCorruptionDetected: a reader
// may then continue after the damage (engine/store.h).
class DocumentStream {
 public:
  virtual ~DocumentStream() = default;
  // Returns the next document, which is valid until the next call. Returns nullopt at the end, and
  // in each call after the end.
  virtual Result<std::optional<bson::View>> next() = 0;
  // Returns the score that a text search gave the last document that next() has returned, for
  // {$meta: "textScore"}. Returns nullopt if this document has no score.
  virtual std::optional<double> text_score() const { return std::nullopt; }
};

}  // namespace gridmount::query
