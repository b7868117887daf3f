#include "tests/engine/local/crash/crash_disk.h"

#include <algorithm>
#include <memory>

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPageBytes = FileContents::kPageBytes;
constexpr size_t kSectorBytes = 512;
using Page = FileContents::Page;

void apply(FileContents& contents, const Event& event) {
  if (event.kind == EventKind::kResize) {
    contents.resize(event.number);
  } else {
    contents.write(event.number, event.bytes);
  }
}

// Replaces some sectors of `page` by those of `other`.
void tear(Page& page, const Page& other, std::mt19937_64& random) {
  const auto torn = page.bytes ? std::make_shared<FileContents::Bytes>(*page.bytes)
                               : std::make_shared<FileContents::Bytes>();
  const size_t both = std::min(page.size, other.size);
  for (size_t begin = 0; begin < both; begin += kSectorBytes) {
    if (random() % 2 == 0) continue;
    for (size_t i = begin; i < std::min(begin + kSectorBytes, both); ++i) {
      (*torn)[i] = other.bytes ? (*other.bytes)[i] : uint8_t{0};
    }
  }
  page.bytes = torn;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

}  // namespace

CrashDisk::CrashDisk(const WriteRecorder& recorder)
    : events_(&recorder.events()), entries_(recorder.initial_entries()) {
  for (const FileContents& contents : recorder.initial_contents()) {
    files_.push_back({contents, {}});
  }
}

void CrashDisk::advance(size_t cut) {
  for (; cut_ < cut; ++cut_) {
    const Event& event = this->event(cut_);
    switch (event.kind) {
      case EventKind::kWrite:
      case EventKind::kResize:
        files_[event.file].pending.push_back(cut_);
        break;
      case EventKind::kSyncEnds: {
        File& file = files_[event.file];
        const auto covered =
            std::lower_bound(file.pending.begin(), file.pending.end(), event.number);
        for (auto i = file.pending.begin(); i != covered; ++i) apply(file.durable, this->event(*i));
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
          const Event& change = this->event(pending);
          // A file that moves from one folder to another is in one of them after a sync of either.
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
  // The disk has either all changes up to some point, as with a journal, or any of the changes,
  // because no order is promised.
  const size_t count = pending_entries_.size();
  const bool in_order = random() % 2 == 0;
  const size_t reached = random() % (count + 1);
  for (size_t i = 0; i < count; ++i) {
    if (in_order ? i >= reached : random() % 2 == 0) continue;
    apply_entry(entries, event(pending_entries_[i]));
  }
  // Entries of a folder that does not exist do not exist either.
  std::erase_if(entries, [&](const auto& entry) {
    for (std::string above = folder_of(entry.first); !above.empty(); above = folder_of(above)) {
      if (!entries.contains(above)) return true;
    }
    return false;
  });
  return entries;
}

FileContents CrashDisk::contents(const File& file, std::mt19937_64& random) const {
  FileContents image = file.durable;
  if (file.pending.empty()) return image;
  FileContents current = image;
  std::map<size_t, std::vector<Page>> versions;
  for (const size_t position : file.pending) {
    const Event& event = this->event(position);
    const size_t size = current.size();
    apply(current, event);
    if (event.kind == EventKind::kResize && event.number >= size) continue;
    const size_t begin = event.number;
    const size_t end = event.kind == EventKind::kResize ? size : begin + event.bytes.size();
    for (size_t page = begin / kPageBytes; page * kPageBytes < end; ++page) {
      versions[page].push_back(current.page(page));
    }
  }
  // Some disks have written nearly everything, some nearly nothing, and some an amount in between.
  constexpr uint64_t kChances[] = {0, 2, 10, 50, 90, 98, 100};
  const uint64_t percent_old = kChances[random() % std::size(kChances)];
  const bool newest_only = random() % 3 == 0;
  if (random() % 2 == 0) image.resize(current.size());
  for (auto& [page, items] : versions) {
    if (random() % 100 < percent_old) continue;
    const size_t pick = newest_only ? items.size() - 1 : random() % items.size();
    Page chosen = items[pick];
    if (random() % 8 == 0) {
      const size_t other = random() % (items.size() + 1);
      tear(chosen, other == items.size() ? image.page(page) : items[other], random);
    }
    image.set_page(page, chosen);
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
  for (const size_t change : pending_entries_) apply_entry(entries, event(change));
  return entries;
}

CrashImage CrashDisk::whole() const {
  CrashImage image;
  for (const auto& [path, file] : whole_entries()) {
    if (file == kNoFile) {
      image.folders.push_back(path);
      continue;
    }
    FileContents& contents = image.files[path] = files_[file].durable;
    for (const size_t change : files_[file].pending) apply(contents, event(change));
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
  for (const auto& [name, contents] : image.files) contents.put_into(folder / name);
}

}  // namespace gridmount::local::testing
