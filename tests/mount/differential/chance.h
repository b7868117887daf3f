// The seeded choices of a worker: paths, sizes, offsets, bytes. The paths are few and short, so
// that calls meet the effects of other calls. Some are unusual or of the maximum length. The same
// seed makes the same choices if the model side has returned the same results.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tests/mount/differential/side.h"

namespace gridmount::differential {

// What a call would rather have at its path. It often gets it, not always.
enum class Wish { kAnything, kFile, kFolder, kLink, kSpecial, kNothing, kNothingOrFile };

class Chance {
 public:
  // odd_names: also names and paths at the limits, which not all calls stand (see path).
  Chance(uint64_t seed, bool odd_names, bool other_users);

  uint64_t next();
  // From 0 to limit - 1.
  uint64_t below(uint64_t limit) { return next() % limit; }
  bool one_in(uint64_t times) { return below(times) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> some) {
    return some.begin()[below(some.size())];
  }
  // Each flag with one chance in `times`.
  int some_of(std::initializer_list<int> flags, uint64_t times);

  std::string path(const Side& model, Wish wish);
  // Never a limit's length: a folder moved there could make paths below it too long for the store.
  std::string short_path(const Side& model, Wish wish);
  std::string link_target();

  size_t handle() { return below(kHandles); }
  // A slot with something in it, mostly.
  size_t open_handle(const Side& model);
  // With a file in it, mostly, that can be read or written (O_RDONLY, O_WRONLY) or both (O_RDWR).
  size_t file_handle(const Side& model, int access);
  size_t folder_handle(const Side& model);
  int64_t offset();
  size_t size();
  std::string bytes(size_t size);
  mode_t mode();
  Actor actor();
  Actor root() const { return {}; }
  uid_t id() { return pick<uid_t>({0, 1000, 1001}); }
  // None that is "now" for the test, so that those that are can be told from it.
  timespec distant_time();

 private:
  std::string plain_path();
  std::string odd_path(std::string path);

  uint64_t state_;
  bool odd_names_;
  bool other_users_;
};

}  // namespace gridmount::differential
