// Reads consecutive BSON documents from a file. A `.bson` file has nothing else. An archive also
// has marks between documents.
//
// Not thread-safe.
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
  // `file` must outlive the reader.
  explicit DocumentReader(InputFile& file) : file_(file) {}

  enum class Found { kDocument, kMark, kEnd };
  // Finds the next document, a mark or the end of the file. Accepts a mark only if `marks` is true.
  // A mark is a number that differs from every possible length of a document. Fails with
  // FailedToParse for anything else, and for an invalid document. The message then has the name of
  // the file and the offset of the byte. Fails as InputFile::read() does.
  Result<Found> next(bool marks = false);
  // Returns the document found last, which is valid until the next call of next().
  bson::View document() const { return document_; }
  // Returns the offset at which the last thing found begins.
  uint64_t offset() const { return offset_; }

 private:
  InputFile& file_;
  uint64_t offset_ = 0;
  std::vector<uint8_t> bytes_;
  bson::View document_;
};

}  // namespace gridmount::tools
