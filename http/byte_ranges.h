// The field Range: the bytes of a file that a client requests. Source: RFC 9110, 14.
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
    kWhole,           // the field must be ignored: the reply has the whole file
    kPart,            // the reply has `ranges`
    kNotSatisfiable,  // no range has a byte of the file: 416
  };
  Kind kind = Kind::kWhole;
  // The requested ranges, in the order of the field. Each range has at least one byte and is within
  // the file. Ranges without a byte of the file are left out.
  std::vector<gridfs::ByteRange> ranges;
};

// Finds the ranges that a field Range with the value `field` requests, in a file of `length` bytes.
// Returns kWhole if the unit is not bytes, if the field has a syntax error or more than kRangesMax
// ranges, or if the ranges together have more bytes than the file. So a request cannot make the
// server send more content than the file has.
SelectedRanges select_ranges(std::string_view field, int64_t length);

}  // namespace gridmount::http
