// The flags of mongofiles for the connection to a server, and their translation to a connection
// string.
//
// Sources: mongofiles' manual, "Options"; the drivers' specification of the connection string.
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
  // Sets a flag of the group "connection". `flag` is the long name of the flag, without "--".
  // `value` is "" for a flag without a value. A later value replaces an earlier one. For "config",
  // calls read_config(), and fails as that function does. Fails with FailedToParse if gridfiles
  // does not support the flag, or this form of its value.
  Status set(std::string_view flag, const std::string& value);
  // Reads the file of --config, and sets the flags that the file has. The file is YAML with some of
  // the fields password, uri and sslPEMKeyPassword. Fails with FailedToParse if the file cannot be
  // read, is not a YAML mapping, or has other fields.
  Status read_config(const std::string& file);

  // Returns true if any flag of the connection was set, even a flag that names no server. All of
  // these flags contradict --store.
  bool given() const { return !flags_.empty(); }
  // Returns true if the program must ask for the password: --username or --uri names a user, there
  // is no password or an empty one, and the mechanism is not X.509, GSSAPI or AWS.
  bool needs_password() const;
  void set_password(std::string password) { flags_["password"] = std::move(password); }
  // Returns the values of the flags that must stay secret, without empty values. Does not return a
  // password in the URI of --uri.
  std::vector<std::string> secrets() const;
  // Returns true if the command line had a password, as --password or in --uri. Every user of the
  // machine can read the command line.
  bool shows_password() const { return shows_password_; }

  // Returns the connection string: the URI of --uri, or "mongodb://" with the hosts of --host. Adds
  // the user and the password of --username and --password, and the other flags as options. Without
  // a user, --password has no effect. The string may have a password. Fails with FailedToParse if
  // --uri is given with --host or --port, if both --uri and --username name a user, if --password
  // is given and the URI has a password or a mechanism that needs none, if the URI has no "//", if
  // --host names an empty host, or if a timeout is not a number of seconds up to 2,000,000. Does
  // not check the URI any further.
  Result<std::string> uri() const;

 private:
  // Returns the value of a flag, or nothing if it was not set.
  std::optional<std::string> flag(std::string_view name) const;

  std::map<std::string, std::string, std::less<>> flags_;
  bool shows_password_ = false;
};

}  // namespace gridmount::tools
