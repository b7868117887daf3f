#include "tests/engine/local/crash/crash_trials.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include "engine/local/files/lock_file.h"
#include "tests/engine/local/crash/crash_child.h"
#include "tests/engine/local/crash/write_recorder.h"

namespace gridmount::local::testing {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kImageSeconds = 60;

class ImageTrials {
 public:
  ImageTrials(fs::path folder, CrashImages images, const CrashExaminer& examine);
  ~ImageTrials() { ::munmap(progress_, sizeof *progress_); }
  ImageTrials(const ImageTrials&) = delete;
  ImageTrials& operator=(const ImageTrials&) = delete;

  void run(CrashRunResult& result);

 private:
  // Tries images from number `first` on until one is broken. Returns what is wrong with it.
  std::string work(size_t first);
  // Makes an image of the disk. Returns true if the image is that of a kill.
  bool make(const CrashDisk& disk, std::mt19937_64& random, const fs::path& folder) const;
  std::string keep(const fs::path& image) const;

  const fs::path folder_;
  const CrashImages images_;
  const CrashExaminer& examine_;
  std::vector<size_t> cuts_;  // of each image, ascending
  // Shared with the children.
  struct Progress {
    size_t image;  // the one being tried
    size_t next;   // the next one to be tried by a child
  };
  Progress* progress_;
};

// Returns the positions just before which the recording may be cut. These include the end of the
// recording, but not the first event.
std::vector<size_t> possible_cuts(const std::string& while_unsynced) {
  const WriteRecorder& recorder = WriteRecorder::instance();
  const std::vector<Event>& events = recorder.events();
  std::vector<size_t> cuts;
  size_t file = kNoFile;
  if (const auto found = recorder.initial_entries().find(while_unsynced);
      found != recorder.initial_entries().end()) {
    file = found->second;
  }
  std::map<size_t, size_t> changed;  // for each unsynced file, its last change
  bool names_changed = false;        // those in the folder
  const auto is_within = [&](const std::string& path) {
    return fs::path(path).parent_path() == while_unsynced;
  };
  for (size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    switch (event.kind) {
      case EventKind::kWrite:
      case EventKind::kResize:
        changed[event.file] = i;
        break;
      case EventKind::kSyncEnds:
        // A change after the beginning of the sync may not be durable.
        if (const auto last = changed.find(event.file);
            last != changed.end() && last->second < event.number) {
          changed.erase(last);
        }
        break;
      case EventKind::kLink:
        if (event.path == while_unsynced) file = event.file;
        names_changed = names_changed || is_within(event.path);
        break;
      case EventKind::kUnlink:
        if (event.path == while_unsynced) file = kNoFile;
        names_changed = names_changed || is_within(event.path);
        break;
      case EventKind::kRename:
        if (event.path == while_unsynced) file = kNoFile;
        if (event.target == while_unsynced) file = event.file;
        names_changed = names_changed || is_within(event.path) || is_within(event.target);
        break;
      case EventKind::kFolderSync:
        if (event.path == while_unsynced) names_changed = false;
        break;
      default:
        break;
    }
    const bool is_unsynced = while_unsynced.empty() || names_changed || changed.contains(file);
    if (is_unsynced) cuts.push_back(i + 1);
  }
  return cuts;
}

ImageTrials::ImageTrials(fs::path folder, CrashImages images, const CrashExaminer& examine)
    : folder_(std::move(folder)), images_(std::move(images)), examine_(examine) {
  std::mt19937_64 random(images_.seed);
  const std::vector<size_t> possible = possible_cuts(images_.while_unsynced);
  for (int i = 0; i < images_.count && !possible.empty(); ++i) {
    cuts_.push_back(possible[random() % possible.size()]);
  }
  std::sort(cuts_.begin(), cuts_.end());
  void* const shared =
      ::mmap(nullptr, sizeof *progress_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  progress_ = static_cast<Progress*>(shared);
}

bool ImageTrials::make(const CrashDisk& disk, std::mt19937_64& random,
                       const fs::path& folder) const {
  if (random() % images_.kills_one_of != 0) {
    write_image(disk.image(random), folder);
    return false;
  }
  write_image(disk.whole(), folder);
  // Changes the mark so that its owner had these files open, on this machine.
  const fs::path owner = folder / kCrashStore / "owner";
  std::ifstream file(owner, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  std::optional<OwnerMark> mark = parse_owner_mark(text);
  struct stat data {};
  if (!mark || ::stat((folder / kCrashStore / "data.mdb").c_str(), &data) != 0) return true;
  mark->boot_id = images_.boot_id.empty() ? running_boot_id() : images_.boot_id;
  if (mark->data_inode != 0) mark->data_inode = data.st_ino;
  std::ofstream(owner, std::ios::binary) << format_owner_mark(*mark);
  return true;
}

std::string ImageTrials::work(size_t first) {
  CrashDisk disk(WriteRecorder::instance());
  const fs::path folder = folder_ / "image";
  std::string problem;
  for (size_t i = first; i < cuts_.size() && problem.empty(); ++i) {
    *progress_ = {i, i + 1};
    ::alarm(kImageSeconds);
    disk.advance(cuts_[i]);
    std::mt19937_64 random(images_.seed + i + 1);
    const bool killed = make(disk, random, folder);
    problem = examine_({disk, cuts_[i], killed, folder, random});
  }
  return problem;
}

// Makes the broken image again and keeps it for examination. Returns its path.
std::string ImageTrials::keep(const fs::path& kept) const {
  CrashDisk disk(WriteRecorder::instance());
  disk.advance(cuts_[progress_->image]);
  std::mt19937_64 random(images_.seed + progress_->image + 1);
  make(disk, random, kept);
  return kept.string();
}

void ImageTrials::run(CrashRunResult& result) {
  size_t next = 0;
  while (next < cuts_.size()) {
    const std::string problem = in_child([&] { return work(next); });
    next = progress_->next;
    if (problem.empty()) continue;
    ++result.broken;
    if (result.first.empty()) {
      result.first = problem + "\n  (cut at event " + std::to_string(cuts_[progress_->image]) +
                     " of " + std::to_string(WriteRecorder::instance().events().size()) + ")";
      const char* const kept = std::getenv("GRIDMOUNT_CRASH_KEEP");
      if (kept != nullptr) result.first += "\n  kept in " + keep(kept);
    }
  }
  result.images += static_cast<int>(cuts_.size());
}

}  // namespace

void try_crash_images(const fs::path& folder, const CrashImages& images,
                      const CrashExaminer& examine, CrashRunResult& result) {
  ImageTrials(folder, images, examine).run(result);
}

}  // namespace gridmount::local::testing
