// The messages of gridstore's commands on stderr: one line each, beginning with the program's name.
//
// Thread-safe: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gridmount::tools {

void say(std::string_view text);

// Returns "1 document", "2 documents", "2 indexes".
std::string counted(uint64_t number, std::string_view noun);

}  // namespace gridmount::tools
