#include "tools/gridstore/documents/json_argument.h"

#include <memory>
#include <span>
#include <vector>

#include "engine/bson/json.h"
#include "tools/gridstore/dump/archive_flag.h"
#include "tools/gridstore/dump/input_file.h"

namespace gridmount::tools {

namespace {

// Returns the argument, or the text of standard input or of the file that the argument names.
Result<std::string> text_of(const std::string& argument) {
  const bool is_stdin = argument == kStandardStream;
  if (!is_stdin && !argument.starts_with('@')) return argument;
  GM_ASSIGN(const std::unique_ptr<InputFile> file,
            is_stdin ? InputFile::from_stdin(false) : InputFile::open(argument.substr(1), false));
  constexpr size_t kPieceBytes = 64 * 1024;
  std::vector<uint8_t> piece(kPieceBytes);
  std::string text;
  while (true) {
    GM_ASSIGN(const size_t count, file->read(piece));
    text.append(reinterpret_cast<const char*>(piece.data()), count);
    if (text.size() > kJsonArgumentBytesMax) {
      return file->damage(
          kJsonArgumentBytesMax,
          "the text is longer than " + std::to_string(kJsonArgumentBytesMax) + " bytes");
    }
    if (count < piece.size()) return text;
  }
}

Result<bson::Document> read(std::string_view what, const std::string& argument,
                            Result<bson::Document> (*parse)(std::string_view)) {
  Result<std::string> text = text_of(argument);
  if (!text) return fail(std::move(text).error().with_context(what));
  Result<bson::Document> parsed = parse(*text);
  if (!parsed) return fail(std::move(parsed).error().with_context(what));
  return parsed;
}

}  // namespace

Result<bson::Document> document_argument(std::string_view what, const std::string& argument) {
  if (argument.empty()) return bson::Document();
  return read(what, argument, bson::document_from_json);
}

Result<bson::Document> array_argument(std::string_view what, const std::string& argument) {
  return read(what, argument, bson::array_from_json);
}

}  // namespace gridmount::tools
