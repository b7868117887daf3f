#include "tools/gridstore/repair/lost_documents.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/bson/builder.h"

namespace gridmount::tools {

namespace {

// The limit for the distance from the _id to the end of the filename in a files document that a
// driver or a mount has written.
constexpr size_t kReachMax = size_t{64} << 10;
constexpr size_t kDocumentHeaderBytes = 4;

std::string element_of(const bson::Value& id) {
  bson::Builder builder;
  builder.append("_id", id);
  const bson::Document document = std::move(builder).finish();
  const auto bytes = document.view().bytes();
  // Without the document's terminator.
  return {reinterpret_cast<const char*>(bytes.data()) + kDocumentHeaderBytes,
          bytes.size() - kDocumentHeaderBytes - 1};
}

// Reads the BSON string at the beginning of `text`: four bytes with its length including the NUL,
// then the string.
std::optional<std::string> string_at(std::string_view text) {
  uint32_t bytes = 0;
  if (text.size() < sizeof(bytes)) return std::nullopt;
  std::memcpy(&bytes, text.data(), sizeof(bytes));
  text.remove_prefix(sizeof(bytes));
  if (bytes < 2 || bytes > text.size() || text[bytes - 1] != '\0') return std::nullopt;
  std::string found(text.substr(0, bytes - 1));
  bson::Builder builder;
  builder.append("filename", found);
  const bson::Document document = std::move(builder).finish();
  if (!bson::validate(document.view().bytes())) return std::nullopt;
  return found;
}

std::optional<std::string> filename_behind(std::string_view text) {
  constexpr std::string_view kFilename(
      "\x02"
      "filename\0",
      10);
  constexpr std::string_view kNextId("_id\0", 4);
  text = text.substr(0, std::min(text.find(kNextId), kReachMax));
  const size_t at = text.find(kFilename);
  if (at == std::string_view::npos) return std::nullopt;
  return string_at(text.substr(at + kFilename.size()));
}

}  // namespace

void LostDocuments::add(const engine::Namespace& ns, std::string_view bytes) {
  // The bytes of chunks contain no files documents.
  if (ns.collection.ends_with(".chunks") || bytes_ + bytes.size() > kBytesMax) return;
  bytes_ += bytes.size();
  parts_.emplace_back(bytes);
}

void LostDocuments::add_collections(const std::vector<engine::Namespace>& collections) {
  for (const engine::Namespace& collection : collections) collections_.insert(collection.full());
}

bool LostDocuments::are_of(const engine::Namespace& collection) const {
  return collections_.contains(collection.full());
}

std::optional<std::string> LostDocuments::filename(const bson::Value& id) const {
  const std::string element = element_of(id);
  for (const std::string_view part : parts_) {
    for (size_t at = part.find(element); at != std::string_view::npos;
         at = part.find(element, at + 1)) {
      if (auto found = filename_behind(part.substr(at + element.size()))) return found;
    }
  }
  return std::nullopt;
}

}  // namespace gridmount::tools
