#include "gridfs/namespace/name_mapping.h"

#include <bson/bson.h>
#include <openssl/evp.h>

#include <span>

#include "engine/base/hex.h"
#include "engine/bson/json.h"
#include "gridfs/bucket/error.h"

namespace gridmount::gridfs {
namespace {

constexpr std::string_view kPlainLead = "%gridfs:esc:";
constexpr std::string_view kFileLead = "%gridfs:file:";
constexpr std::string_view kLongLead = "%gridfs:long:";
constexpr std::string_view kBytesLead = "%gridfs:bytes:";
constexpr std::string_view kIdLead = "%gridfs:id:";
constexpr std::string_view kReserved = ".gridfs";
constexpr size_t kHashDigits = 32;
constexpr size_t kMaxHeadBytes = kMaxNameBytes - kLongLead.size() - 1 - kHashDigits;

// Returns the length of the UTF-8 character at the beginning, or 0 if there is none. NUL does not
// count as a character.
size_t character_bytes(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t size = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead == 0 || size > text.size()) return 0;
  return bson_utf8_validate(text.data(), size, false) ? size : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = character_bytes(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

void append_escaped(std::string& out, char byte) {
  out.push_back('%');
  append_hex(out, static_cast<uint8_t>(byte), HexDigits::kUpper);
}

// Returns TEXT (name_mapping.h) for as many whole characters as fit.
std::string to_text(std::string_view bytes, size_t max_bytes = std::string::npos) {
  const bool dots = bytes == "." || bytes == "..";
  std::string text;
  while (!bytes.empty()) {
    const size_t size = character_bytes(bytes);
    const bool plain = size != 0 && bytes[0] != '%' && bytes[0] != '/' && !dots;
    const size_t taken = plain ? size : 1;
    if (text.size() + (plain ? size : 3) > max_bytes) break;
    if (plain) {
      text.append(bytes.substr(0, size));
    } else {
      append_escaped(text, bytes[0]);
    }
    bytes.remove_prefix(taken);
  }
  return text;
}

// Accepts only the digits that to_text() writes. A lower-case digit would give a name a second
// spelling.
std::optional<uint8_t> upper_hex_value(char digit) {
  return digit >= 'a' ? std::nullopt : hex_value(digit);
}

std::optional<std::string> from_text(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes.push_back(text[i]);
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const std::optional<uint8_t> high = upper_hex_value(text[i + 1]);
    const std::optional<uint8_t> low = upper_hex_value(text[i + 2]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<char>(*high * 16 + *low));
    i += 2;
  }
  return bytes;
}

std::string hash_of(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr);
  return to_hex(std::span<const uint8_t>(digest, kHashDigits / 2));
}

std::string long_name(std::string_view component, bool shadowed) {
  std::string hashed(component);
  if (shadowed) hashed.push_back('/');
  return std::string(kLongLead) + to_text(component, kMaxHeadBytes) + ":" + hash_of(hashed);
}

// Returns the component of a filename that stands for a name of bytes that are not UTF-8.
std::string bytes_component(std::string_view bytes) {
  return std::string(kBytesLead) + to_text(bytes);
}

// Does the reverse of bytes_component(). Returns nothing if the component does not stand for such a
// name.
std::optional<std::string> bytes_name(std::string_view component) {
  if (!component.starts_with(kBytesLead)) return std::nullopt;
  std::optional<std::string> bytes = from_text(component.substr(kBytesLead.size()));
  if (!bytes || bytes->size() > kMaxNameBytes || is_utf8(*bytes) ||
      bytes->find('/') != std::string::npos || bytes->find('\0') != std::string::npos ||
      bytes_component(*bytes) != component) {
    return std::nullopt;
  }
  return bytes;
}

bool needs_escape(std::string_view component, bool at_root) {
  return component.empty() || component == "." || component == ".." ||
         component.starts_with(kEscapeLead) || (at_root && component == kReserved) ||
         component.find('/') != std::string_view::npos || !is_utf8(component);
}

tl::unexpected<Error> invalid(std::string_view name, std::string_view why) {
  return fail(kInvalidName, "the name '" + std::string(name) + "' " + std::string(why));
}

}  // namespace

std::string escape_component(std::string_view component, bool at_root) {
  if (std::optional<std::string> bytes = bytes_name(component)) return *std::move(bytes);
  std::string name = needs_escape(component, at_root) ? std::string(kPlainLead) + to_text(component)
                                                      : std::string(component);
  return name.size() <= kMaxNameBytes ? name : long_name(component, false);
}

std::string escape_shadowed_file(std::string_view component) {
  std::string name = std::string(kFileLead) + to_text(component);
  return name.size() <= kMaxNameBytes ? name : long_name(component, true);
}

std::optional<std::string> escape_id(bson::ValueView id) {
  std::string name = std::string(kIdLead) + to_text(bson::to_json(id, bson::JsonForm::kCanonical));
  if (name.size() > kMaxNameBytes) return std::nullopt;
  return name;
}

std::optional<std::string> id_name(bson::ValueView id) {
  if (id.type() == bson::Type::kObjectId) return id.as_object_id().hex();
  std::optional<std::string> name = escape_id(id);
  if (name) name->erase(0, kIdLead.size());
  return name;
}

Result<bson::Value> parse_id_name(std::string_view name) {
  if (const std::optional<bson::ObjectId> id = bson::ObjectId::from_hex(name)) {
    if (id->hex() == name) return bson::Value(*id);
  }
  GM_ASSIGN(const ParsedName parsed, parse_name(std::string(kIdLead) + std::string(name), true));
  std::optional<bson::Value> id = id_from_json(parsed.component);
  if (!id || id_name(*id) != name) {
    return fail(kInvalidName, "'" + std::string(name) + "' is not an _id as the mount shows it");
  }
  return *std::move(id);
}

std::optional<bson::Value> id_from_json(std::string_view json) {
  const Result<bson::Document> wrapped =
      bson::document_from_json("{\"_id\": " + std::string(json) + "}");
  if (!wrapped) return std::nullopt;
  // Text that ends the value and begins another field is no _id.
  std::optional<bson::Value> id;
  for (const bson::Element element : wrapped->view()) {
    if (id) return std::nullopt;
    id.emplace(element.value);
  }
  return id;
}

Result<ParsedName> parse_name(std::string_view name, bool at_root) {
  if (name.size() > kMaxNameBytes) {
    return fail(kNameTooLong, "a name may have at most " + std::to_string(kMaxNameBytes) +
                                  " bytes, not " + std::to_string(name.size()));
  }
  if (!is_utf8(name)) {
    if (name.find_first_of(std::string_view("/\0", 2)) != std::string_view::npos) {
      return invalid(name, "has a slash or a NUL");
    }
    return ParsedName{ParsedName::Kind::kPlain, bytes_component(name), {}};
  }
  if (!name.starts_with(kEscapeLead)) {
    if (needs_escape(name, at_root)) return invalid(name, "is reserved");
    return ParsedName{ParsedName::Kind::kPlain, std::string(name), {}};
  }
  constexpr std::string_view kWrong = "begins like an escape but is not a valid one";
  ParsedName parsed;
  std::string_view text;
  if (name.starts_with(kPlainLead)) {
    text = name.substr(kPlainLead.size());
  } else if (name.starts_with(kFileLead)) {
    parsed.kind = ParsedName::Kind::kFile;
    text = name.substr(kFileLead.size());
  } else if (name.starts_with(kIdLead) && at_root) {
    parsed.kind = ParsedName::Kind::kId;
    text = name.substr(kIdLead.size());
  } else if (name.starts_with(kLongLead) && name.size() > kLongLead.size() + kHashDigits) {
    parsed.kind = ParsedName::Kind::kLong;
    text = name.substr(kLongLead.size());
    parsed.hash = text.substr(text.size() - kHashDigits);
    text.remove_suffix(kHashDigits);
    if (!text.ends_with(':')) return invalid(name, kWrong);
    text.remove_suffix(1);
  } else {
    return invalid(name, kWrong);
  }
  std::optional<std::string> bytes = from_text(text);
  if (!bytes) return invalid(name, kWrong);
  parsed.component = *std::move(bytes);
  // Each component has exactly one name.
  switch (parsed.kind) {
    case ParsedName::Kind::kPlain: {
      // A component may have slashes only at its beginning, and only in the root.
      const size_t slash = parsed.component.find_last_of('/');
      const bool leading = slash == std::string::npos ||
                           (at_root && parsed.component.find_first_not_of('/') > slash);
      if (!leading || escape_component(parsed.component, at_root) != name) {
        return invalid(name, kWrong);
      }
      break;
    }
    case ParsedName::Kind::kFile:
      if (escape_shadowed_file(parsed.component) != name) return invalid(name, kWrong);
      break;
    case ParsedName::Kind::kId:
    case ParsedName::Kind::kLong:
      // The rest is checked when the file is looked up.
      if (to_text(parsed.component) != text) return invalid(name, kWrong);
      break;
  }
  return parsed;
}

LongNameFit fits_long_name(const ParsedName& name, std::string_view component) {
  if (!component.starts_with(name.component)) return LongNameFit::kNone;
  const std::string whole = std::string(kLongLead) + to_text(name.component) + ":" + name.hash;
  // at_root only matters for ".gridfs", which is too short for a long name.
  if (escape_component(component, false) == whole) return LongNameFit::kPlain;
  if (escape_shadowed_file(component) == whole) return LongNameFit::kShadowedFile;
  return LongNameFit::kNone;
}

Result<std::string> path_of_new_child(std::string_view directory, std::string_view name) {
  GM_ASSIGN(const ParsedName parsed, parse_name(name, directory.empty()));
  if (parsed.kind != ParsedName::Kind::kPlain) {
    return fail(kInvalidName,
                "'" + join(directory, name) +
                    "' cannot be created: only the file system itself makes names of this form");
  }
  std::string path = join(directory, parsed.component);
  if (path.size() > kMaxPathBytes) {
    return fail(kNameTooLong, "a path may have at most " + std::to_string(kMaxPathBytes) +
                                  " bytes, not " + std::to_string(path.size()));
  }
  return path;
}

std::string join(std::string_view directory, std::string_view component) {
  std::string path(directory);
  if (!path.empty()) path.push_back('/');
  path.append(component);
  return path;
}

SplitPath split(std::string_view path) {
  const size_t slash = path.rfind('/');
  // Leading slashes belong to the first component.
  const size_t first = path.find_first_not_of('/');
  if (slash == std::string_view::npos || first == std::string_view::npos || slash < first) {
    return {"", path};
  }
  return {path.substr(0, slash), path.substr(slash + 1)};
}

bool can_be_directory(std::string_view path) {
  return path.empty() || path.find_first_not_of('/') != std::string_view::npos;
}

std::string_view first_component(std::string_view rest, bool at_root) {
  const size_t begin = at_root ? rest.find_first_not_of('/') : 0;
  if (begin == std::string_view::npos) return rest;
  return rest.substr(0, rest.find('/', begin));
}

}  // namespace gridmount::gridfs
