// Examines and changes connection strings, "mongodb://...", with which drivers address a MongoDB
// deployment. These functions understand only the parts that a command line needs. libmongoc does
// the full parsing (engine/mongo/connection.h). Source: the drivers' specification "Connection
// String".
//
// Thread-safety: free functions without state.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace gridmount::command_line {

// Returns true for "mongodb://..." and "mongodb+srv://...".
bool is_connection_string(std::string_view text);

// Fails with BadValue for a text that is meant as a connection string but would be taken for a
// folder, such as "mongodb:/host". Succeeds for connection strings and for paths.
Status check_connection_string(std::string_view text);

// Escapes every byte other than letters, digits and "-_.~".
std::string percent_encoded(std::string_view text);

// Returns the URI of a server that listens on a Unix socket.
std::string uri_of_socket(std::string_view path);

// Returns the part "user:password" of the URI: the text between "//" and the last '@' before the
// options. A '/' or '?' in a password should be escaped. If it is not, the function guesses where
// the options begin, so that without_secrets() still removes the whole password. Returns an empty
// view if there is no such part.
std::string_view user_and_password(std::string_view uri);

// Returns the URI without its user, its password and its options, for logs and for the list of
// mounts. Options can be secrets, too (tlsCertificateKeyFilePassword, AWS_SESSION_TOKEN).
std::string without_secrets(std::string_view uri);

// Returns true if the URI has a user but no password, unless it names an authMechanism that needs
// no password.
bool lacks_password(std::string_view uri);
// Adds the password, which is not escaped yet, to a URI for which lacks_password() is true.
std::string with_password(std::string_view uri, std::string_view password);

}  // namespace gridmount::command_line
