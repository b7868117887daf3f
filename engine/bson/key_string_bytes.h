// The constants of key strings (engine/local/FORMAT.md, chapter "Index keys"), for the writers and
// readers in this folder and in engine/local.
//
// Thread-safety: constants.
#pragma once

#include <cstdint>

namespace gridmount::bson {

// The first byte of a key string: the class of the value's type, in MongoDB's order of types. The
// gaps are reserved for future types. These bytes are part of the format.
enum KeyClass : uint8_t {
  kEnd = 0x00,  // ends documents, arrays and texts; less than every class (K3 in key_string.h)
  kMinKey = 0x04,
  kUndefined = 0x08,
  kNull = 0x0C,
  kNumber = 0x10,
  kString = 0x18,
  kDocument = 0x20,
  kArray = 0x28,
  kBinary = 0x30,
  kObjectId = 0x38,
  kBool = 0x40,
  kDate = 0x48,
  kTimestamp = 0x50,
  kRegex = 0x58,
  kDbPointer = 0x60,
  kCode = 0x68,
  kCodeWithScope = 0x70,
  kMaxKey = 0xF0,
};

// In the key string of a number, eight bytes for floor_to_double() (number.h) follow the class. The
// next byte is kExact if the number equals this double. Otherwise the next byte is kAboveDouble,
// and the bytes of decimal_sort_bytes() follow.
inline constexpr char kExact = '\x00';
inline constexpr char kAboveDouble = '\x01';

// A text is a string or its sort key, a symbol, code, a field name, or a part of a regular
// expression. In a text, each byte 0x00 or 0x01 is written as two bytes: kTextEscape, and the byte
// plus one.
inline constexpr char kTextEscape = '\x01';

}  // namespace gridmount::bson
