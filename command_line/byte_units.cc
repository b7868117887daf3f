#include "command_line/byte_units.h"

#include <array>
#include <cstddef>
#include <cstdio>

namespace gridmount {

std::string in_byte_units(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kStep = 1024;
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (amount >= kStep && unit + 1 < kUnits.size()) {
    amount /= kStep;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", amount, kUnits[unit]);
  return text.data();
}

}  // namespace gridmount
