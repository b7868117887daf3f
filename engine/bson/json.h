// Writes and parses MongoDB Extended JSON v2. The writing functions call libbson. The parser is our
// own, because libbson's parser misreads some texts: it takes the query operator $type for a part
// of $binary, it reads an ObjectId that is not hexadecimal as zeros, and it takes integers modulo
// 2^64. Source: "MongoDB Extended JSON (v2)", specifications repository.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"
#include "engine/bson/document.h"

namespace gridmount::bson {

enum class JsonForm { kCanonical, kRelaxed };

// Write a document or a value. Bytes that are not UTF-8 appear as U+FFFD, because JSON cannot
// represent them. In a document with such bytes, a DBPointer or code with scope appears as the name
// of its type. So such a document is not the same after it is read from the text. A document that
// libbson cannot print appears as { }, and a value as the name of its type.
std::string to_json(View document, JsonForm form);
std::string to_json(ValueView value, JsonForm form);

// Parses one object of relaxed or canonical Extended JSON, which may also have {"$uuid": ...}.
// Fails with FailedToParse if the text is anything else, or if a value does not fit its type. The
// message names the byte position, unless the text is not UTF-8 or has a NUL byte. Fails as
// validate() does if the document is nested too deeply or exceeds the default limit of its size.
// Also reads the words NaN, Infinity and -Infinity, which are not JSON. Reads $type and $regex as
// query operators, unless $type is beside $binary or $regex is beside $options (json_value.h).
Result<Document> document_from_json(std::string_view text);

// Parses one array and returns its elements in a document with the keys "0", "1", ... Fails like
// document_from_json().
Result<Document> array_from_json(std::string_view text);

}  // namespace gridmount::bson
