#include "tools/gridfiles/connection_options.h"

#include <yaml-cpp/yaml.h>

#include <array>
#include <charconv>
#include <utility>

#include "command_line/connection_string.h"

namespace gridmount::tools {

using command_line::lacks_password;
using command_line::percent_encoded;
using command_line::with_password;

namespace {

constexpr std::string_view kScheme = "mongodb://";
constexpr std::string_view kDefaultHost = "localhost";

// Flags that set an option of the URI to the same value.
struct UriOption {
  std::string_view flag;
  std::string_view option;
};
constexpr std::array kPlain = {
    UriOption{"authenticationDatabase", "authSource"},
    UriOption{"authenticationMechanism", "authMechanism"},
    UriOption{"sslCAFile", "tlsCAFile"},
    UriOption{"sslPEMKeyFile", "tlsCertificateKeyFile"},
    UriOption{"sslPEMKeyPassword", "tlsCertificateKeyFilePassword"},
    UriOption{"compressors", "compressors"},
    UriOption{"readPreference", "readPreference"},
};
constexpr std::array kSwitches = {
    UriOption{"ssl", "tls"},
    UriOption{"sslAllowInvalidCertificates", "tlsAllowInvalidCertificates"},
    UriOption{"sslAllowInvalidHostnames", "tlsAllowInvalidHostnames"},
    UriOption{"tlsInsecure", "tlsInsecure"},
};
constexpr std::array kSeconds = {
    UriOption{"dialTimeout", "connectTimeoutMS"},
    UriOption{"socketTimeout", "socketTimeoutMS"},
    UriOption{"serverSelectionTimeout", "serverSelectionTimeoutMS"},
};
constexpr std::array kProperties = {
    UriOption{"awsSessionToken", "AWS_SESSION_TOKEN"},
    UriOption{"gssapiServiceName", "SERVICE_NAME"},
};
constexpr std::array<std::string_view, 4> kUnsupported = {"sslCRLFile", "sslFIPSMode",
                                                          "gssapiHostName", "TCPKeepAliveSeconds"};

auto refuse(const std::string& message) {
  return fail(ErrorCode::kFailedToParse, message);
}

Result<std::string> milliseconds_of(std::string_view flag, const std::string& value) {
  int64_t seconds = 0;
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  constexpr int64_t kSecondsMax = 2'000'000;
  if (problem != std::errc() || end != value.data() + value.size() || seconds < 0 ||
      seconds > kSecondsMax) {
    return refuse("--" + std::string(flag) + " is a number of seconds, not '" + value + "'");
  }
  return std::to_string(seconds * 1000);
}

// Returns the hosts "h1,h2" with the port added to each host that has none.
Result<std::string> hosts_with_port(std::string_view hosts, const std::string& port) {
  std::string result;
  while (true) {
    const size_t comma = hosts.find(',');
    const std::string_view host = hosts.substr(0, comma);
    if (host.empty()) return refuse("--host names an empty host");
    const size_t colon = host.rfind(':');
    const bool has_port =
        colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
    if (!result.empty()) result += ',';
    result += host.front() == '/' ? percent_encoded(host) : std::string(host);
    if (!has_port && !port.empty()) result += ":" + port;
    if (comma == std::string_view::npos) return result;
    hosts.remove_prefix(comma + 1);
  }
}

}  // namespace

std::optional<std::string> ConnectionOptions::flag(std::string_view name) const {
  const auto found = flags_.find(name);
  if (found == flags_.end()) return std::nullopt;
  return found->second;
}

Status ConnectionOptions::set(std::string_view flag, const std::string& value) {
  for (const std::string_view unsupported : kUnsupported) {
    if (flag == unsupported) return refuse("--" + std::string(flag) + " is not supported");
  }
  if (flag == "config") return read_config(value);
  if (flag == "readPreference" && !value.empty() && value.front() == '{') {
    return refuse("--readPreference takes the name of a mode; for tags use --uri");
  }
  if (flag == "password" && !value.empty()) shows_password_ = true;
  if (flag == "uri") {
    const size_t at = value.find('@');
    const size_t begin = value.find("//");
    shows_password_ = shows_password_ || (at != std::string::npos && begin != std::string::npos &&
                                          value.find(':', begin) < at);
  }
  flags_[std::string(flag)] = value;
  return {};
}

Status ConnectionOptions::read_config(const std::string& file) {
  try {
    const YAML::Node config = YAML::LoadFile(file);
    if (!config.IsNull() && !config.IsMap()) {
      return refuse("error reading config file `" + file + "`: it has no fields");
    }
    for (const auto& field : config) {
      const auto name = field.first.as<std::string>();
      if (name != "password" && name != "uri" && name != "sslPEMKeyPassword") {
        std::string why = "error reading config file `";
        return refuse(why.append(file).append("`: unknown field ").append(name));
      }
      flags_[name] = field.second.as<std::string>();
    }
  } catch (const YAML::Exception& exception) {
    return refuse("error reading config file `" + file + "`: " + exception.what());
  }
  return {};
}

bool ConnectionOptions::needs_password() const {
  const std::optional<std::string> user = flag("username");
  const std::optional<std::string> mechanism = flag("authenticationMechanism");
  const bool proves_otherwise =
      mechanism == "MONGODB-X509" || mechanism == "GSSAPI" || mechanism == "MONGODB-AWS";
  const bool has_user = (user && !user->empty()) || lacks_password(flag("uri").value_or(""));
  return has_user && flag("password").value_or("").empty() && !proves_otherwise;
}

std::vector<std::string> ConnectionOptions::secrets() const {
  std::vector<std::string> values;
  for (const std::string_view name : {"password", "sslPEMKeyPassword", "awsSessionToken"}) {
    const std::optional<std::string> value = flag(name);
    if (value && !value->empty()) values.push_back(*value);
  }
  return values;
}

Result<std::string> ConnectionOptions::uri() const {
  std::string base;
  std::vector<std::string> options;
  const std::optional<std::string> given = flag("uri");
  const std::string user = flag("username").value_or("");
  const std::string password = flag("password").value_or("");
  if (given) {
    for (const std::string_view other : {"host", "port"}) {
      if (flag(other)) {
        return refuse("illegal argument combination: cannot specify --" + std::string(other) +
                      " and --uri");
      }
    }
    base = *given;
    const size_t begin = base.find("//");
    // The message does not show the text of --uri, because the text may have a password.
    if (begin == std::string::npos) {
      return refuse("error parsing uri: it does not begin with mongodb:// or mongodb+srv://");
    }
    const size_t end = base.find('/', begin + 2);
    const bool has_user = base.substr(0, end).find('@') != std::string::npos;
    if (!user.empty() && has_user) {
      return refuse("illegal argument combination: cannot specify --username and a user in --uri");
    }
    if (has_user && !password.empty()) {
      if (!lacks_password(base)) {
        return refuse(
            "illegal argument combination: cannot specify --password and a password in --uri");
      }
      base = with_password(base, password);
    }
    if (!user.empty()) {
      base.insert(begin + 2, percent_encoded(user) +
                                 (password.empty() ? "" : ":" + percent_encoded(password)) + "@");
    }
    if (base.find('?') == std::string::npos) {
      if (base.find('/', begin + 2) == std::string::npos) base += '/';
      base += '?';
    }
  } else {
    std::string hosts = flag("host").value_or(std::string(kDefaultHost));
    if (hosts.empty()) hosts = kDefaultHost;
    const size_t slash = hosts.find('/');
    // The form "set/h1,h2". The path of a socket begins with a slash.
    if (slash != std::string::npos && slash != 0) {
      options.push_back("replicaSet=" + percent_encoded(hosts.substr(0, slash)));
      hosts.erase(0, slash + 1);
    }
    GM_ASSIGN(const std::string with_port, hosts_with_port(hosts, flag("port").value_or("")));
    base = std::string(kScheme);
    if (!user.empty()) {
      base += percent_encoded(user);
      if (!password.empty()) base += ":" + percent_encoded(password);
      base += "@";
    }
    base += with_port + "/?";
  }
  for (const UriOption& plain : kPlain) {
    const std::optional<std::string> value = flag(plain.flag);
    if (value) options.push_back(std::string(plain.option) + "=" + percent_encoded(*value));
  }
  for (const UriOption& each : kSwitches) {
    if (flag(each.flag)) options.push_back(std::string(each.option) + "=true");
  }
  for (const UriOption& each : kSeconds) {
    const std::optional<std::string> value = flag(each.flag);
    if (!value) continue;
    GM_ASSIGN(const std::string milliseconds, milliseconds_of(each.flag, *value));
    options.push_back(std::string(each.option) + "=" + milliseconds);
  }
  std::string properties;
  for (const UriOption& each : kProperties) {
    const std::optional<std::string> value = flag(each.flag);
    if (!value) continue;
    if (!properties.empty()) properties += ',';
    properties += std::string(each.option) + ":" + percent_encoded(*value);
  }
  if (!properties.empty()) options.push_back("authMechanismProperties=" + properties);
  for (const std::string& option : options) {
    if (base.back() != '?' && base.back() != '&') base += '&';
    base += option;
  }
  if (base.back() == '?') base.pop_back();
  return base;
}

}  // namespace gridmount::tools
