#include "tools/gridfiles/file_id.h"

#include <string>

#include "engine/bson/document.h"
#include "engine/bson/json.h"
#include "tools/quoted.h"

namespace gridmount::tools {

Result<bson::Value> parse_file_id(std::string_view text) {
  size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return bson::Value(bson::ObjectId::generate());
  text = text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
  if (text[0] != '{') return bson::Value(text);

  std::string wrapped = "{\"_id\":" + std::string(text) + "}";
  auto document = bson::document_from_json(wrapped);
  if (!document) {
    return fail(ErrorCode::kFailedToParse, "error parsing id (" + in_quotes(wrapped) +
                                               ") as Extended JSON: " + document.error().message());
  }
  auto id = document->find("_id");
  if (!id) {
    return fail(ErrorCode::kFailedToParse, "error parsing id (" + in_quotes(wrapped) +
                                               ") as Extended JSON: it holds no value");
  }
  return bson::Value(*id);
}

}  // namespace gridmount::tools
