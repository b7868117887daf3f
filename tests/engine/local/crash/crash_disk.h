// Builds from a recording what the disk may hold after a power failure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/local/crash/file_contents.h"
#include "tests/engine/local/crash/write_recorder.h"

namespace gridmount::local::testing {

// Files and folders, by their names below the recorded folder.
struct CrashImage {
  std::vector<std::string> folders;  // each after its parent folder
  std::map<std::string, FileContents> files;
};

// The disk just before an event of the recording, moving forward. What a finished sync covered is
// on it. Of everything later the disk may have any state:
// - each page has one of its versions since then, the old one included, or sometimes a torn one,
//   with some of its 512-byte sectors from one version and the rest from another;
// - the length of a file is the old or the new one;
// - of the names made, moved or removed in a folder since its sync, some changes are there, in
//   order or in no order.
class CrashDisk {
 public:
  // The recorder's recording must not change, except that it may become longer.
  explicit CrashDisk(const WriteRecorder& recorder);

  // `cut` must not be before the last one.
  void advance(size_t cut);
  // The disk after a power loss.
  CrashImage image(std::mt19937_64& random) const;
  // The kernel's state, as after a kill of the process. Also sets which file has which name then.
  CrashImage whole() const;
  std::map<std::string, size_t> whole_entries() const;

 private:
  struct File {
    FileContents durable;
    std::vector<size_t> pending;  // events
  };

  FileContents contents(const File& file, std::mt19937_64& random) const;
  void apply_entry(std::map<std::string, size_t>& entries, const Event& event) const;
  std::map<std::string, size_t> entries(std::mt19937_64& random) const;

  const Event& event(size_t position) const { return (*events_)[position]; }

  const std::vector<Event>* events_;  // of the recorder
  size_t cut_ = 0;
  std::vector<File> files_;
  std::map<std::string, size_t> entries_;  // durable
  std::vector<size_t> pending_entries_;    // events
};

// Makes the image's files in the folder, which need not exist. Other files in it are removed.
void write_image(const CrashImage& image, const std::filesystem::path& folder);

}  // namespace gridmount::local::testing
