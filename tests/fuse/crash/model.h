// Models the contents of a user's directory after some of the user's calls, and which of these
// contents the store may have. The model is the durability that fuse/SEMANTICS.md promises, written
// as a program.
//
// A user makes one call after the other, and the store's contents are always those after some
// commit. So if the effect of a call is there, the effects of all earlier commits are there. Names
// and attributes are exactly those after some call. The content of a file is what a call has
// committed, or what the daemon has committed by itself since then. Each page of the file may have
// any state that it has had since then, because the kernel hands over pages at any time, but always
// whole pages. The daemon takes the pages chunk by chunk, and may commit in between
// (possible_content.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/fuse/crash/call.h"
#include "tests/fuse/crash/possible_content.h"

namespace gridmount::fuse::testing {

inline constexpr int kSlots = 4;
inline constexpr int kMaps = 2;

enum class FoundKind { kFolder, kFile, kSymlink };

// A name as found in a store.
struct FoundName {
  FoundKind kind = FoundKind::kFile;
  uint64_t number = 0;  // ino of the node
  uint32_t links = 0;
  uint32_t mode = 0;
  int64_t modified_ns = 0;
  std::string xattr = {};
  std::string content = {};  // of a file, or the target of a symbolic link
};
using FoundTree = std::map<std::string, FoundName>;  // "" is the user's folder

class Model {
 public:
  struct File {
    std::string content = {};  // as the user sees it
    uint32_t mode = 0;
    std::string xattr = {};
    // `handed` is what the daemon may have received. `committed` has the contents that may be
    // committed.
    PossibleContent handed = {};
    std::vector<PossibleContent> committed = {PossibleContent()};
    // The modification time of the committed state, if it is known.
    std::optional<int64_t> modified_ns = {};
  };
  struct Name {
    FoundKind kind = FoundKind::kFile;
    int file = -1;
    uint32_t mode = 0;  // of a directory
    std::string xattr = {};
    std::string target = {};  // of a symbolic link
  };
  struct Handle {
    int file = -1;
    bool syncs = false;  // opened with O_SYNC or O_DSYNC
  };

  const std::map<std::string, Name>& names() const { return names_; }
  const File& file(int number) const { return files_.at(number); }
  const std::optional<Handle>& handle(int slot) const {
    return handles_.at(static_cast<size_t>(slot));
  }
  // Returns the number of the mapped file.
  const std::optional<int>& mapping(int map) const { return maps_.at(static_cast<size_t>(map)); }

  // Applies a call that has returned. `modified_ns` is the file's mtime as the user saw it then, if
  // the user asked for it.
  void apply(const Call& call, std::optional<int64_t> modified_ns);
  // Applies the part of a call that the store may have before the call has returned. A call may
  // consist of several parts.
  void apply_partly(const Call& call);

  // commits() returns true if the effect of the call is committed when the call returns.
  // is_durable() returns true if the effect is durable then. In this case everything before it is
  // committed too.
  bool commits(const Call& call) const;
  bool is_durable(const Call& call) const;

  // Returns an empty string if the store may have this state, otherwise the first difference that
  // is not allowed. `chunk_bytes` is the size of the daemon's chunks.
  std::string problem_with(const FoundTree& found, size_t chunk_bytes) const;

 private:
  File& file_of(const Call& call) { return files_.at(handle(call.slot)->file); }
  bool is_open(int file) const;
  void write(File& file, uint64_t offset, const std::string& bytes);
  void resize(File& file, size_t size, bool is_committed);
  void settle(File& file, std::optional<int64_t> modified_ns);
  std::string problem_with_file(const std::string& path, const FoundName& found, const File& file,
                                size_t chunk_bytes) const;

  std::map<std::string, Name> names_;  // "" is the user's folder
  std::map<int, File> files_;
  int next_file_ = 0;
  std::array<std::optional<Handle>, kSlots> handles_;
  std::array<std::optional<int>, kMaps> maps_;
};

}  // namespace gridmount::fuse::testing
