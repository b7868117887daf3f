#include "tests/fuse/crash/random_program.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tests/fuse/crash/model.h"

namespace gridmount::fuse::testing {
namespace {

constexpr std::array kNames = {"a", "b", "c", "long name", "d"};
constexpr std::array kModes = {0600U, 0640U, 0644U, 0755U};
constexpr uint64_t kFileBytesMax = 60'000;
constexpr uint64_t kProgramPageBytes = 4096;
constexpr ptrdiff_t kDepthMax = 2;

std::string random_bytes(std::mt19937_64& random, size_t size) {
  std::string bytes(size, '\0');
  uint64_t word = random() | 1;
  for (char& byte : bytes) {
    word = word * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<char>(word >> 56);
  }
  return bytes;
}

class Programmer {
 public:
  explicit Programmer(std::mt19937_64& random) : random_(random) {}

  Program write(size_t calls, size_t sessions);

 private:
  uint64_t below(uint64_t end) { return random_() % end; }
  template <typename Options>
  const auto& one_of(const Options& options) {
    return options[below(options.size())];
  }
  std::optional<std::string> any(FoundKind kind);
  // The user's own directory is neither moved nor removed.
  std::optional<std::string> any_folder() { return any(FoundKind::kFolder); }
  std::optional<std::string> any_file() { return any(FoundKind::kFile); }
  // Returns a name in an existing directory. The name itself need not exist.
  std::string any_place();
  std::optional<std::string> any_free_place();
  bool is_empty(const std::string& folder) const;
  std::optional<int> any_slot(bool is_used);
  bool is_mapped(int file) const;

  void add(Call call) {
    model_.apply(call, {});
    program_.calls.push_back(std::move(call));
  }
  void close_all();
  // Returns nothing if the chosen call is not possible.
  std::optional<Call> choose();
  std::optional<Call> choose_name_change();
  std::optional<Call> choose_rename();
  std::optional<Call> choose_attribute_change();
  std::optional<Call> choose_opening();
  std::optional<Call> choose_content_change(int slot);
  std::optional<Call> choose_mapping_call();
  std::optional<Call> choose_sync();

  std::mt19937_64& random_;
  Program program_;
  Model model_;
  std::array<uint64_t, kMaps> mapped_bytes_{};
};

std::optional<std::string> Programmer::any(FoundKind kind) {
  std::vector<std::string> paths;
  for (const auto& [path, name] : model_.names()) {
    if (name.kind == kind && !path.empty()) paths.push_back(path);
  }
  return paths.empty() ? std::nullopt : std::optional(one_of(paths));
}

std::string Programmer::any_place() {
  std::vector<std::string> folders;
  for (const auto& [path, name] : model_.names()) {
    if (name.kind == FoundKind::kFolder && std::count(path.begin(), path.end(), '/') < kDepthMax) {
      folders.push_back(path);
    }
  }
  const std::string& folder = one_of(folders);
  return (folder.empty() ? "" : folder + "/") + one_of(kNames);
}

std::optional<std::string> Programmer::any_free_place() {
  std::string place = any_place();
  return model_.names().contains(place) ? std::nullopt : std::optional(std::move(place));
}

bool Programmer::is_empty(const std::string& folder) const {
  return std::none_of(model_.names().begin(), model_.names().end(),
                      [&](const auto& name) { return name.first.starts_with(folder + "/"); });
}

std::optional<int> Programmer::any_slot(bool is_used) {
  const auto slot = static_cast<int>(below(kSlots));
  return model_.handle(slot).has_value() == is_used ? std::optional(slot) : std::nullopt;
}

bool Programmer::is_mapped(int file) const {
  for (int map = 0; map < kMaps; ++map) {
    if (model_.mapping(map) == file) return true;
  }
  return false;
}

std::optional<Call> Programmer::choose_rename() {
  const bool folder = below(3) == 0;
  const std::optional<std::string> from = folder ? any_folder() : any_file();
  const std::string to = any_place();
  if (!from || *from == to || to.starts_with(*from + "/")) return {};
  const auto target = model_.names().find(to);
  const bool exists = target != model_.names().end();
  if (exists && below(4) == 0 && !from->starts_with(to + "/")) {
    // For two names of one file, rename(2) does nothing.
    const int file = model_.names().at(*from).file;
    if (!folder && target->second.file == file) return {};
    return Call{.kind = CallKind::kExchange, .path = *from, .target = to};
  }
  if (exists && folder && (target->second.kind != FoundKind::kFolder || !is_empty(to))) return {};
  if (exists && !folder && target->second.kind == FoundKind::kFolder) return {};
  if (exists && !folder && target->second.file == model_.names().at(*from).file) return {};
  return Call{.kind = CallKind::kRename, .path = *from, .target = to};
}

std::optional<Call> Programmer::choose_name_change() {
  const std::optional<std::string> file = any_file();
  switch (below(8)) {
    case 0:
    case 1: {
      const std::optional<std::string> place = any_free_place();
      if (!place) return {};
      return Call{.kind = CallKind::kMakeFolder, .path = *place, .mode = one_of(kModes)};
    }
    case 2: {
      const std::optional<std::string> folder = any_folder();
      if (!folder || !is_empty(*folder)) return {};
      return Call{.kind = CallKind::kRemoveFolder, .path = *folder};
    }
    case 3: {
      const std::optional<std::string> path = below(4) == 0 ? any(FoundKind::kSymlink) : file;
      if (!path || model_.names().size() < 5) return {};
      return Call{.kind = CallKind::kUnlink, .path = *path};
    }
    case 4: {
      const std::optional<std::string> place = any_free_place();
      if (!file || !place) return {};
      return Call{.kind = CallKind::kLink, .path = *file, .target = *place};
    }
    case 5: {
      const std::optional<std::string> place = any_free_place();
      if (!place) return {};
      return Call{.kind = CallKind::kMakeSymlink,
                  .path = *place,
                  .target = "to/" + std::to_string(below(1000))};
    }
    default:
      return choose_rename();
  }
}

std::optional<Call> Programmer::choose_attribute_change() {
  const std::optional<std::string> path = below(4) == 0 ? any_folder() : any_file();
  if (!path) return {};
  const Model::Name& name = model_.names().at(*path);
  const bool is_file = name.kind == FoundKind::kFile;
  switch (below(4)) {
    case 0:
      if (!is_file) return {};
      return Call{.kind = CallKind::kSetTime, .path = *path, .offset = below(1'000'000'000)};
    case 1:
      return Call{.kind = CallKind::kChangeMode, .path = *path, .mode = one_of(kModes)};
    case 2:
      if ((is_file ? model_.file(name.file).xattr : name.xattr).empty()) return {};
      return Call{.kind = CallKind::kRemoveXattr, .path = *path};
    default:
      return Call{.kind = CallKind::kSetXattr, .path = *path, .bytes = std::to_string(random_())};
  }
}

std::optional<Call> Programmer::choose_opening() {
  const std::optional<int> slot = any_slot(false);
  if (!slot) return {};
  constexpr std::array kSyncing = {0, 0, 0, O_SYNC, O_DSYNC};
  const int syncing = one_of(kSyncing);
  const std::optional<std::string> place = any_free_place();
  if (place && below(3) != 0) {
    return Call{.kind = CallKind::kCreate,
                .path = *place,
                .slot = *slot,
                .flags = syncing,
                .mode = one_of(kModes)};
  }
  const std::optional<std::string> file = any_file();
  if (!file) return {};
  const bool may_cut = !is_mapped(model_.names().at(*file).file);
  return Call{.kind = CallKind::kOpen,
              .path = *file,
              .slot = *slot,
              .flags = syncing | (may_cut && below(3) == 0 ? O_TRUNC : 0)};
}

std::optional<Call> Programmer::choose_content_change(int slot) {
  const int number = model_.handle(slot)->file;
  const uint64_t length = model_.file(number).content.size();
  const uint64_t kind = below(10);
  if (kind == 0) {
    // A truncation would kill a process that has the rest mapped.
    const uint64_t size = is_mapped(number) ? length + below(5000) : below(length + 5000);
    return Call{.kind = CallKind::kResize, .slot = slot, .size = std::min(size, kFileBytesMax)};
  }
  if (kind <= 2) {
    if (length == 0) return {};
    const uint64_t offset = below(length);
    return Call{.kind = kind == 1 ? CallKind::kPunch : CallKind::kZero,
                .slot = slot,
                .offset = offset,
                .size = 1 + below(length - offset)};
  }
  if (kind == 3) {
    if (length + 8000 > kFileBytesMax) return {};
    return Call{.kind = CallKind::kAllocate, .slot = slot, .size = length + 1 + below(7000)};
  }
  const uint64_t size = 1 + (below(8) == 0 ? below(30'000) : below(5000));
  const uint64_t offset = below(4) == 0   ? length + below(9000)
                          : below(3) == 0 ? length
                                          : below(length + 1);
  if (offset + size > kFileBytesMax) return {};
  return Call{.kind = CallKind::kWrite,
              .slot = slot,
              .offset = offset,
              .bytes = random_bytes(random_, size)};
}

std::optional<Call> Programmer::choose_mapping_call() {
  const auto map = static_cast<int>(below(kMaps));
  if (!model_.mapping(map)) {
    const std::optional<int> slot = any_slot(true);
    if (!slot || model_.file(model_.handle(*slot)->file).content.empty()) return {};
    const uint64_t length = model_.file(model_.handle(*slot)->file).content.size();
    mapped_bytes_[static_cast<size_t>(map)] = length;
    return Call{.kind = CallKind::kMap, .slot = *slot, .map = map, .size = length};
  }
  // The file still has the length it had when it was mapped.
  const uint64_t length = mapped_bytes_[static_cast<size_t>(map)];
  switch (below(6)) {
    case 0:
      return Call{.kind = CallKind::kUnmap, .map = map};
    case 1: {
      const uint64_t from =
          below(2) == 0 ? 0 : below(length) / kProgramPageBytes * kProgramPageBytes;
      const uint64_t size = from == 0 ? length : 1 + below(length - from);
      return Call{.kind = CallKind::kSyncMap, .map = map, .offset = from, .size = size};
    }
    default: {
      const uint64_t offset = below(length);
      const uint64_t size = 1 + below(std::min<uint64_t>(length - offset, 6000));
      return Call{.kind = CallKind::kStore,
                  .map = map,
                  .offset = offset,
                  .bytes = random_bytes(random_, size)};
    }
  }
}

std::optional<Call> Programmer::choose_sync() {
  const uint64_t kind = below(8);
  if (kind == 0) return Call{.kind = CallKind::kSyncFileSystem};
  if (kind == 1) {
    return Call{.kind = CallKind::kSyncFolder,
                .path = below(2) == 0 ? "" : any_folder().value_or("")};
  }
  const std::optional<int> slot = any_slot(true);
  if (!slot) return {};
  if (kind <= 3) {
    return Call{.kind = CallKind::kSyncRange,
                .slot = *slot,
                .offset = below(20'000),
                .size = kProgramPageBytes};
  }
  return Call{.kind = kind <= 5 ? CallKind::kSync : CallKind::kSyncData, .slot = *slot};
}

std::optional<Call> Programmer::choose() {
  const uint64_t kind = below(32);
  if (kind == 0) return Call{.kind = CallKind::kPause, .size = below(8000)};
  if (kind <= 4) return choose_name_change();
  if (kind <= 6) return choose_attribute_change();
  if (kind <= 10) return choose_opening();
  if (kind == 11) {
    const std::optional<std::string> file = any_file();
    if (!file || is_mapped(model_.names().at(*file).file)) return {};
    const uint64_t length = model_.file(model_.names().at(*file).file).content.size();
    const uint64_t size = below(4) == 0 ? 0 : std::min(below(length + 3000), kFileBytesMax);
    // For the same size it is undefined whether the time changes.
    if (size == length) return {};
    return Call{.kind = CallKind::kResizePath, .path = *file, .size = size};
  }
  if (kind <= 15) return choose_mapping_call();
  if (kind <= 18) return choose_sync();
  const std::optional<int> slot = any_slot(true);
  if (!slot) return {};
  if (kind <= 20) return Call{.kind = CallKind::kClose, .slot = *slot};
  return choose_content_change(*slot);
}

void Programmer::close_all() {
  for (int map = 0; map < kMaps; ++map) {
    if (model_.mapping(map)) add({.kind = CallKind::kUnmap, .map = map});
  }
  for (int slot = 0; slot < kSlots; ++slot) {
    if (model_.handle(slot)) add({.kind = CallKind::kClose, .slot = slot});
  }
}

Program Programmer::write(size_t calls, size_t sessions) {
  const size_t each = (calls + below(calls + 1)) / sessions;
  add({.kind = CallKind::kMakeFolder, .path = "", .mode = 0755});
  for (size_t session = 0; session < sessions; ++session) {
    const size_t end = program_.calls.size() + each;
    while (program_.calls.size() < end) {
      if (std::optional<Call> call = choose()) add(std::move(*call));
    }
    close_all();
    program_.session_ends.push_back(program_.calls.size());
  }
  return std::move(program_);
}

}  // namespace

Program random_program(std::mt19937_64& random, size_t calls, size_t sessions) {
  return Programmer(random).write(calls, sessions);
}

}  // namespace gridmount::fuse::testing
