// What mongofiles' flags say of a connection to a server, and the URI that says the same.
// Source: mongofiles' manual, "Options"; the connection string's specification of the drivers.
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
  // A flag of the group "connection" by its long name, with its value ("" of one without).
  // FailedToParse for one that nothing here can do.
  Status set(std::string_view flag, const std::string& value);
  // --config: a YAML file with password, uri and sslPEMKeyPassword.
  Status read_config(const std::string& file);

  // Whether a server is meant.
  bool given() const { return !flags_.empty(); }
  // A user without a password, which then has to be asked for.
  bool needs_password() const;
  void set_password(std::string password) { flags_["password"] = std::move(password); }
  // The values of the flags that nobody else is to see, without the empty ones.
  std::vector<std::string> secrets() const;
  // A password was on the command line, where every user of the machine can read it.
  bool shows_password() const { return shows_password_; }

  // "mongodb://...". FailedToParse for flags that contradict each other or the URI.
  Result<std::string> uri() const;

 private:
  std::optional<std::string> flag(std::string_view name) const;

  std::map<std::string, std::string, std::less<>> flags_;
  bool shows_password_ = false;
};

// The URI of a server on a socket of the file system.
std::string uri_of_socket(std::string_view path);

// The URI without its user and password, for logs.
std::string without_credentials(std::string_view uri);

}  // namespace gridmount::tools
