// Fuzzes text searches. The input has a language and flags in its first byte, and then a search and
// an indexed text, with a NUL between them. A document matches a plain search
// (TextQuery::is_plain()) if and only if it has a score.

#include <cstdlib>
#include <string>

#include "engine/bson/builder.h"
#include "engine/query/text/text_query.h"

using namespace gridmount;

namespace {

constexpr const char* kLanguages[] = {"none", "english", "french", "german", "russian", "turkish"};

std::shared_ptr<const query::TextIndexSpec> make_index(const char* language) {
  bson::Builder options;
  options.open_document("weights").append("$**", int32_t{1}).append("b", int32_t{7}).close();
  options.append("default_language", language).append("language_override", "language");
  return std::make_shared<const query::TextIndexSpec>(
      query::TextIndexSpec::parse(std::move(options).finish()).value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t end = std::min(rest.find('\0'), rest.size());
  const std::string_view text = rest.substr(std::min(end + 1, rest.size()));

  bson::Builder operand;
  operand.append("$search", rest.substr(0, end));
  operand.append("$caseSensitive", (choice & 0x40) != 0);
  operand.append("$diacriticSensitive", (choice & 0x80) != 0);
  const bson::Document search = std::move(operand).finish();
  const auto index = make_index(kLanguages[choice % std::size(kLanguages)]);
  const auto query = query::TextQuery::parse(bson::Value(search.view()).view(), index);
  if (!query) abort();

  bson::Builder builder;
  builder.append("a", text).append("b", text.substr(0, text.size() / 2));
  const bson::Document document = std::move(builder).finish();
  const bool matches = (*query)->matches(document);
  const bool has_score = (*query)->score_of(document).has_value();
  if (matches && !has_score && (choice & 0xC0) == 0) abort();
  if ((*query)->is_plain() && matches != has_score) abort();
  return 0;
}
