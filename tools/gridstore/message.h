// What gridstore's commands say on stderr: one line each, with the program's name.
//
// Thread-safety: functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gridmount::tools {

void say(std::string_view text);

// "1 document", "2 documents", "2 indexes".
std::string counted(uint64_t number, std::string_view noun);

}  // namespace gridmount::tools
