#include "engine/disk_cache/disk_cache.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "engine/base/hex.h"
#include "engine/checksum/crc32c.h"
#include "engine/system/system_error.h"

namespace gridmount {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kMagic = "GMCHUNK1";
constexpr std::string_view kLockText = "This folder is a cache of gridmount. It may be removed.\n";
constexpr const char* kLockFile = "lock";
constexpr const char* kNewFile = "new";
constexpr size_t kHeaderBytes = 20;
constexpr std::chrono::minutes kComplaintEach{1};

// The cache leaves one part in kFreeShare of the file system free for other programs.
constexpr uint64_t kFreeShare = 20;

uint32_t number_at(const std::vector<uint8_t>& bytes, size_t at) {
  return uint32_t{bytes[at]} | uint32_t{bytes[at + 1]} << 8 | uint32_t{bytes[at + 2]} << 16 |
         uint32_t{bytes[at + 3]} << 24;
}

void append_number(std::vector<uint8_t>& bytes, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<uint8_t>(number >> shift));
}

std::vector<uint8_t> format_entry(std::string_view key, const std::vector<uint8_t>& content) {
  std::vector<uint8_t> bytes;
  bytes.reserve(kHeaderBytes + key.size() + content.size());
  bytes.insert(bytes.end(), kMagic.begin(), kMagic.end());
  append_number(bytes, static_cast<uint32_t>(key.size()));
  append_number(bytes, static_cast<uint32_t>(content.size()));
  append_number(bytes, 0);
  bytes.insert(bytes.end(), key.begin(), key.end());
  bytes.insert(bytes.end(), content.begin(), content.end());
  const uint32_t checksum = crc32c(std::span(bytes).subspan(kHeaderBytes));
  for (size_t i = 0; i < 4; ++i) bytes[16 + i] = static_cast<uint8_t>(checksum >> (8 * i));
  return bytes;
}

// Returns null if the bytes are not an intact entry of that key.
DiskCache::Content parse_entry(const std::vector<uint8_t>& bytes, std::string_view key) {
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return nullptr;
  }
  const size_t key_bytes = number_at(bytes, 8);
  const size_t content_bytes = number_at(bytes, 12);
  const std::span<const uint8_t> all = std::span(bytes).subspan(kHeaderBytes);
  if (key_bytes != key.size() || all.size() != key_bytes + content_bytes ||
      std::memcmp(all.data(), key.data(), key_bytes) != 0 || crc32c(all) != number_at(bytes, 16)) {
    return nullptr;
  }
  const std::span<const uint8_t> content = all.subspan(key_bytes);
  return std::make_shared<const std::vector<uint8_t>>(content.begin(), content.end());
}

// Returns the disk space of a file of that size on most file systems.
uint64_t bytes_on_disk(uint64_t size) {
  constexpr uint64_t kBlockBytes = 4096;
  return (size + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
}

// Makes the folder, or checks whether the cache may use it.
Status prepare_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) == 0) return {};
  const int code = errno;
  struct stat status {};
  if (code != EEXIST || ::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return fail(system::system_error(code, "making the cache's folder " + folder.string()));
  }
  if (status.st_uid != ::geteuid() || (status.st_mode & 0077) != 0) {
    return fail(ErrorCode::kPermissionDenied,
                "the cache's folder " + folder.string() +
                    " must belong to the user of this process, and nobody else may have access to "
                    "it (chmod 700)");
  }
  std::error_code error;
  const bool is_cache = fs::exists(folder / kLockFile, error);
  if (!is_cache && fs::directory_iterator(folder, error) != fs::directory_iterator()) {
    return fail(ErrorCode::kNotAStore,
                folder.string() + " has files and is no cache of gridmount; name an empty folder");
  }
  return {};
}

Result<system::File> lock_folder(const fs::path& folder) {
  GM_ASSIGN(system::File lock, system::File::open(folder / kLockFile, O_RDWR | O_CREAT));
  if (::flock(lock.fd(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kStoreLocked, "the cache's folder " + folder.string() +
                                             " is in use by another process; each mount needs a "
                                             "folder of its own");
  }
  GM_TRY(lock.write(
      0, std::span(reinterpret_cast<const uint8_t*>(kLockText.data()), kLockText.size())));
  return lock;
}

}  // namespace

size_t DiskCache::NameHash::operator()(const Name& name) const {
  size_t hash;
  static_assert(sizeof hash <= sizeof name);
  std::memcpy(&hash, name.data(), sizeof hash);
  return hash;
}

Result<std::unique_ptr<DiskCache>> DiskCache::open(const DiskCacheOptions& options) {
  GM_TRY(prepare_folder(options.folder));
  GM_ASSIGN(system::File lock, lock_folder(options.folder));
  std::unique_ptr<DiskCache> cache(new DiskCache(options, std::move(lock)));
  GM_TRY(cache->read_entries());
  return cache;
}

DiskCache::DiskCache(const DiskCacheOptions& options, system::File lock)
    : options_(options),
      lock_(std::move(lock)),
      writer_("gm-disk-cache", BackgroundThread::Priority::kNormal,
              [this]() -> std::optional<BackgroundThread::Clock::time_point> {
                write_waiting();
                return std::nullopt;
              }) {}

DiskCache::~DiskCache() {
  {
    MutexLock lock(mutex_);
    waiting_.clear();
  }
  writer_.stop();
}

DiskCache::Name DiskCache::name_of(std::string_view key) {
  std::array<uint8_t, 32> digest{};
  if (EVP_Digest(key.data(), key.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();
  }
  Name name;
  std::copy_n(digest.begin(), name.size(), name.begin());
  return name;
}

fs::path DiskCache::path_of(const Name& name) const {
  const std::string text = to_hex(name);
  return options_.folder / text.substr(0, 2) / text;
}

Status DiskCache::read_entries() {
  struct Found {
    Name name{};
    uint64_t bytes = 0;
    timespec read{};
  };
  std::vector<Found> found;
  for (int first = 0; first < 256; ++first) {
    std::string digits;
    append_hex(digits, static_cast<uint8_t>(first));
    const fs::path folder = options_.folder / digits;
    std::error_code error;
    for (fs::directory_iterator next(folder, error), end; !error && next != end;
         next.increment(error)) {
      const std::optional<std::string> name = from_hex(next->path().filename().string());
      Found entry;
      struct stat status {};
      if (!name || name->size() != entry.name.size() ||
          ::lstat(next->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
        continue;
      }
      std::copy(name->begin(), name->end(), entry.name.begin());
      entry.bytes = bytes_on_disk(static_cast<uint64_t>(status.st_size));
      entry.read = status.st_mtim;
      found.push_back(entry);
    }
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::pair(a.read.tv_sec, a.read.tv_nsec) < std::pair(b.read.tv_sec, b.read.tv_nsec);
  });
  std::vector<Name> removed;
  {
    MutexLock lock(mutex_);
    for (const Found& entry : found) add(entry.name, entry.bytes);
    removed = make_room(0);
  }
  for (const Name& name : removed) (void)system::remove_file(path_of(name));
  return {};
}

void DiskCache::add(const Name& name, uint64_t bytes) {
  forget(name);
  by_age_.push_back(name);
  entries_[name] = {bytes, std::prev(by_age_.end())};
  bytes_ += bytes;
}

void DiskCache::forget(const Name& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  bytes_ -= found->second.bytes;
  by_age_.erase(found->second.place);
  entries_.erase(found);
}

std::vector<DiskCache::Name> DiskCache::make_room(uint64_t bytes) {
  std::vector<Name> removed;
  while (!by_age_.empty() &&
         (bytes_ + bytes > options_.bytes_max || entries_.size() >= kEntriesMax)) {
    removed.push_back(by_age_.front());
    forget(removed.back());
  }
  return removed;
}

DiskCache::Content DiskCache::find(std::string_view key) {
  const Name name = name_of(key);
  {
    MutexLock lock(mutex_);
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      ++misses_;
      return nullptr;
    }
    by_age_.splice(by_age_.end(), by_age_, found->second.place);
  }
  Content content;
  system::File file;
  const bool is_there = system::File::open_errno(path_of(name), O_RDWR, file) == 0;
  if (is_there) {
    const Result<uint64_t> size = file.size();
    if (size && *size <= kHeaderBytes + key.size() + kContentBytesMax) {
      const Result<std::vector<uint8_t>> bytes = file.read(0, *size);
      if (bytes) content = parse_entry(*bytes, key);
    }
    // The modification time keeps the order of use for the next process (read_entries()).
    if (content) (void)::futimens(file.fd(), nullptr);
  }
  if (is_there && !content) (void)system::remove_file(path_of(name));
  MutexLock lock(mutex_);
  if (content) {
    ++hits_;
    return content;
  }
  ++misses_;
  forget(name);
  return nullptr;
}

void DiskCache::keep(std::string key, Content content) {
  if (content->size() > kContentBytesMax) return;
  const Name name = name_of(key);
  {
    MutexLock lock(mutex_);
    if (entries_.contains(name)) return;
    const uint64_t bytes = content->size() + key.size();
    if (waiting_bytes_ + bytes > kWaitingBytesMax) return;
    waiting_.push_back({std::move(key), std::move(content)});
    waiting_bytes_ += bytes;
  }
  writer_.wake();
}

void DiskCache::write_waiting() {
  while (true) {
    std::list<Waiting> next;
    {
      MutexLock lock(mutex_);
      is_writing_ = !waiting_.empty();
      if (!is_writing_) {
        written_.notify_all();
        return;
      }
      next.splice(next.end(), waiting_, waiting_.begin());
    }
    try {
      if (const Status status = write(next.front()); !status) complain(status.error());
    } catch (const std::bad_alloc&) {
      // The cache does not keep this content.
    }
    MutexLock lock(mutex_);
    waiting_bytes_ -= next.front().content->size() + next.front().key.size();
  }
}

bool DiskCache::is_disk_scarce() {
  const Result<struct statvfs> file_system = system::file_system_of(options_.folder);
  if (!file_system || file_system->f_blocks == 0) return false;
  if (file_system->f_bavail >= file_system->f_blocks / kFreeShare) return false;
  Name oldest;
  {
    MutexLock lock(mutex_);
    if (by_age_.empty()) return true;
    oldest = by_age_.front();
    forget(oldest);
  }
  (void)system::remove_file(path_of(oldest));
  return true;
}

Status DiskCache::write(const Waiting& waiting) {
  if (is_disk_scarce()) return {};
  const Name name = name_of(waiting.key);
  const std::vector<uint8_t> bytes = format_entry(waiting.key, *waiting.content);
  const uint64_t on_disk = bytes_on_disk(bytes.size());
  if (on_disk > options_.bytes_max) return {};
  std::vector<Name> removed;
  {
    MutexLock lock(mutex_);
    removed = make_room(on_disk);
  }
  // Removes all files, also after an error, because the list of entries does not have them any
  // more.
  Status all_removed;
  for (const Name& old : removed) {
    Status one_removed = system::remove_file(path_of(old));
    if (all_removed && !one_removed) all_removed = std::move(one_removed);
  }
  GM_TRY(std::move(all_removed));
  const fs::path path = path_of(name);
  const fs::path unnamed = options_.folder / kNewFile;
  {
    GM_ASSIGN(const system::File file, system::File::open(unnamed, O_RDWR | O_CREAT | O_TRUNC));
    GM_TRY(file.write(0, bytes));
  }
  if (!system::rename_file(unnamed, path)) {
    if (::mkdir(path.parent_path().c_str(), 0700) != 0 && errno != EEXIST) {
      return fail(system::system_error(errno, "making " + path.parent_path().string()));
    }
    GM_TRY(system::rename_file(unnamed, path));
  }
  MutexLock lock(mutex_);
  add(name, on_disk);
  return {};
}

void DiskCache::complain(const Error& error) {
  const Clock::time_point now = Clock::now();
  if (!options_.complain || (complained_ && now - *complained_ < kComplaintEach)) return;
  complained_ = now;
  options_.complain(error);
}

void DiskCache::flush() {
  MutexLock lock(mutex_);
  while (is_writing_ || !waiting_.empty()) written_.wait(mutex_);
}

DiskCache::Usage DiskCache::usage() const {
  MutexLock lock(mutex_);
  return {bytes_, entries_.size(), hits_, misses_};
}

}  // namespace gridmount
