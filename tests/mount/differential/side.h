// One of the two directories that are compared, and what one worker has open in it. While a step
// runs on a side, the side's root is the worker's current directory (enter()). So the paths of
// steps are relative, and may have the maximum length.
//
// Not thread-safe: a Side belongs to one thread, which must have its own current directory and
// umask (unshare(2) with CLONE_FS). Both sides use the same slot numbers.
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

// A shared mapping from the start of the file. The mapping has its own descriptor, from which
// reach() gets the file's size.
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
  // Closes the handle in the slot and puts this one there.
  void put(size_t slot, Handle handle);

  const Map& map(size_t slot) const { return maps_.at(slot); }
  // Unmaps the mapping in the slot and puts this one there. Takes over its descriptor.
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

// While an ActingAs exists, the calling thread acts with the actor's rights. A thread that is not
// root keeps its own rights.
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
