// Computes the privileges that write commands need.
//
// Thread-safe: functions without state.
#pragma once

#include <string_view>
#include <vector>

#include "engine/wire/command.h"

namespace gridmount::wire {

// Returns the privileges of `actions` on the collection that the first field names, and of
// bypassDocumentValidation if the command requests it.
std::vector<Privilege> write_privileges(const Request& request,
                                        const std::vector<std::string_view>& actions);

// Returns true if the body has this field, and its value counts as true.
bool is_requested(bson::View body, std::string_view name);

}  // namespace gridmount::wire
