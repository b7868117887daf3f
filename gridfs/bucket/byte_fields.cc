#include "gridfs/bucket/byte_fields.h"

#include <bson/bson.h>

namespace gridmount::gridfs {

void append_bytes(bson::Builder& builder, std::string_view key, std::string_view bytes) {
  if (bson_utf8_validate(bytes.data(), bytes.size(), false)) {
    builder.append(key, bytes);
  } else {
    builder.append(key, bson::Binary{0, reinterpret_cast<const uint8_t*>(bytes.data()),
                                     static_cast<uint32_t>(bytes.size())});
  }
}

std::optional<std::string_view> view_bytes(bson::View document, std::string_view key) {
  const std::optional<bson::ValueView> value = document.find(key);
  if (!value) return std::nullopt;
  if (value->type() == bson::Type::kString) return value->as_string();
  if (value->type() != bson::Type::kBinary) return std::nullopt;
  const bson::Binary bytes = value->as_binary();
  return std::string_view(reinterpret_cast<const char*>(bytes.data), bytes.size);
}

std::optional<std::string> read_bytes(bson::View document, std::string_view key) {
  const std::optional<std::string_view> bytes = view_bytes(document, key);
  if (!bytes) return std::nullopt;
  return std::string(*bytes);
}

}  // namespace gridmount::gridfs
