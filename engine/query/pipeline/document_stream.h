// A sequence of documents, read one at a time: the input and the output of pipelines.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

// Used by one thread at a time. After an error next() must not be called again.
class DocumentStream {
 public:
  virtual ~DocumentStream() = default;
  // Returns the next document, valid until the next call. Returns nullopt at the end, and also if
  // it is called again after that.
  virtual Result<std::optional<bson::View>> next() = 0;
};

}  // namespace gridmount::query
