// Converts the notation of MongoDB's shell to Extended JSON. The manuals print their examples in
// this notation: names without quotes, strings in single quotes, /patterns/, ObjectId("..."),
// ISODate("...") and other constructors that the manuals use, comments after //, and commas at the
// end of a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/document.h"

namespace gridmount::manuals {

// Returns the JSON text of each document in `text`. The documents follow each other.
std::vector<std::string> json_of_shell(std::string_view text);

// Returns the documents in `text`. A document that cannot be parsed fails the test.
std::vector<bson::Document> documents(std::string_view text);
// Returns the document in `text`. If there is not exactly one, the test fails.
bson::Document document(std::string_view text);
// Returns the array in `text`.
bson::Document array(std::string_view text);

}  // namespace gridmount::manuals
