#include "tools/gridstore/repair/keep_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/hex.h"
#include "engine/bson/builder.h"

namespace gridmount::tools {

namespace {

// Leaves room for suffixes and a number in the 255 bytes of a file name.
constexpr size_t kNameBytesMax = 200;
// Readers of BSON files accept documents of up to 16 MiB.
constexpr size_t kPartBytesMax = 8 * 1024 * 1024;

std::string file_name(const engine::Namespace& ns) {
  std::string name;
  for (const char c : ns.full()) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte > 0x1F && byte != 0x7F && c != '/' && c != '%') {
      name.push_back(c);
    } else {
      name += '%';
      append_hex(name, byte, HexDigits::kUpper);
    }
  }
  if (name.size() <= kNameBytesMax) return name;
  return name.substr(0, kNameBytesMax) + "~" + std::to_string(std::hash<std::string>()(ns.full()));
}

}  // namespace

std::string removed_suffix() {
  const time_t now = ::time(nullptr);
  tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), ".removed-%Y%m%dT%H%M%SZ", &utc);
  return text.data();
}

Status KeepFolder::check_free() const {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(folder_, error);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (!error && std::filesystem::is_directory(status) &&
      std::filesystem::is_empty(folder_, error) && !error) {
    return {};
  }
  return fail(ErrorCode::kOperationFailed,
              folder_.string() +
                  " cannot hold the data that a repair removes: it exists and is not an empty "
                  "folder; choose another one with --keep");
}

Status KeepFolder::make_folder() const {
  if (::mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) {
    return fail(ErrorCode::kOperationFailed,
                "making the folder " + folder_.string() + ": " + std::strerror(errno));
  }
  const std::filesystem::path above = std::filesystem::absolute(folder_).parent_path();
  return system::sync_folder(above);
}

Status KeepFolder::append(const std::string& name, bson::View document) {
  auto at = files_.find(name);
  if (at == files_.end()) {
    if (files_.empty()) GM_TRY(make_folder());
    GM_ASSIGN(system::File file, system::File::open(folder_ / name, O_RDWR | O_CREAT | O_EXCL));
    at = files_.emplace(name, Kept{std::move(file)}).first;
    entries_synced_ = false;
  }
  Kept& kept = at->second;
  kept.synced = false;
  GM_TRY(kept.file.write(kept.size, document.bytes()));
  kept.size += document.size();
  return {};
}

Status KeepFolder::keep_document(const engine::Namespace& ns, bson::View document) {
  return append(file_name(ns) + ".bson", document);
}

Status KeepFolder::keep_bytes(const engine::Namespace& ns, const std::string& what,
                              const std::string& why, std::string_view bytes) {
  lost_.add(ns, bytes);
  int32_t part = 0;
  do {
    const std::string_view some = bytes.substr(0, kPartBytesMax);
    bytes.remove_prefix(some.size());
    bson::Builder document;
    document.append("ns", ns.full()).append("what", what).append("why", why);
    document.append("part", part++);
    document.append("bytes", bson::Binary{0, reinterpret_cast<const uint8_t*>(some.data()),
                                          static_cast<uint32_t>(some.size())});
    GM_TRY(append(file_name(ns) + ".damaged.bson", std::move(document).finish()));
  } while (!bytes.empty());
  return {};
}

Status KeepFolder::sync() {
  for (auto& [name, kept] : files_) {
    if (kept.synced) continue;
    GM_TRY(kept.file.sync_data());
    kept.synced = true;
  }
  if (!entries_synced_) GM_TRY(system::sync_folder(folder_));
  entries_synced_ = true;
  return {};
}

}  // namespace gridmount::tools
