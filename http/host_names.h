// The names by which a client may address the server. Checking the field Host prevents DNS
// rebinding: a page of a foreign site lets its own name lead to a loopback address, and would then
// count in the browser as being of the same origin as this server. But the browser sends the name
// of that site in Host.
//
// Thread-safe after construction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gridmount::http {

class HostNames {
 public:
  // `further` are allowed besides "localhost", names below it, and the loopback addresses.
  explicit HostNames(std::vector<std::string> further) : further_(std::move(further)) {}

  // Returns true if the value of a field Host, with or without a port, is one of the names.
  bool allows(std::string_view host) const;

 private:
  const std::vector<std::string> further_;
};

}  // namespace gridmount::http
