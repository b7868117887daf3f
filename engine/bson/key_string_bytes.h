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
  kEnd = 0x00,  // ends documents, arrays and strings; below every class (K3)
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

// The byte after the eight bytes of a number's double: kExact if the number equals this double.
inline constexpr char kExact = '\x00';
inline constexpr char kAboveDouble = '\x01';

// A byte of a text that is not greater than kTextEscape is written as kTextEscape followed by the
// byte plus one.
inline constexpr char kTextEscape = '\x01';

}  // namespace gridmount::bson
