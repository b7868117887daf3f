#include "tests/engine/local/crash/crash_disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPageBytes = 4096;
constexpr size_t kSectorBytes = 512;
using Page = std::vector<uint8_t>;

void apply(std::vector<uint8_t>& contents, const Event& event) {
  if (event.kind == EventKind::kResize) {
    contents.resize(event.number);
  } else {
    contents.resize(std::max(contents.size(), event.number + event.bytes.size()));
    std::copy(event.bytes.begin(), event.bytes.end(),
              contents.begin() + static_cast<std::ptrdiff_t>(event.number));
  }
}

Page page_of(const std::vector<uint8_t>& contents, size_t page) {
  const size_t begin = std::min(contents.size(), page * kPageBytes);
  const size_t end = std::min(contents.size(), begin + kPageBytes);
  return {contents.begin() + static_cast<std::ptrdiff_t>(begin),
          contents.begin() + static_cast<std::ptrdiff_t>(end)};
}

// Sectors of `page` replaced by those of `other`.
void tear(Page& page, const Page& other, std::mt19937_64& random) {
  for (size_t begin = 0; begin < std::min(page.size(), other.size()); begin += kSectorBytes) {
    if (random() % 2 == 0) continue;
    const size_t end = std::min({begin + kSectorBytes, page.size(), other.size()});
    std::copy(other.begin() + static_cast<std::ptrdiff_t>(begin),
              other.begin() + static_cast<std::ptrdiff_t>(end),
              page.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

}  // namespace

CrashDisk::CrashDisk(const WriteRecorder& recorder)
    : recorder_(recorder), events_(recorder.events()), entries_(recorder.initial_entries()) {
  for (const std::vector<uint8_t>& contents : recorder_.initial_contents()) {
    files_.push_back({contents, {}});
  }
}

void CrashDisk::advance(size_t cut) {
  for (; cut_ < cut; ++cut_) {
    const Event& event = events_[cut_];
    switch (event.kind) {
      case EventKind::kWrite:
      case EventKind::kResize:
        files_[event.file].pending.push_back(cut_);
        break;
      case EventKind::kSyncEnds: {
        File& file = files_[event.file];
        const auto covered =
            std::lower_bound(file.pending.begin(), file.pending.end(), event.number);
        for (auto i = file.pending.begin(); i != covered; ++i) apply(file.durable, events_[*i]);
        file.pending.erase(file.pending.begin(), covered);
        break;
      }
      case EventKind::kLink:
        if (event.file != kNoFile && event.file >= files_.size()) files_.resize(event.file + 1);
        pending_entries_.push_back(cut_);
        break;
      case EventKind::kUnlink:
      case EventKind::kRename:
        pending_entries_.push_back(cut_);
        break;
      case EventKind::kFolderSync:
        std::erase_if(pending_entries_, [&](size_t pending) {
          const Event& change = events_[pending];
          // A file that moves from folder to folder is in one of them, so either's sync will do.
          const bool covered =
              folder_of(change.path) == event.path ||
              (change.kind == EventKind::kRename && folder_of(change.target) == event.path);
          if (covered) apply_entry(entries_, change);
          return covered;
        });
        break;
      case EventKind::kSyncBegins:
      case EventKind::kStepBegins:
      case EventKind::kStepEnds:
      case EventKind::kDurable:
        break;
    }
  }
}

void CrashDisk::apply_entry(std::map<std::string, size_t>& entries, const Event& event) const {
  if (event.kind == EventKind::kLink) {
    entries[event.path] = event.file;
    return;
  }
  entries.erase(event.path);
  if (event.kind == EventKind::kRename) entries[event.target] = event.file;
}

std::map<std::string, size_t> CrashDisk::entries(std::mt19937_64& random) const {
  std::map<std::string, size_t> entries = entries_;
  // As a journal has it, everything up to some change; or, as no one promises an order, any of
  // them.
  const size_t count = pending_entries_.size();
  const bool in_order = random() % 2 == 0;
  const size_t reached = random() % (count + 1);
  for (size_t i = 0; i < count; ++i) {
    if (in_order ? i >= reached : random() % 2 == 0) continue;
    apply_entry(entries, events_[pending_entries_[i]]);
  }
  // What is in a folder that is not there is not there.
  std::erase_if(entries, [&](const auto& entry) {
    for (std::string above = folder_of(entry.first); !above.empty(); above = folder_of(above)) {
      if (!entries.contains(above)) return true;
    }
    return false;
  });
  return entries;
}

std::vector<uint8_t> CrashDisk::contents(const File& file, std::mt19937_64& random) const {
  std::vector<uint8_t> image = file.durable;
  if (file.pending.empty()) return image;
  std::vector<uint8_t> current = image;
  std::map<size_t, std::vector<Page>> versions;
  for (const size_t position : file.pending) {
    const Event& event = events_[position];
    const size_t size = current.size();
    apply(current, event);
    if (event.kind == EventKind::kResize && event.number >= size) continue;
    const size_t begin = event.number;
    const size_t end = event.kind == EventKind::kResize ? size : begin + event.bytes.size();
    for (size_t page = begin / kPageBytes; page * kPageBytes < end; ++page) {
      versions[page].push_back(page_of(current, page));
    }
  }
  // Disks that wrote nearly everything, nearly nothing, and what is between.
  constexpr uint64_t kChances[] = {0, 2, 10, 50, 90, 98, 100};
  const uint64_t percent_old = kChances[random() % std::size(kChances)];
  const bool newest_only = random() % 3 == 0;
  if (random() % 2 == 0) image.resize(current.size());
  for (auto& [page, candidates] : versions) {
    if (random() % 100 < percent_old) continue;
    const size_t pick = newest_only ? candidates.size() - 1 : random() % candidates.size();
    Page chosen = candidates[pick];
    if (random() % 8 == 0) {
      const size_t other = random() % (candidates.size() + 1);
      tear(chosen, other == candidates.size() ? page_of(image, page) : candidates[other], random);
    }
    const size_t begin = page * kPageBytes;
    if (!chosen.empty()) image.resize(std::max(image.size(), begin + chosen.size()));
    std::copy(chosen.begin(), chosen.end(),
              image.begin() + static_cast<std::ptrdiff_t>(std::min(begin, image.size())));
  }
  return image;
}

CrashImage CrashDisk::image(std::mt19937_64& random) const {
  CrashImage image;
  for (const auto& [path, file] : entries(random)) {
    if (file == kNoFile) {
      image.folders.push_back(path);
    } else {
      image.files[path] = contents(files_[file], random);
    }
  }
  return image;
}

std::map<std::string, size_t> CrashDisk::whole_entries() const {
  std::map<std::string, size_t> entries = entries_;
  for (const size_t change : pending_entries_) apply_entry(entries, events_[change]);
  return entries;
}

CrashImage CrashDisk::whole() const {
  CrashImage image;
  for (const auto& [path, file] : whole_entries()) {
    if (file == kNoFile) {
      image.folders.push_back(path);
      continue;
    }
    std::vector<uint8_t>& contents = image.files[path] = files_[file].durable;
    for (const size_t change : files_[file].pending) apply(contents, events_[change]);
  }
  return image;
}

void write_image(const CrashImage& image, const fs::path& folder) {
  fs::create_directories(folder);
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    const bool wanted = entry.is_directory() ? std::find(image.folders.begin(), image.folders.end(),
                                                         name) != image.folders.end()
                                             : image.files.contains(name);
    if (!wanted) others.push_back(entry.path());
  }
  for (const fs::path& other : others) fs::remove_all(other);
  for (const std::string& name : image.folders) fs::create_directory(folder / name);
  for (const auto& [name, contents] : image.files) {
    // Over the image before it where there was one: in memory that costs less than new pages.
    const int fd = ::open((folder / name).c_str(), O_RDWR | O_CREAT, 0600);
    size_t done = 0;
    while (fd >= 0 && done < contents.size()) {
      const ssize_t count =
          ::pwrite(fd, contents.data() + done, contents.size() - done, static_cast<off_t>(done));
      if (count <= 0) break;
      done += static_cast<size_t>(count);
    }
    const bool cut = fd >= 0 && ::ftruncate(fd, static_cast<off_t>(contents.size())) == 0;
    if (fd >= 0) ::close(fd);
    if (!cut || done < contents.size()) throw std::runtime_error("no image can be written");
  }
}

}  // namespace gridmount::local::testing
