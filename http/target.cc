#include "http/target.h"

#include "engine/base/hex.h"
#include "http/request.h"

namespace gridmount::http {

namespace {

tl::unexpected<Error> invalid(std::string why) {
  return fail(ErrorCode::kBadValue, std::move(why));
}

Result<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const auto high = i + 2 < text.size() ? hex_value(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_value(text[i + 2]) : std::nullopt;
    if (!high || !low) return invalid("a '%' needs two hexadecimal digits");
    decoded += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return decoded;
}

Status parse_path(std::string_view path, Target& target) {
  if (!path.starts_with('/')) return invalid("the path must begin with a slash");
  path.remove_prefix(1);
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    GM_ASSIGN(std::string component, percent_decoded(path.substr(0, end)));
    if (component.empty()) return invalid("the path has an empty component");
    if (component == "." || component == "..") {
      return invalid("the path has the component '" + component + "'");
    }
    if (component.find('/') != std::string::npos || component.find('\0') != std::string::npos) {
      return invalid("a component of the path has a slash or a NUL");
    }
    target.components.push_back(std::move(component));
    target.ends_with_slash = end < path.size();
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  if (target.components.empty()) target.ends_with_slash = true;
  return {};
}

Status parse_query(std::string_view query, Target& target) {
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view parameter = query.substr(0, end);
    const size_t equals = std::min(parameter.find('='), parameter.size());
    GM_ASSIGN(std::string name, percent_decoded(parameter.substr(0, equals)));
    GM_ASSIGN(std::string value,
              percent_decoded(parameter.substr(std::min(equals + 1, parameter.size()))));
    if (!parameter.empty()) target.query.emplace_back(std::move(name), std::move(value));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return {};
}

}  // namespace

std::optional<std::string> Target::parameter(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<Target> parse_target(std::string_view text) {
  Target target;
  constexpr std::string_view kScheme = "http://";
  if (text.size() > kScheme.size() &&
      equals_ignoring_case(text.substr(0, kScheme.size()), kScheme)) {
    text.remove_prefix(kScheme.size());
    const size_t end = std::min(text.find_first_of("/?#"), text.size());
    target.authority = text.substr(0, end);
    text.remove_prefix(end);
    if (!text.starts_with('/')) return invalid("the URL has no path");
  }
  if (text.find('#') != std::string_view::npos) return invalid("the target has a fragment");
  const size_t question = std::min(text.find('?'), text.size());
  GM_TRY(parse_path(text.substr(0, question), target));
  GM_TRY(parse_query(text.substr(std::min(question + 1, text.size())), target));
  return target;
}

std::string percent_encoded(std::string_view component) {
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string encoded;
  for (const char c : component) {
    if (kUnreserved.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += '%';
      append_hex(encoded, static_cast<uint8_t>(c), HexDigits::kUpper);
    }
  }
  return encoded;
}

std::string path_of(const std::vector<std::string>& components) {
  std::string path = "/";
  for (size_t i = 0; i < components.size(); ++i) {
    if (i > 0) path += '/';
    path += percent_encoded(components[i]);
  }
  return path;
}

}  // namespace gridmount::http
