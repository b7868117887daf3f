// One of the two directories that are compared, and what one worker has open in it. While a step
// runs on it (enter), the worker's current directory is the side's root. So paths of steps are
// relative and may have the maximum length.
//
// Thread-safety: belongs to one thread, whose current directory and umask must be its own
// (CLONE_FS). Only the slot numbers are common to both sides.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <string>

namespace gridmount::differential {

inline constexpr size_t kHandles = 8;
inline constexpr size_t kMaps = 3;

struct Handle {
  int fd = -1;
  int flags = 0;  // as for open(2)
};

// A shared mapping from the start of the file. Its own descriptor tells how much of it may be
// accessed.
struct Map {
  char* bytes = nullptr;
  size_t size = 0;
  int fd = -1;
};

class Side {
 public:
  // Ends the program if the directory cannot be opened.
  explicit Side(const std::string& root);
  ~Side();
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  const std::string& root() const { return root_path_; }
  int root_fd() const { return root_fd_; }
  void enter() const;

  const Handle& handle(size_t slot) const { return handles_.at(slot); }
  // Closes what the slot holds.
  void put(size_t slot, Handle handle);

  const Map& map(size_t slot) const { return maps_.at(slot); }
  // Takes over the descriptor. Unmaps what the slot holds.
  void put(size_t slot, Map map);
  // Returns how many bytes of the mapping can be accessed without a signal.
  size_t reach(size_t slot) const;

  // Writes the mappings back, unmaps them and closes the handles.
  void release_all();

 private:
  std::string root_path_;
  int root_fd_;
  std::array<Handle, kHandles> handles_;
  std::array<Map, kMaps> maps_;
};

// The user with whose rights a call is made.
struct Actor {
  uid_t uid = 0;
  gid_t gid = 0;
  mode_t umask = 022;
};

// While this exists, the calling thread acts with the actor's rights. If it is not root, it keeps
// its own.
class ActingAs {
 public:
  explicit ActingAs(const Actor& actor);
  ~ActingAs();
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  uid_t uid_before_;
  gid_t gid_before_;
  mode_t umask_before_;
};

}  // namespace gridmount::differential
