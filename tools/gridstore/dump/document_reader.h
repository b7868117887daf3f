// BSON documents one behind the other in a file: all there is in a `.bson` file, and most of what
// there is in an archive, which has marks between them.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "tools/gridstore/dump/input_file.h"

namespace gridmount::tools {

class DocumentReader {
 public:
  // `file` outlives it.
  explicit DocumentReader(InputFile& file) : file_(file) {}

  enum class Found { kDocument, kMark, kEnd };
  // FailedToParse naming the file and the byte, for anything else. A mark, which is the length of
  // no document, is one only where `marks` says so.
  Result<Found> next(bool marks = false);
  // The document found last; valid until the next call.
  bson::View document() const { return document_; }
  // Where what was found last begins.
  uint64_t offset() const { return offset_; }

 private:
  InputFile& file_;
  uint64_t offset_ = 0;
  std::vector<uint8_t> bytes_;
  bson::View document_;
};

}  // namespace gridmount::tools
