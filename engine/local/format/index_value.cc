#include "engine/local/format/index_value.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/bson/key_string_bytes.h"
#include "engine/bson/number.h"
#include "engine/local/format/entry_checksum.h"
#include "engine/local/format/index_key_encoding.h"
#include "engine/local/format/keyspace.h"

namespace gridmount::local {
namespace {

using bson::kTextEscape;
using enum bson::KeyClass;

constexpr size_t kRecordIdBytes = 8;

std::optional<ValueKind> kind_of(bson::ValueView value) {
  using bson::Type;
  switch (value.type()) {
    case Type::kNull:
    case Type::kString:
    case Type::kObjectId:
    case Type::kBool:
    case Type::kDate:
    case Type::kTimestamp:
    case Type::kMinKey:
    case Type::kMaxKey:
      return ValueKind::kOfClass;
    case Type::kInt32:
      return ValueKind::kInt32;
    case Type::kInt64:
      if (!bson::is_exact_double(value)) return std::nullopt;
      return ValueKind::kInt64;
    case Type::kDouble: {
      const double number = value.as_double();
      if (std::isnan(number) || (number == 0 && std::signbit(number))) return std::nullopt;
      return ValueKind::kDouble;
    }
    default:
      return std::nullopt;
  }
}

// One encoded value, converted to the form of an ascending part: the class, then the body.
class Body {
 public:
  Body(std::string_view encoded, bool descending) : bytes_(encoded) {
    if (!descending) return;
    for (char& byte : bytes_) byte = static_cast<char>(~byte);
  }

  uint8_t key_class() const { return static_cast<uint8_t>(bytes_[0]); }
  size_t size() const { return bytes_.size() - 1; }
  const char* data() const { return bytes_.data() + 1; }
  uint64_t big_endian() const { return big_endian_64(std::string_view(bytes_).substr(1)); }

  double number() const {
    const uint64_t bits = big_endian();
    return std::bit_cast<double>((bits >> 63) != 0 ? bits & ~(uint64_t{1} << 63) : ~bits);
  }

  std::string text() const {
    std::string text;
    text.reserve(size());
    for (size_t i = 1; i + 1 < bytes_.size(); ++i) {
      text.push_back(bytes_[i] == kTextEscape ? static_cast<char>(bytes_[++i] - 1) : bytes_[i]);
    }
    return text;
  }

 private:
  std::string bytes_;
};

bool append_number(bson::Builder& builder, std::string_view name, const Body& body,
                   ValueKind kind) {
  const double number = body.number();
  switch (kind) {
    case ValueKind::kInt32:
      builder.append(name, static_cast<int32_t>(number));
      return true;
    case ValueKind::kInt64:
      builder.append(name, static_cast<int64_t>(number));
      return true;
    case ValueKind::kDouble:
      builder.append(name, number);
      return true;
    default:
      return false;
  }
}

// Returns false if the kind does not fit the class of the encoded value.
bool append_value(bson::Builder& builder, std::string_view name, const Body& body, ValueKind kind) {
  if (body.key_class() == kNumber) return append_number(builder, name, body, kind);
  if (kind != ValueKind::kOfClass) return false;
  switch (body.key_class()) {
    case kNull:
      builder.append_null(name);
      return true;
    case kString:
      builder.append(name, body.text());
      return true;
    case kObjectId: {
      bson::ObjectId::Bytes bytes{};
      std::copy_n(body.data(), bytes.size(), reinterpret_cast<char*>(bytes.data()));
      builder.append(name, bson::ObjectId(bytes));
      return true;
    }
    case kBool:
      builder.append(name, *body.data() != 0);
      return true;
    case kDate:
      builder.append(name,
                     bson::Date{static_cast<int64_t>(body.big_endian() ^ (uint64_t{1} << 63))});
      return true;
    case kTimestamp: {
      const uint64_t both = body.big_endian();
      builder.append(
          name, bson::Timestamp{static_cast<uint32_t>(both >> 32), static_cast<uint32_t>(both)});
      return true;
    }
    case kMinKey:
      builder.append(name, bson::Value::min_key());
      return true;
    case kMaxKey:
      builder.append(name, bson::Value::max_key());
      return true;
    default:
      return false;
  }
}

bool has_position(const bson::Path& path) {
  return std::any_of(path.parts().begin(), path.parts().end(), [](const std::string& part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
  });
}

}  // namespace

std::string value_kinds(const IndexKeySpec& rules, bson::View document) {
  std::string kinds;
  if (rules.text != nullptr || rules.wildcard != nullptr) return kinds;
  for (const IndexPart& part : rules.parts) {
    if (part.hashed) return "";
    const std::optional<bson::ValueView> value = part.path.resolve(document);
    std::optional<ValueKind> kind;
    if (value) {
      // If the index has a collation, the key has the string's sort key instead of the string.
      const bool is_sort_key = part.collator != nullptr && value->type() == bson::Type::kString;
      if (!is_sort_key) kind = kind_of(*value);
    } else if (part.path.parts().size() == 1) {
      kind = ValueKind::kMissing;
    }
    if (!kind) return "";
    kinds.push_back(static_cast<char>(*kind));
  }
  return kinds;
}

std::string index_value(const IndexMetadata& index, std::string_view key, RecordId id,
                        std::string_view kinds) {
  std::string value;
  if (index.definition.unique) append_big_endian_64(value, id);
  value += kinds;
  if (index.checksums) append_entry_checksum(value, index.keyspace.tree, key);
  return value;
}

bool is_sound(const IndexMetadata& index, const TreeEntry& entry) {
  return !index.checksums || has_entry_checksum(index.keyspace.tree, entry.key, entry.value);
}

std::string_view kinds_of_value(const IndexMetadata& index, std::string_view value) {
  if (index.checksums) value.remove_suffix(std::min(kEntryChecksumBytes, value.size()));
  if (index.definition.unique) value.remove_prefix(std::min(kRecordIdBytes, value.size()));
  const size_t parts = index.rules.parts.size();
  return value.size() < parts ? std::string_view() : value.substr(0, parts);
}

KeyReader::KeyReader(const IndexMetadata& index) {
  const std::vector<IndexPart>& parts = index.rules.parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    // "a.0" may be a field's name or a position in an array.
    readable_ = readable_ && !parts[i].hashed && !parts[i].text && !parts[i].wildcard_path &&
                !has_position(parts[i].path);
    descending_.push_back(parts[i].descending);
    add(fields_, parts[i].path.parts(), 0, i);
  }
}

void KeyReader::add(std::vector<Field>& fields, const std::vector<std::string>& path, size_t depth,
                    size_t part) {
  auto at = std::find_if(fields.begin(), fields.end(),
                         [&](const Field& field) { return field.name == path[depth]; });
  if (at == fields.end()) at = fields.insert(fields.end(), Field{path[depth], {}, {}});
  if (depth + 1 < path.size()) {
    // In an index such as {a: 1, "a.b": 1}, no document has plain values for both parts.
    if (at->part) readable_ = false;
    add(at->below, path, depth + 1, part);
  } else {
    if (!at->below.empty()) readable_ = false;
    at->part = part;
  }
}

bool KeyReader::write(bson::Builder& builder, const std::vector<Field>& fields,
                      std::string_view encoded, const std::vector<Part>& parts) const {
  for (const Field& field : fields) {
    if (!field.below.empty()) {
      builder.open_document(field.name);
      if (!write(builder, field.below, encoded, parts)) return false;
      builder.close();
      continue;
    }
    const Part& part = parts[*field.part];
    if (part.kind == ValueKind::kMissing) continue;
    const Body body(encoded.substr(part.begin, part.size), descending_[*field.part]);
    if (!append_value(builder, field.name, body, part.kind)) return false;
  }
  return true;
}

std::optional<bson::Document> KeyReader::read(std::string_view encoded,
                                              std::string_view kinds) const {
  if (!readable_ || kinds.size() != descending_.size() || is_truncated(encoded)) {
    return std::nullopt;
  }
  std::vector<Part> parts;
  size_t begin = 0;
  for (size_t i = 0; i < descending_.size(); ++i) {
    const std::optional<size_t> size = bson::key_string_size(encoded.substr(begin), descending_[i]);
    if (!size) return std::nullopt;
    parts.push_back({begin, *size, static_cast<ValueKind>(kinds[i])});
    begin += *size;
  }
  bson::Builder builder;
  if (!write(builder, fields_, encoded, parts)) return std::nullopt;
  return std::move(builder).finish();
}

}  // namespace gridmount::local
