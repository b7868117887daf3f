#include "tools/gridstore/dump/dump_file_name.h"

#include <algorithm>

#include "engine/base/base64.h"
#include "engine/base/hex.h"
#include "engine/wire/auth/digest.h"

namespace gridmount::tools {

namespace {

// 255 less the length of the longest suffix, ".metadata.json.gz".
constexpr size_t kStemBytesMax = 238;
constexpr size_t kStemBytesKept = 208;
constexpr std::string_view kCutMark = "%24";  // an escaped '$', which no collection name contains

// Unlike isalnum(), does not depend on the locale.
bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<uint8_t>(c);
    if (is_plain(c)) {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      out += '%';
      append_hex(out, byte, HexDigits::kUpper);
    }
  }
  return out;
}

}  // namespace

Result<std::string> dump_file_name(std::string_view collection) {
  std::string stem = escaped(collection);
  if (stem.size() <= kStemBytesMax) return stem;
  GM_ASSIGN(const std::string digest, wire::digest(wire::DigestAlgorithm::kSha1, collection));
  const std::string text = to_base64(digest, Base64::kUrl);
  return stem.substr(0, kStemBytesKept).append(kCutMark).append(text);
}

bool is_cut_name(std::string_view stem) {
  return stem.size() == kStemBytesMax && stem.find(kCutMark) != std::string_view::npos;
}

std::optional<std::string> collection_of_stem(std::string_view stem) {
  std::string name;
  for (size_t at = 0; at < stem.size(); ++at) {
    if (stem[at] == '+') {
      name += ' ';
    } else if (stem[at] != '%') {
      name += stem[at];
    } else {
      if (at + 2 >= stem.size()) return std::nullopt;
      const std::optional<uint8_t> high = hex_value(stem[at + 1]);
      const std::optional<uint8_t> low = hex_value(stem[at + 2]);
      if (!high || !low) return std::nullopt;
      name += static_cast<char>(*high * 16 + *low);
      at += 2;
    }
  }
  return name;
}

}  // namespace gridmount::tools
