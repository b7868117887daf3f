// Builds the contents that the disk may have after a power failure, from a recording.
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

// The disk just before an event of the recording. advance() moves to a later event. The disk has
// everything that a finished sync covered. Later changes may be in any of these states:
// - each page has one of its versions since then, including the old one, or sometimes a torn one,
//   with some of its 512-byte sectors from one version and the rest from another;
// - a file has the old or the new length, or reaches to the last page that the disk has;
// - if names were made, moved or removed in a folder since its sync, the disk has some of these
//   changes, either the first ones or any of them.
class CrashDisk {
 public:
  // While this object exists, the recorder's recording may become longer, but must not change in
  // another way.
  explicit CrashDisk(const WriteRecorder& recorder);

  // Moves to just before the event `cut`, which must not be before the present one.
  void advance(size_t cut);
  // Returns contents that the disk may have after a power loss.
  CrashImage image(std::mt19937_64& random) const;
  // Return the kernel's state, which remains after a kill of the process: the image, and the names
  // of the files.
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

// Writes the image's files and folders into the folder, which need not exist. Removes everything
// else from it.
void write_image(const CrashImage& image, const std::filesystem::path& folder);

}  // namespace gridmount::local::testing
