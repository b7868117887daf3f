#include "http/entity_tag.h"

#include <fmt/core.h>

#include <span>

#include "http/request.h"

namespace gridmount::http {

namespace {

__extension__ using Unsigned128 = unsigned __int128;

constexpr Unsigned128 of_halves(uint64_t high, uint64_t low) {
  return (static_cast<Unsigned128>(high) << 64) + low;
}

// Returns text that identifies an _id: the digits of an ObjectId, or the type and a 128-bit hash
// (FNV-1a) of any other value, because an _id can be longer than a field of the head.
std::string tag_of_id(bson::ValueView id) {
  if (id.type() == bson::Type::kObjectId) return id.as_object_id().hex();
  constexpr Unsigned128 kPrime = of_halves(0x1000000, 0x13B);
  Unsigned128 hash = of_halves(0x6C62272E07BB0142, 0x62B821756295C58D);
  for (const uint8_t byte : std::span(id.data(), id.size())) hash = (hash ^ byte) * kPrime;
  return fmt::format("{:02x}{:016x}{:016x}", static_cast<int>(id.type()),
                     static_cast<uint64_t>(hash >> 64), static_cast<uint64_t>(hash));
}

}  // namespace

std::string entity_tag(const gridfs::FilesDocument& file) {
  return fmt::format("\"{}-{:x}-{:x}\"", tag_of_id(file.id), file.upload_date.milliseconds,
                     file.length);
}

bool has_tag(std::string_view list, std::string_view tag, TagComparison comparison) {
  if (trimmed(list) == "*") return true;
  while (!list.empty()) {
    list = trimmed(list);
    const bool is_weak = list.starts_with("W/");
    if (is_weak) list.remove_prefix(2);
    // A tag may have commas, so it ends at its second quote.
    const size_t end = list.starts_with('"') ? list.find('"', 1) : std::string_view::npos;
    if (end == std::string_view::npos) return false;
    const bool is_equal = list.substr(0, end + 1) == tag;
    if (is_equal && (!is_weak || comparison == TagComparison::kWeak)) return true;
    list.remove_prefix(end + 1);
    list = trimmed(list);
    if (list.starts_with(',')) list.remove_prefix(1);
  }
  return false;
}

}  // namespace gridmount::http
