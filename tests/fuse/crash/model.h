// The contents of a user's directory after some of the user's calls, and what of them the store may
// have: the durability that SEMANTICS.md promises, as a program.
//
// A user makes one call after the other, and the store's contents are always those after some
// commit. So if the effect of a call is there, the effects of all earlier commits are there. Names
// and attributes are exactly those after some call. The content of a file is what a call has
// committed, or what the daemon has committed by itself since. Each page of it may have any state
// that it has had since, because the kernel hands over pages when it likes, but always whole pages.
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

// A name as it is found in a store.
struct FoundName {
  FoundKind kind = FoundKind::kFile;
  uint64_t number = 0;  // of the node
  uint32_t links = 0;
  uint32_t mode = 0;
  int64_t modified_ns = 0;
  std::string xattr = {};
  std::string content = {};  // of a file, or where a symbolic link leads
};
using FoundTree = std::map<std::string, FoundName>;  // "" is the user's folder

class Model {
 public:
  struct File {
    std::string content = {};  // as the user has it
    uint32_t mode = 0;
    std::string xattr = {};
    // What the daemon may have, and what of that may have been committed.
    PossibleContent handed = {};
    std::vector<PossibleContent> committed = {PossibleContent()};
    // Of what is committed, if it is known.
    std::optional<int64_t> modified_ns = {};
  };
  struct Name {
    FoundKind kind = FoundKind::kFile;
    int file = -1;
    uint32_t mode = 0;  // a folder's
    std::string xattr = {};
    std::string target = {};  // a symbolic link's
  };
  struct Handle {
    int file = -1;
    bool syncs = false;  // O_SYNC, O_DSYNC
  };

  const std::map<std::string, Name>& names() const { return names_; }
  const File& file(int number) const { return files_.at(number); }
  const std::optional<Handle>& handle(int slot) const {
    return handles_.at(static_cast<size_t>(slot));
  }
  // The number of the file.
  const std::optional<int>& mapping(int map) const { return maps_.at(static_cast<size_t>(map)); }

  // The call has returned. `modified_ns` is the file's time as the user saw it then, if it was
  // asked for.
  void apply(const Call& call, std::optional<int64_t> modified_ns);
  // What the store may have while the call has not returned, of the parts that it is done in.
  void apply_partly(const Call& call);

  // When the call returns what it has done is committed; and so is, with a durable one, everything
  // before.
  bool commits(const Call& call) const;
  bool is_durable(const Call& call) const;

  // Empty if the store may have this, else what it may not.
  std::string problem_with(const FoundTree& found) const;

 private:
  File& file_of(const Call& call) { return files_.at(handle(call.slot)->file); }
  bool is_open(int file) const;
  void write(File& file, uint64_t offset, const std::string& bytes);
  void resize(File& file, size_t size, bool is_committed);
  void settle(File& file, std::optional<int64_t> modified_ns);
  std::string problem_with_file(const std::string& path, const FoundName& found,
                                const File& file) const;

  std::map<std::string, Name> names_;  // "" is the user's folder
  std::map<int, File> files_;
  int next_file_ = 0;
  std::array<std::optional<Handle>, kSlots> handles_;
  std::array<std::optional<int>, kMaps> maps_;
};

}  // namespace gridmount::fuse::testing
