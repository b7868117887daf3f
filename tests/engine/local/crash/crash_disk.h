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

// Files and folders by their names below the recorded folder.
struct CrashImage {
  std::vector<std::string> folders;  // each behind the one it is in
  std::map<std::string, FileContents> files;
};

// The disk just before an event of the recording, going forward. What a finished sync covered is
// on it; of what came after, anything may be:
//  - of each page any of its versions since then, the old one included; sometimes a torn one, some
//    of its 512-byte sectors from one version and the rest from another;
//  - a file's length is the old or the new one;
//  - names that were made, moved or removed in a folder since its sync: some of the changes, in
//    their order or in none.
class CrashDisk {
 public:
  // The recorder's recording must stay as it is, or become longer.
  explicit CrashDisk(const WriteRecorder& recorder);

  // Not before the cut it was given last.
  void advance(size_t cut);
  // After a power loss.
  CrashImage image(std::mt19937_64& random) const;
  // What the kernel has: as after a kill of the process; and which file has which name then.
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

  const std::vector<Event>* events_;  // the recorder's
  size_t cut_ = 0;
  std::vector<File> files_;
  std::map<std::string, size_t> entries_;  // durable
  std::vector<size_t> pending_entries_;    // events
};

// Makes the image's files in the folder, which need not be there; others in it are removed.
void write_image(const CrashImage& image, const std::filesystem::path& folder);

}  // namespace gridmount::local::testing
