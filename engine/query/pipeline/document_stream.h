// Documents one after the other, as whoever reads them asks: what goes into a pipeline and what
// comes out.
#pragma once

#include <optional>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::query {

// Used by one thread at a time. After an error next() is not called again.
class DocumentStream {
 public:
  virtual ~DocumentStream() = default;
  // The next document, valid until the next call, or nothing at the end. At the end it may be
  // called again and gives nothing again.
  virtual Result<std::optional<bson::View>> next() = 0;
};

}  // namespace gridmount::query
