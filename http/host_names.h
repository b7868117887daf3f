// The names by which a client may address the server. The check of the field Host prevents DNS
// rebinding. In this attack, a foreign site changes its DNS entry so that the site's name leads to
// a loopback address. The browser then takes this server for the foreign site, and would let the
// site's pages read the replies of this server. But the browser sends the name of the site in Host,
// and the server refuses this name.
//
// Thread-safe after construction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gridmount::http {

class HostNames {
 public:
  // Allows the names `further`, "localhost", names that end with ".localhost", and the loopback
  // addresses.
  explicit HostNames(std::vector<std::string> further) : further_(std::move(further)) {}

  // Returns true if the value of a field Host, with or without a port, is one of the allowed names.
  // Ignores case and a dot at the end.
  bool allows(std::string_view host) const;

 private:
  const std::vector<std::string> further_;
};

}  // namespace gridmount::http
