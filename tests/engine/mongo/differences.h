// Tests of the Store contract that do not hold over a server, for a reason that no capability
// expresses. Each table says why. MongoDB's server decides what is right: what it does otherwise
// than the contract says is either mended or listed here.
//
// Thread-safety: the functions are pure.
#pragma once

#include <string_view>

namespace gridmount::engine {

// Return the reason, or nothing if the test has to pass.
std::string_view difference_of_standalone(std::string_view test);   // MongoDB 6.0
std::string_view difference_of_replica_set(std::string_view test);  // MongoDB 6.0
std::string_view difference_of_our_server(std::string_view test);

}  // namespace gridmount::engine
