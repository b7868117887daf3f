// Joins a number and a noun for messages, with the noun in the right form.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gridmount {

// Returns "1 page", "2 pages", "2 indexes". The plural ends with "es" after an x, otherwise with
// "s".
std::string counted(uint64_t number, std::string_view noun);
// Uses `one` for the number 1, otherwise `many`. For irregular plurals, and for a noun with its
// verb: counted(2, "entry is", "entries are") returns "2 entries are".
std::string counted(uint64_t number, std::string_view one, std::string_view many);

}  // namespace gridmount
