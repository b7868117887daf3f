#include "tests/engine/local/crash/write_recorder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

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
  initial_entries_.clear();
  initial_contents_.clear();
  events_.clear();
  blocks_.clear();
  held_path_.clear();
  held_ = false;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (entry.is_directory()) {
      initial_entries_[name] = kNoFile;
      continue;
    }
    struct stat status {};
    ::stat(entry.path().c_str(), &status);
    by_inode_[{status.st_dev, status.st_ino}] = initial_contents_.size();
    initial_entries_[name] = initial_contents_.size();
    std::vector<uint8_t>& contents = initial_contents_.emplace_back(entry.file_size());
    std::ifstream(entry.path(), std::ios::binary)
        .read(reinterpret_cast<char*>(contents.data()),
              static_cast<std::streamsize>(contents.size()));
  }
  entries_ = initial_entries_;
  files_ = initial_contents_.size();
  recording_ = true;
}

void WriteRecorder::resume(size_t event, const fs::path& folder,
                           const std::map<std::string, size_t>& entries) {
  const std::lock_guard lock(mutex_);
  folder_ = folder.string();
  events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(event), events_.end());
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
  events_.push_back(std::move(event));
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
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < size) {
    blocks_.emplace_back().reserve(std::max(kBlockBytes, size));
  }
  std::vector<uint8_t>& block = blocks_.back();
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
  const uint64_t begins = events_.size();
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
  const auto [known, is_new] = by_inode_.try_emplace(*inode, files_);
  if (is_new) {
    push({.kind = EventKind::kLink, .file = files_, .path = below});
    entries_[below] = files_++;
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

// Its inode may be given to another file.
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
