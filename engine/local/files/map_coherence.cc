#include "engine/local/files/map_coherence.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/opening_error.h"
#include "engine/base/thread_name.h"
#include "engine/local/files/fault_scope.h"
#include "engine/system/file.h"

namespace gridmount::local {
namespace {

using Clock = std::chrono::steady_clock;

// The types (statfs(2)) of file systems that keep file contents in the kernel's page cache only, so
// that a mapping and a write use the same page. Overlayfs delegates to the file system below it.
constexpr std::array<uint64_t, 8> kCoherent = {
    0xEF53,      // ext2, ext3, ext4
    0x58465342,  // XFS
    0x9123683E,  // Btrfs
    0x01021994,  // tmpfs
    0x858458F6,  // ramfs
    0xF2F52010,  // F2FS
    0xCA451A4E,  // bcachefs
    0x794C7630,  // overlayfs
};

// How many pages a round writes at once. LMDB writes one page or several pages at once. While the
// kernel sends the pages to a server, it may read one of them again, and more pages give it more
// time for that. The number of pages that detects older bytes most often depends on the server.
constexpr std::array<size_t, 4> kPagesAtOnce = {16, 4, 16, 1};
constexpr uint64_t kRoundsOfEach = 64;
constexpr size_t kPages = 16;
constexpr size_t kPageBytes = 4096;
// One round in kRoundsOfAPart writes only this part of each page, as LMDB does with a meta page.
// Such rounds take longer and detect less.
constexpr uint64_t kRoundsOfAPart = 4;
constexpr size_t kPartOffset = 24;
constexpr size_t kPartBytes = 128;
// The pages that are read while the rounds write.
constexpr size_t kPagesDisturbed = 4;

// Returns the type as mount(8) shows it, such as "fuse.sshfs" or "nfs4".
std::string file_system_name(const std::filesystem::path& folder, uint64_t type) {
  struct stat status {};
  std::string name;
  if (::stat(folder.c_str(), &status) == 0) {
    const std::string device =
        std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
      std::istringstream words(line);
      std::string number;
      std::string parent;
      std::string of;
      if (!(words >> number >> parent >> of) || of != device) continue;
      const size_t dash = line.find(" - ");
      if (dash == std::string::npos) continue;
      std::istringstream rest(line.substr(dash + 3));
      rest >> name;
    }
  }
  if (!name.empty()) return name;
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "type 0x%llx",
                      static_cast<unsigned long long>(type));
  return text.data();
}

tl::unexpected<Error> unfit(const std::filesystem::path& folder, const std::string& why) {
  struct statfs stats {};
  (void)::statfs(folder.c_str(), &stats);
  return fail(kFileSystemUnfit,
              "the file system of " + folder.string() + " (" +
                  file_system_name(folder, static_cast<uint64_t>(stats.f_type)) +
                  ") is not suitable for a store: " + why +
                  "; keep the store on a local file system, such as ext4, XFS, Btrfs or tmpfs");
}

class Mapping {
 public:
  explicit Mapping(const system::File& file)
      : begin_(::mmap(nullptr, kPages * kPageBytes, PROT_READ, MAP_SHARED, file.fd(), 0)),
        code_(begin_ == MAP_FAILED ? errno : 0) {}
  ~Mapping() {
    if (begin_ != MAP_FAILED) ::munmap(begin_, kPages * kPageBytes);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  int code() const { return code_; }
  // Reads the page's number through the mapping. Returns zero, or kLmdbFault if the page cannot be
  // read.
  int look(size_t page, uint64_t& number) const {
    const auto* const at = reinterpret_cast<const uint64_t*>(static_cast<const uint8_t*>(begin_) +
                                                             page * kPageBytes + kPartOffset);
    uint64_t* const into = &number;
    return guarded([at, into] {
      *into = __atomic_load_n(at, __ATOMIC_ACQUIRE);
      return 0;
    });
  }

 private:
  void* const begin_;
  const int code_;
};

// Until it is destroyed, makes the kernel check its cached pages of the file, and read them again.
class Disturbance {
 public:
  Disturbance(const system::File& file, const Mapping& mapping) : file_(file), mapping_(mapping) {
    for (const bool opens : {true, false}) {
      try {
        threads_.emplace_back([this, opens] { run(opens); });
      } catch (const std::exception&) {
        // With fewer threads the probe takes more rounds to detect a fault.
      }
    }
  }
  ~Disturbance() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Disturbance(const Disturbance&) = delete;
  Disturbance& operator=(const Disturbance&) = delete;

  bool has_threads() const { return !threads_.empty(); }
  // How many times the threads have disturbed the cache so far.
  uint64_t count() const { return count_; }

 private:
  void run(bool opens) {
    name_this_thread("gm-map-probe");
    for (size_t page = 0; !ends_; page = (page + 1) % kPagesDisturbed) {
      if (opens) {
        system::File again;
        (void)system::File::open_errno(file_.path(), O_RDONLY, again);
      } else {
        (void)file_.size();
      }
      uint64_t number = 0;
      (void)mapping_.look(page, number);
      ++count_;
    }
  }

  const system::File& file_;
  const Mapping& mapping_;
  std::atomic<bool> ends_ = false;
  std::atomic<uint64_t> count_ = 0;
  std::vector<std::thread> threads_;
};

bool is_done(uint64_t disturbed_rounds, Clock::duration time) {
  return disturbed_rounds >= kProbeRoundsMax || time >= kProbeTimeMax ||
         (disturbed_rounds >= kProbeRoundsMin && time >= kProbeTime);
}

enum class Seen { kAll, kOlder, kCannotTell };

// Writes the round's number to the first `pages` pages: whole pages in one call, or a part of each.
Status write_round(const system::File& file, std::vector<uint8_t>& bytes, uint64_t round,
                   size_t pages) {
  for (size_t page = 0; page < pages; ++page) {
    std::memcpy(&bytes[page * kPageBytes + kPartOffset], &round, sizeof(round));
  }
  if (round % kRoundsOfAPart != 0) return file.write(0, {bytes.data(), pages * kPageBytes});
  for (size_t page = 0; page < pages; ++page) {
    const size_t at = page * kPageBytes + kPartOffset;
    GM_TRY(file.write(at, {&bytes[at], kPartBytes}));
  }
  return {};
}

Seen write_and_look(const system::File& file, const Mapping& mapping) {
  std::vector<uint8_t> bytes(kPages * kPageBytes);
  const Disturbance disturbance(file, mapping);
  const Clock::time_point begun = Clock::now();
  uint64_t disturbed_rounds = 0;
  for (uint64_t round = 1; !is_done(disturbed_rounds, Clock::now() - begun); ++round) {
    const size_t pages = kPagesAtOnce[round / kRoundsOfEach % kPagesAtOnce.size()];
    const uint64_t disturbances = disturbance.count();
    if (!write_round(file, bytes, round, pages)) return Seen::kCannotTell;
    for (size_t page = 0; page < pages; ++page) {
      uint64_t number = 0;
      if (mapping.look(page, number) != 0) return Seen::kCannotTell;
      if (number != round) return Seen::kOlder;
    }
    if (disturbance.count() != disturbances || !disturbance.has_threads()) ++disturbed_rounds;
  }
  return Seen::kAll;
}

Status probe(const std::filesystem::path& folder, const system::File& file) {
  const std::vector<uint8_t> zeros(kPages * kPageBytes);
  if (!file.write(0, zeros)) return {};
  const Mapping mapping(file);
  if (mapping.code() == ENOMEM || mapping.code() == EAGAIN) return {};
  if (mapping.code() != 0) {
    return unfit(folder, "its files do not support shared mappings (" +
                             std::string(std::strerror(mapping.code())) + ")");
  }
  if (write_and_look(file, mapping) != Seen::kOlder) return {};
  return unfit(folder,
               "what is written to a file there does not always show where the file is mapped, so "
               "that what was committed would be lost");
}

}  // namespace

Status probe_mappings(const std::filesystem::path& folder) {
  install_fault_handler();
  const std::filesystem::path path = folder / kProbeFile;
  system::File file;
  if (system::File::open_errno(path, O_RDWR | O_CREAT | O_TRUNC, file) != 0) return {};
  Status outcome = probe(folder, file);
  file = system::File();
  (void)system::remove_file(path);
  return outcome;
}

Status check_mappings(const std::filesystem::path& folder) {
  struct statfs stats {};
  if (::statfs(folder.c_str(), &stats) != 0) return {};
  // f_type is wider than the numbers above and may be sign-extended.
  const auto type = static_cast<uint64_t>(stats.f_type) & 0xFFFFFFFF;
  if (std::find(kCoherent.begin(), kCoherent.end(), type) != kCoherent.end()) return {};
  return probe_mappings(folder);
}

}  // namespace gridmount::local
