// Tests of the Store contract that do not hold over a server, for a reason that no capability
// expresses. Each table has the reasons. MongoDB's server decides what is right: if it differs from
// the contract, our code is corrected or the test is listed here.
//
// Thread-safety: the functions are pure.
#pragma once

#include <string_view>

namespace gridmount::engine {

// These functions return the reason, or an empty text if the test has to pass.
std::string_view difference_of_standalone(std::string_view test);   // MongoDB 6.0
std::string_view difference_of_replica_set(std::string_view test);  // MongoDB 6.0
std::string_view difference_of_our_server(std::string_view test);

}  // namespace gridmount::engine
