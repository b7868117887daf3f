#include "tools/gridstore/documents/document_input.h"

#include <string_view>
#include <utility>

#include "engine/bson/json.h"

namespace gridmount::tools {

namespace {

using Next = Result<std::optional<ReadDocument>>;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

class JsonInput final : public DocumentInput {
 public:
  JsonInput(InputText& input, bool is_array) : input_(input), is_array_(is_array) {}

  Next next() override {
    if (is_array_) {
      GM_ASSIGN(const bool is_element, to_next_element());
      if (!is_element) return std::optional<ReadDocument>();
    }
    GM_ASSIGN(const bool more, skip_space());
    if (!more && is_array_) return refuse("the array does not end");
    if (!more) return std::optional<ReadDocument>();
    const uint64_t line = input_.line();
    if (input_.peek() != '{') return no_document(line);
    GM_TRY(read_object(line));
    return std::optional(ReadDocument{line, bson::document_from_json(text_)});
  }

 private:
  Result<bool> skip_space() {
    while (true) {
      GM_ASSIGN(const bool more, input_.more());
      if (!more || !is_space(input_.peek())) return more;
      input_.take();
    }
  }

  tl::unexpected<Error> refuse(const std::string& what) const {
    return fail(ErrorCode::kFailedToParse, input_.place(input_.line()) + ": " + what);
  }

  // Skips the brackets and commas of the array. Returns false at its end.
  Result<bool> to_next_element() {
    GM_ASSIGN(bool more, skip_space());
    if (!begun_) {
      if (!more || input_.peek() != '[') {
        return refuse("an array was expected here, because of --json-array");
      }
      input_.take();
      begun_ = true;
      GM_ASSIGN(more, skip_space());
      if (more && input_.peek() != ']') return true;
    }
    if (!more) return refuse("the array does not end");
    const char c = input_.take();
    if (c == ',') return true;
    if (c != ']') return refuse("a comma or ']' is missing");
    GM_ASSIGN(more, skip_space());
    if (more) return refuse("there is text after the array");
    return false;
  }

  Next no_document(uint64_t line) {
    if (is_array_) return refuse("a document was expected here");
    if (input_.peek() == '[' && !begun_) {
      return refuse("the documents are in an array: use --json-array");
    }
    begun_ = true;
    GM_TRY(input_.skip_line());
    return std::optional(ReadDocument{
        line,
        fail(ErrorCode::kFailedToParse, "a document was expected here; the line is skipped")});
  }

  // Reads an object into text_, up to the brace that closes it, or up to the place where a
  // malformed object ends (json_input()).
  Status read_object(uint64_t line) {
    begun_ = true;
    text_.clear();
    size_t depth = 0;
    bool in_string = false;
    char last = '\0';  // outside of strings and spaces
    while (true) {
      GM_ASSIGN(const bool more, input_.more());
      if (!more) return {};
      const char c = input_.peek();
      if (in_string && c == '\n') return {};
      const bool may_begin_object = depth == 0 || last == ':' || last == ',' || last == '[';
      if (!in_string && c == '{' && !may_begin_object) return {};
      text_ += input_.take();
      if (text_.size() > kDocumentTextBytesMax) {
        return fail(ErrorCode::kFailedToParse,
                    input_.place(line) + ": the document that begins here has more than " +
                        std::to_string(kDocumentTextBytesMax) + " bytes of text");
      }
      if (in_string) {
        if (c == '\\') {
          GM_ASSIGN(const bool is_escape, input_.more());
          if (is_escape && input_.peek() != '\n') text_ += input_.take();
        }
        in_string = c != '"';
        continue;
      }
      if (is_space(c)) continue;
      last = c;
      if (c == '"') in_string = true;
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) return {};
    }
  }

  InputText& input_;
  const bool is_array_;
  bool begun_ = false;
  std::string text_;  // of the document
};

class CsvInput final : public DocumentInput {
 public:
  CsvInput(CsvReader reader, CsvColumns columns, bool ignore_blanks)
      : reader_(reader), columns_(std::move(columns)), ignore_blanks_(ignore_blanks) {}

  Next next() override {
    GM_ASSIGN(const std::optional<CsvReader::Record> record, reader_.next());
    if (!record) return std::optional<ReadDocument>();
    if (!record->fields)
      return std::optional(ReadDocument{record->line, fail(record->fields.error())});
    return std::optional(
        ReadDocument{record->line, columns_.document(*record->fields, ignore_blanks_)});
  }

 private:
  CsvReader reader_;
  const CsvColumns columns_;
  const bool ignore_blanks_;
};

}  // namespace

std::unique_ptr<DocumentInput> json_input(InputText& input, bool is_array) {
  return std::make_unique<JsonInput>(input, is_array);
}

Result<std::unique_ptr<DocumentInput>> csv_input(InputText& input, std::vector<std::string> names,
                                                 bool ignore_blanks) {
  CsvReader reader(input);
  if (names.empty()) {
    GM_ASSIGN(std::optional<CsvReader::Record> header, reader.next());
    if (!header) {
      return fail(ErrorCode::kFailedToParse,
                  input.place(input.line()) + ": there is no header with the names of the columns");
    }
    if (!header->fields) {
      return fail(Error(header->fields.error()).with_context(input.place(header->line)));
    }
    names = std::move(*header->fields);
  }
  GM_ASSIGN(CsvColumns columns, CsvColumns::parse(names));
  return std::make_unique<CsvInput>(reader, std::move(columns), ignore_blanks);
}

}  // namespace gridmount::tools
