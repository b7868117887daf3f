// Reads the fields of status documents, which may be missing or of any numeric type.
//
// Thread-safe: pure functions.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "engine/bson/document.h"

namespace gridmount::tools {

// Returns the document in the field, or an empty one.
inline bson::View document_in(bson::View document, std::string_view name) {
  const auto value = document.find(name);
  return value && value->type() == bson::Type::kDocument ? value->as_document() : bson::View();
}

// Returns the number in the field. Returns 0 if there is none, or if it is NaN or infinite.
inline double number_in(bson::View document, std::string_view name) {
  const auto value = document.find(name);
  const double number = value ? value->number().value_or(0) : 0;
  return std::isfinite(number) ? number : 0;
}

// Returns the number without its fraction. Returns 0 if the number is negative, and the largest
// integer if the number is larger. The number must not be NaN.
inline uint64_t count_of(double number) {
  constexpr double kBeyond = 18446744073709551616.0;  // 2^64
  if (number >= kBeyond) return std::numeric_limits<uint64_t>::max();
  return number > 0 ? static_cast<uint64_t>(number) : 0;
}

// Returns count_of() of the number in the field.
inline uint64_t count_in(bson::View document, std::string_view name) {
  return count_of(number_in(document, name));
}

// Returns the string in the field, or an empty one.
inline std::string text_in(bson::View document, std::string_view name) {
  const auto value = document.find(name);
  return std::string(value && value->type() == bson::Type::kString ? value->as_string() : "");
}

}  // namespace gridmount::tools
