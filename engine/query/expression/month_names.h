// The English names of the months. Internal to engine/query. Thread-safety: constants.
#pragma once

#include <array>
#include <string_view>

namespace gridmount::query::expressions {

inline constexpr std::array<std::string_view, 12> kMonthNames{
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

}  // namespace gridmount::query::expressions
