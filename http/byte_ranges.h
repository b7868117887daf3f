// The field Range: which bytes of a file a client asks for. Source: RFC 9110, 14.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"

namespace gridmount::http {

// A field with more ranges than this is ignored.
inline constexpr size_t kRangesMax = 32;

struct SelectedRanges {
  enum class Kind {
    kWhole,           // the field is to be ignored: the reply has the whole file
    kPart,            // the reply has `ranges`
    kNotSatisfiable,  // no range has a byte of the file: 416
  };
  Kind kind = Kind::kWhole;
  // In the order in which they were asked for. Each has at least one byte and lies within the file.
  std::vector<gridfs::ByteRange> ranges;
};

// Finds the ranges that a field Range with the value `field` asks for, in a file of `length` bytes.
// The field is to be ignored if its unit is not bytes, if it has a syntax error or more than
// kRangesMax ranges, or if its ranges together have more bytes than the file. So a request cannot
// make the server send more content than the file has.
SelectedRanges select_ranges(std::string_view field, int64_t length);

}  // namespace gridmount::http
