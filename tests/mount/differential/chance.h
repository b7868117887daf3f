// Makes the random choices of a worker: paths, sizes, offsets, bytes. There are few paths, and most
// are short, so that calls meet the effects of other calls. Some are unusual or have the maximum
// length. With the same seed, the choices are the same if the model side has returned the same
// results.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tests/mount/differential/side.h"

namespace gridmount::differential {

// The kind of object that a call prefers to find at its path. Often, but not always, the chosen
// path has such an object.
enum class Wish { kAnything, kFile, kFolder, kLink, kSpecial, kNothing, kNothingOrFile };

class Chance {
 public:
  // If `odd_names` is true, some names and paths are at the limits. Not all calls can handle these.
  Chance(uint64_t seed, bool odd_names, bool other_users);

  uint64_t next();
  // Returns a number from 0 to limit - 1.
  uint64_t below(uint64_t limit) { return next() % limit; }
  bool one_in(uint64_t times) { return below(times) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> some) {
    return some.begin()[below(some.size())];
  }
  // Sets each flag with a probability of one in `times`.
  int some_of(std::initializer_list<int> flags, uint64_t times);

  std::string path(const Side& model, Wish wish);
  // Returns a path that never has the maximum length. If a directory were moved to a longer path,
  // the paths below it could become too long for the store.
  std::string short_path(const Side& model, Wish wish);
  std::string link_target();

  size_t handle() { return below(kHandles); }
  // Returns a slot that mostly has something in it.
  size_t open_handle(const Side& model);
  // Returns a slot that mostly has a file that can be read (O_RDONLY), written (O_WRONLY) or both
  // (O_RDWR).
  size_t file_handle(const Side& model, int access);
  size_t folder_handle(const Side& model);
  int64_t offset();
  size_t size();
  std::string bytes(size_t size);
  mode_t mode();
  Actor actor();
  Actor root() const { return {}; }
  uid_t id() { return pick<uid_t>({0, 1000, 1001}); }
  // Returns a time that is not "now" for the test, so that the two can be distinguished.
  timespec distant_time();

 private:
  std::string plain_path();
  std::string odd_path(std::string path);

  uint64_t state_;
  bool odd_names_;
  bool other_users_;
};

}  // namespace gridmount::differential
