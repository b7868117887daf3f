// The documents of a file for `import`, one after the other, with the lines on which they begin.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "tools/gridstore/documents/csv_columns.h"
#include "tools/gridstore/documents/csv_record.h"
#include "tools/gridstore/documents/input_text.h"

namespace gridmount::tools {

// The longest text of a document. Extended JSON is at most several times as long as BSON.
inline constexpr uint64_t kDocumentTextBytesMax = 128 * 1024 * 1024;

struct ReadDocument {
  uint64_t line = 0;
  // The document, or what is wrong with this piece of the input. The next one can still be read.
  Result<bson::Document> document;
};

class DocumentInput {
 public:
  virtual ~DocumentInput() = default;
  // Returns the next document, or nothing at the end. Fails, and names the line, if nothing after
  // this place can be read.
  virtual Result<std::optional<ReadDocument>> next() = 0;

  DocumentInput(const DocumentInput&) = delete;
  DocumentInput& operator=(const DocumentInput&) = delete;

 protected:
  DocumentInput() = default;
};

// Reads objects in Extended JSON, with any space between them, or with `is_array` the objects of
// one array. `input` must outlive the result. A malformed object ends where its line ends within a
// string, or where another object begins that cannot be a part of it.
std::unique_ptr<DocumentInput> json_input(InputText& input, bool is_array);

// Reads the records of a CSV file. `input` must outlive the result. If `names` is empty, the first
// record has the names of the columns. Fails with BadValue or FailedToParse for wrong names.
Result<std::unique_ptr<DocumentInput>> csv_input(InputText& input, std::vector<std::string> names,
                                                 bool ignore_blanks);

}  // namespace gridmount::tools
