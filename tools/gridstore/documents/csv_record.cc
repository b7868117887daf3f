#include "tools/gridstore/documents/csv_record.h"

namespace gridmount::tools {

void append_csv_record(std::string& out, std::span<const std::string> fields) {
  bool is_first = true;
  for (const std::string& field : fields) {
    if (!is_first) out += ',';
    is_first = false;
    const bool needs_quotes = field.find_first_of(",\"\r\n") != std::string::npos ||
                              field.starts_with(' ') || field.starts_with('\t') ||
                              (field.empty() && fields.size() == 1);
    if (!needs_quotes) {
      out += field;
      continue;
    }
    out += '"';
    for (const char c : field) {
      if (c == '"') out += '"';
      out += c;
    }
    out += '"';
  }
  out += '\n';
}

Status CsvReader::count(size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kCsvRecordBytesMax) return {};
  return fail(ErrorCode::kFailedToParse, input_.place(line_) +
                                             ": the record that begins here has more than " +
                                             std::to_string(kCsvRecordBytesMax) + " bytes");
}

Result<bool> CsvReader::skip_line_end() {
  GM_ASSIGN(bool more, input_.more());
  if (!more) return true;
  if (input_.peek() == '\r') {
    input_.take();
    GM_ASSIGN(more, input_.more());
    if (more && input_.peek() == '\n') input_.take();
    return true;
  }
  if (input_.peek() != '\n') return false;
  input_.take();
  return true;
}

Result<std::optional<CsvReader::Record>> CsvReader::next() {
  // Skips empty lines.
  while (true) {
    GM_ASSIGN(const bool more, input_.more());
    if (!more) return std::optional<Record>();
    if (input_.peek() != '\n' && input_.peek() != '\r') break;
    input_.take();
  }
  line_ = input_.line();
  bytes_ = 0;
  problem_.clear();
  std::vector<std::string> fields;
  while (true) {
    GM_ASSIGN(std::string read, field());
    if (!problem_.empty()) {
      GM_TRY(input_.skip_line());
      Record record{line_, fail(ErrorCode::kFailedToParse, problem_)};
      return std::optional(std::move(record));
    }
    fields.push_back(std::move(read));
    GM_ASSIGN(const bool is_whole, skip_line_end());
    if (is_whole) return std::optional(Record{line_, std::move(fields)});
    input_.take();  // field() stops only at a comma or the end of a line
  }
}

// Reads up to a comma or the end of a line. Sets problem_ if the field is malformed.
Result<std::string> CsvReader::field() {
  std::string read;
  bool is_begun = false;
  while (true) {
    GM_ASSIGN(const bool more, input_.more());
    if (!more) return read;
    const char c = input_.peek();
    if (c == ',' || c == '\n' || c == '\r') return read;
    if (!is_begun && (c == ' ' || c == '\t')) {
      input_.take();
      continue;
    }
    if (c == '"') {
      if (!is_begun) return quoted_field();
      problem_ = "a field has a quotation mark, but does not begin with one";
      return read;
    }
    is_begun = true;
    read += input_.take();
    GM_TRY(count(1));
  }
}

Result<std::string> CsvReader::quoted_field() {
  const uint64_t begin = input_.line();
  std::string read;
  input_.take();
  while (true) {
    GM_ASSIGN(bool more, input_.more());
    if (!more) {
      return fail(
          ErrorCode::kFailedToParse,
          input_.place(begin) + ": the field in quotation marks that begins here does not end");
    }
    const char c = input_.take();
    if (c == '"') {
      GM_ASSIGN(more, input_.more());
      if (!more || input_.peek() != '"') break;
      input_.take();
    }
    read += c;
    GM_TRY(count(1));
  }
  GM_ASSIGN(const bool more, input_.more());
  if (more && std::string_view(",\r\n").find(input_.peek()) == std::string_view::npos) {
    problem_ = "text follows a field in quotation marks";
  }
  return read;
}

}  // namespace gridmount::tools
