// What libbson's JSON parser takes without a word and reads as something else: an ObjectId that is
// not hexadecimal as zeros, a Decimal128 that is none as NaN, integers modulo 2^64, a second
// document as nothing. Such text is refused here, after the parser found it well-formed.
// Thread-safety: a pure function.
#pragma once

#include <string_view>

#include "engine/error.h"

namespace gridmount::bson {

// `text` is JSON that libbson accepted. FailedToParse with the byte at which it means something
// else than it says, or at which it goes on behind its one document.
Status check_json(std::string_view text);

}  // namespace gridmount::bson
