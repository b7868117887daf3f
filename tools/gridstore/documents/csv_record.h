// Reads and writes the records of CSV files (RFC 4180). Debian has no library for CSV that is still
// maintained and reports line numbers.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "tools/gridstore/documents/input_text.h"

namespace gridmount::tools {

// Appends the record and a line feed. A field is put in quotation marks if it needs them: it holds
// a comma, a quotation mark or the end of a line, or begins with a space or a tab, or is the only
// field and is empty.
void append_csv_record(std::string& out, std::span<const std::string> fields);

// The maximum size of a record that is read: the bytes of its fields, without separators and
// quotation marks.
inline constexpr uint64_t kCsvRecordBytesMax = 64 * 1024 * 1024;

class CsvReader {
 public:
  // `input` must outlive the reader.
  explicit CsvReader(InputText& input) : input_(input) {}

  struct Record {
    uint64_t line = 0;  // on which it begins
    // The fields, or the error in the record. The next record can still be read.
    Result<std::vector<std::string>> fields;
  };
  // Returns the next record, or nothing at the end. Leaves out empty lines, and spaces and tabs
  // before a field, as mongoimport does. Fails with FailedToParse, and names the line, if a field
  // in quotation marks does not end or a record is too large. Also fails as InputText::more() does.
  Result<std::optional<Record>> next();

 private:
  Result<std::string> field();
  Result<std::string> quoted_field();
  // Skips the end of a line. Returns false if another character comes next, and true at the end of
  // the input.
  Result<bool> skip_line_end();
  Status count(size_t bytes);

  InputText& input_;
  uint64_t line_ = 0;   // on which the record begins
  uint64_t bytes_ = 0;  // of the record's fields
  std::string problem_;
};

}  // namespace gridmount::tools
