// The names by which a client may address the server. Checking the field Host prevents DNS
// rebinding: a foreign site changes its DNS entry, so that its name leads to a loopback address.
// The browser then takes this server for that site, and would let the site's pages read what the
// server sends. But the browser sends the name of the site in Host, and the server refuses that
// name.
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
