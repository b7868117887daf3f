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

// The longest text of one document in JSON, eight times the size of the largest BSON document. If a
// text is longer, next() fails, and nothing after this text can be read.
inline constexpr uint64_t kDocumentTextBytesMax = 128 * 1024 * 1024;

struct ReadDocument {
  uint64_t line = 0;
  // The document, or the error in this piece of the input. The next document can still be read.
  Result<bson::Document> document;
};

class DocumentInput {
 public:
  virtual ~DocumentInput() = default;
  // Returns the next document, or nothing at the end. Fails, and names the line, if nothing after
  // this place can be read. Also fails as InputText::more() does.
  virtual Result<std::optional<ReadDocument>> next() = 0;

  DocumentInput(const DocumentInput&) = delete;
  DocumentInput& operator=(const DocumentInput&) = delete;

 protected:
  DocumentInput() = default;
};

// Reads objects in Extended JSON, with any space between them, or with `is_array` the objects of
// one array. `input` must outlive the result.
//
// An object ends at the brace that closes it, if none of these places comes before that brace:
// - the first line end within a string
// - the first '{' within the object, outside of strings, that does not follow ':', ',' or '['
// Only a malformed object has such a place, and ends there. next() reports a malformed object as
// wrong, and the following next() reads on from the end of the object.
//
// With `is_array`, next() fails if the input does not begin with '[', if an element is no object,
// if no comma or ']' follows an element, or if text follows the array. Without `is_array`, next()
// fails if the input begins with '['. Any other text in the place of an object is reported as wrong
// up to the end of its line, and the following next() reads on after this line.
std::unique_ptr<DocumentInput> json_input(InputText& input, bool is_array);

// Reads the records of a CSV file. `input` must outlive the result. If `names` is empty, the first
// record has the names of the columns: fails with FailedToParse if there is no such record or it is
// malformed. Fails with BadValue for names that CsvColumns::parse() refuses. CsvColumns::document()
// explains `ignore_blanks`.
Result<std::unique_ptr<DocumentInput>> csv_input(InputText& input, std::vector<std::string> names,
                                                 bool ignore_blanks);

}  // namespace gridmount::tools
