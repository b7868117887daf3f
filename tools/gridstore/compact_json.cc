#include "tools/gridstore/compact_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace gridmount::tools {

namespace {

constexpr std::string_view kDoubleName = R"("$numberDouble")";

// Returns the position after the string that begins at `begin`.
size_t end_of_string(std::string_view json, size_t begin) {
  size_t at = begin + 1;
  while (at < json.size() && json[at] != '"') at += json[at] == '\\' ? 2 : 1;
  return std::min(at + 1, json.size());
}

// Returns the shortest text of a double, with a point or an exponent, so that readers do not take
// it for an integer. Returns other texts unchanged: integers, NaN and Infinity.
std::string shortest(std::string_view number) {
  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool is_double = number.find_first_of(".e") != std::string_view::npos;
  if (error != std::errc() || stop != number.data() + number.size() || !is_double ||
      !std::isfinite(value)) {
    return std::string(number);
  }
  constexpr size_t kLongest = 32;
  std::array<char, kLongest> buffer{};
  char* const end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const std::string text(buffer.data(), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::string compacted(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  std::string_view text;  // the last string, if only a colon and spaces have followed it
  bool after_colon = false;
  for (size_t at = 0; at < json.size();) {
    const char c = json[at];
    size_t end = at + 1;
    if (c == '"') {
      end = end_of_string(json, at);
      const std::string_view read = json.substr(at, end - at);
      if (after_colon && text == kDoubleName) {
        out += '"' + shortest(read.substr(1, read.size() - 2)) + '"';
      } else {
        out += read;
      }
      text = read;
      after_colon = false;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      end = std::min(json.find_first_not_of("0123456789+-.e", at), json.size());
      out += shortest(json.substr(at, end - at));
      after_colon = false;
    } else if (c != ' ' && c != '\n') {
      out += c;
      after_colon = c == ':';
    }
    at = end;
  }
  return out;
}

std::string compact_json(bson::View document, bson::JsonForm form) {
  return compacted(bson::to_json(document, form));
}

std::string compact_json(bson::ValueView value, bson::JsonForm form) {
  return compacted(bson::to_json(value, form));
}

}  // namespace gridmount::tools
