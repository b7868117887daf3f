// The target of a request: a path and a query, percent-decoded. Source: RFC 3986.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace gridmount::http {

struct Target {
  // The authority of a target in absolute form ("http://HOST:PORT/path"). It replaces the field
  // Host.
  std::optional<std::string> authority;
  // The decoded components of the path. The path "/" has no components. No component is "", "." or
  // "..", and no component has a slash or a NUL. So no path leads to a parent directory.
  std::vector<std::string> components;
  bool ends_with_slash = false;
  std::vector<std::pair<std::string, std::string>> query;  // decoded; no '=': an empty value

  // Returns the value of the first parameter with this name, or nothing if there is no such
  // parameter.
  std::optional<std::string> parameter(std::string_view name) const;
};

// Fails with BadValue if the target is neither a path nor a URL "http://HOST/PATH", has a fragment
// ("#..."), has a '%' without two hexadecimal digits, or has a component that `components` may not
// have.
Result<Target> parse_target(std::string_view target);

// Encodes all bytes of a component of a path, except the unreserved characters of RFC 3986.
std::string percent_encoded(std::string_view component);
// Returns the path of the components: "/" and the encoded components, divided by slashes.
std::string path_of(const std::vector<std::string>& components);

}  // namespace gridmount::http
