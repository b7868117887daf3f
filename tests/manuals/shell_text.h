// Converts the notation of MongoDB's shell, in which the manuals print their examples, to Extended
// JSON: names without quotes, strings in single quotes, /patterns/, ObjectId("..."), ISODate("...")
// and the other constructors of values, comments, and commas at the end of a list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/document.h"

namespace gridmount::manuals {

// The JSON text of each document that stands in `text`, one after the other.
std::vector<std::string> json_of_shell(std::string_view text);

// The same, read. What cannot be read fails the test.
std::vector<bson::Document> documents(std::string_view text);
// For exactly one document.
bson::Document document(std::string_view text);
// For one array: its elements.
bson::Document array(std::string_view text);

}  // namespace gridmount::manuals
