#include "tests/engine/local/crash/write_recorder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

std::optional<std::pair<uint64_t, uint64_t>> inode_of(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return std::pair<uint64_t, uint64_t>(status.st_dev, status.st_ino);
}

std::optional<fs::path> path_of(int fd) {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  return error ? std::nullopt : std::optional(path);
}

}  // namespace

WriteRecorder& WriteRecorder::instance() {
  static WriteRecorder recorder;
  return recorder;
}

void WriteRecorder::start(const fs::path& folder) {
  const std::lock_guard lock(mutex_);
  folder_ = folder.string();
  by_inode_.clear();
  now_ = {};
  held_path_.clear();
  held_ = false;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_directory()) {
      now_.initial_entries[name] = kNoFile;
      continue;
    }
    struct stat status {};
    ::stat(entry.path().c_str(), &status);
    by_inode_[{status.st_dev, status.st_ino}] = now_.initial_contents.size();
    now_.initial_entries[name] = now_.initial_contents.size();
    now_.initial_contents.push_back(FileContents::read(entry.path()));
  }
  entries_ = now_.initial_entries;
  now_.files = now_.initial_contents.size();
  recording_ = true;
}

WriteRecorder::Recording WriteRecorder::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(now_, {});
}

void WriteRecorder::put_back(Recording recording) {
  const std::lock_guard lock(mutex_);
  now_ = std::move(recording);
}

void WriteRecorder::resume(const Recording& recording, size_t event, const fs::path& folder,
                           const std::map<std::string, size_t>& entries) {
  const std::lock_guard lock(mutex_);
  folder_ = folder.string();
  now_.initial_entries = recording.initial_entries;
  now_.initial_contents = recording.initial_contents;
  now_.files = recording.files;
  now_.events.assign(recording.events.begin(),
                     recording.events.begin() + static_cast<std::ptrdiff_t>(event));
  now_.blocks.clear();
  entries_ = entries;
  by_inode_.clear();
  for (const auto& [name, file] : entries) {
    struct stat status {};
    if (file == kNoFile || ::stat((folder / name).c_str(), &status) != 0) continue;
    by_inode_[{status.st_dev, status.st_ino}] = file;
  }
  held_path_.clear();
  held_ = false;
  recording_ = true;
}

void WriteRecorder::stop() {
  recording_ = false;
}

void WriteRecorder::stamp_with(std::function<uint64_t()> stamp) {
  const std::lock_guard lock(mutex_);
  stamp_ = std::move(stamp);
}

void WriteRecorder::push(Event event) {
  if (stamp_) event.stamp = stamp_();
  now_.events.push_back(std::move(event));
}

void WriteRecorder::note(EventKind kind, uint64_t step) {
  const std::lock_guard lock(mutex_);
  push({.kind = kind, .number = step});
}

void WriteRecorder::hold_sync_of(const std::string& path) {
  const std::lock_guard lock(mutex_);
  held_path_ = path;
}

bool WriteRecorder::holds_sync() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void WriteRecorder::release() {
  const std::lock_guard lock(mutex_);
  held_ = false;
  changed_.notify_all();
}

size_t WriteRecorder::file_of(int fd) const {
  const auto inode = inode_of(fd);
  if (!inode) return kNoFile;
  const auto found = by_inode_.find(*inode);
  return found == by_inode_.end() ? kNoFile : found->second;
}

bool WriteRecorder::locate(std::string_view path, std::string& below) const {
  if (path.starts_with(folder_ + "/")) {
    below = fs::path(path.substr(folder_.size() + 1)).lexically_normal();
    if (below.ends_with('/')) below.pop_back();
    return true;
  }
  below.clear();
  return path == folder_;
}

std::span<const uint8_t> WriteRecorder::keep(const void* bytes, size_t size) {
  constexpr size_t kBlockBytes = size_t{4} << 20;
  if (now_.blocks.empty() || now_.blocks.back().capacity() - now_.blocks.back().size() < size) {
    now_.blocks.emplace_back().reserve(std::max(kBlockBytes, size));
  }
  std::vector<uint8_t>& block = now_.blocks.back();
  const auto* const begin = static_cast<const uint8_t*>(bytes);
  block.insert(block.end(), begin, begin + size);
  return std::span(block).last(size);
}

void WriteRecorder::write(int fd, uint64_t offset, const void* bytes, size_t size) {
  const std::lock_guard lock(mutex_);
  const size_t file = file_of(fd);
  if (file == kNoFile) return;
  push({.kind = EventKind::kWrite, .file = file, .number = offset, .bytes = keep(bytes, size)});
}

void WriteRecorder::resize(int fd, uint64_t size) {
  const std::lock_guard lock(mutex_);
  const size_t file = file_of(fd);
  if (file != kNoFile) {
    push({.kind = EventKind::kResize, .file = file, .number = size});
  }
}

void WriteRecorder::sync(int fd) {
  std::unique_lock lock(mutex_);
  const size_t file = file_of(fd);
  if (file == kNoFile) {
    std::string below;
    const auto path = path_of(fd);
    if (path && !ignores_folder_syncs_ && locate(path->string(), below)) {
      push({.kind = EventKind::kFolderSync, .path = below});
    }
    return;
  }
  const uint64_t begins = now_.events.size();
  push({.kind = EventKind::kSyncBegins, .file = file, .number = begins});
  const auto held = entries_.find(held_path_);
  if (held != entries_.end() && held->second == file) {
    held_path_.clear();
    held_ = true;
    changed_.wait(lock, [&] { return !held_; });
  }
  push({.kind = EventKind::kSyncEnds, .file = file, .number = begins});
}

void WriteRecorder::opened(int fd, std::string_view path, bool emptied) {
  const std::lock_guard lock(mutex_);
  std::string below;
  const auto inode = inode_of(fd);
  if (!inode || !locate(path, below)) return;
  const auto [known, is_new] = by_inode_.try_emplace(*inode, now_.files);
  if (is_new) {
    push({.kind = EventKind::kLink, .file = now_.files, .path = below});
    entries_[below] = now_.files++;
  } else if (emptied) {
    push({.kind = EventKind::kResize, .file = known->second, .number = 0});
  }
}

void WriteRecorder::made_folder(std::string_view path) {
  const std::lock_guard lock(mutex_);
  std::string below;
  if (!locate(path, below)) return;
  push({.kind = EventKind::kLink, .path = below});
  entries_[below] = kNoFile;
}

// The inode may be reused for another file.
void WriteRecorder::forget(size_t file) {
  if (file != kNoFile)
    std::erase_if(by_inode_, [&](const auto& each) { return each.second == file; });
}

void WriteRecorder::removed(std::string_view path) {
  const std::lock_guard lock(mutex_);
  std::string below;
  if (!locate(path, below)) return;
  const auto found = entries_.find(below);
  if (found == entries_.end()) return;
  push({.kind = EventKind::kUnlink, .path = below});
  forget(found->second);
  entries_.erase(found);
}

void WriteRecorder::renamed(std::string_view from, std::string_view to) {
  const std::lock_guard lock(mutex_);
  std::string source;
  std::string target;
  if (!locate(from, source) || !locate(to, target)) return;
  const size_t file = entries_.at(source);
  push({.kind = EventKind::kRename, .file = file, .path = source, .target = target});
  entries_.erase(source);
  if (const auto replaced = entries_.find(target); replaced != entries_.end()) {
    forget(replaced->second);
  }
  entries_[target] = file;
}

}  // namespace gridmount::local::testing
