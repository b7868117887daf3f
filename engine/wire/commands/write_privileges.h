// The privileges of write commands.
//
// Thread-safety: functions without state.
#pragma once

#include <string_view>
#include <vector>

#include "engine/wire/command.h"

namespace gridmount::wire {

// These actions on the collection that the first field names, and bypassDocumentValidation if the
// command asks for it.
std::vector<Privilege> write_privileges(const Request& request,
                                        const std::vector<std::string_view>& actions);

// Whether a field of the body, as a client that wants it would write it, is true.
bool asks_for(bson::View body, std::string_view name);

}  // namespace gridmount::wire
