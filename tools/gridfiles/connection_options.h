// mongofiles' flags for the connection to a server, and their translation to a URI. Sources:
// mongofiles' manual, "Options"; the drivers' specification of the connection string.
//
// Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::tools {

class ConnectionOptions {
 public:
  // Sets a flag of the group "connection". `flag` is its long name. `value` is "" for a flag
  // without a value. Fails with FailedToParse for a flag or a form of its value that is not
  // supported, and as read_config() does, which this function calls for "config".
  Status set(std::string_view flag, const std::string& value);
  // Reads the file of --config: YAML with some of the fields password, uri and sslPEMKeyPassword.
  // Fails with FailedToParse if the file cannot be read or has other fields.
  Status read_config(const std::string& file);

  // Returns true if any flag of the connection was given, even one that names no server. Such a
  // flag contradicts --store.
  bool given() const { return !flags_.empty(); }
  // Returns true if --username names a user, no password was given, and the mechanism is not X.509,
  // GSSAPI or AWS. The program must then ask for the password.
  bool needs_password() const;
  void set_password(std::string password) { flags_["password"] = std::move(password); }
  // Returns the values that must stay secret, without empty ones.
  std::vector<std::string> secrets() const;
  // Returns true if a password was on the command line, where every user of the machine can read
  // it.
  bool shows_password() const { return shows_password_; }

  // Returns "mongodb://...". Fails with FailedToParse if flags contradict each other or the URI, or
  // if one has an invalid value.
  Result<std::string> uri() const;

 private:
  std::optional<std::string> flag(std::string_view name) const;

  std::map<std::string, std::string, std::less<>> flags_;
  bool shows_password_ = false;
};

}  // namespace gridmount::tools
