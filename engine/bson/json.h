// MongoDB Extended JSON v2, both ways, over libbson.
// Source: "MongoDB Extended JSON (v2)", specifications repository.
#pragma once

#include <string>
#include <string_view>

#include "engine/bson/document.h"
#include "engine/error.h"

namespace gridmount::bson {

enum class JsonForm { kCanonical, kRelaxed };

std::string to_json(View document, JsonForm form);
std::string to_json(ValueView value, JsonForm form);

// Relaxed or canonical, {"$uuid": ...} included. FailedToParse with the parser's position.
Result<Document> document_from_json(std::string_view text);

}  // namespace gridmount::bson
