// Calls on open files: opening and closing, reading, writing, offsets, sizes, syncing.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <memory>

#include "tests/mount/differential/step.h"

namespace gridmount::differential {

namespace {

constexpr size_t kBlock = 4096;  // the alignment for O_DIRECT

const std::initializer_list<FlagName> kOpenFlags = {
    {O_SYNC, "O_SYNC"},         {O_RDWR, "O_RDWR"},           {O_WRONLY, "O_WRONLY"},
    {O_CREAT, "O_CREAT"},       {O_EXCL, "O_EXCL"},           {O_TRUNC, "O_TRUNC"},
    {O_APPEND, "O_APPEND"},     {O_DIRECTORY, "O_DIRECTORY"}, {O_NOFOLLOW, "O_NOFOLLOW"},
    {O_DIRECT, "O_DIRECT"},     {O_NOATIME, "O_NOATIME"},     {O_PATH, "O_PATH"},
    {O_NONBLOCK, "O_NONBLOCK"}, {O_CLOEXEC, "O_CLOEXEC"}};

struct Free {
  void operator()(char* bytes) const { std::free(bytes); }
};

// A buffer aligned for O_DIRECT.
class Buffer {
 public:
  explicit Buffer(size_t size)
      : bytes_(static_cast<char*>(std::aligned_alloc(kBlock, (size + kBlock) / kBlock * kBlock))) {}
  explicit Buffer(const std::string& bytes) : Buffer(bytes.size()) {
    bytes.copy(bytes_.get(), bytes.size());
  }
  char* data() const { return bytes_.get(); }

 private:
  std::unique_ptr<char, Free> bytes_;
};

Outcome opened(Side& side, size_t slot, int fd, int flags) {
  if (fd < 0) return outcome_of(-1);
  side.put(slot, Handle{fd, flags});
  return {};
}

int open_flags(Chance& chance) {
  int flags = chance.pick({O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY});
  if (chance.one_in(2)) flags |= O_CREAT | chance.some_of({O_EXCL}, 5);
  flags |= chance.some_of({O_TRUNC, O_APPEND, O_NOFOLLOW}, 7);
  flags |= chance.some_of({O_DIRECTORY, O_NOATIME, O_SYNC}, 40);
  // Some file systems refuse to append at an offset that is not a multiple of a block.
  if ((flags & O_APPEND) == 0 && chance.one_in(12)) flags |= O_DIRECT;
  // Opening a pipe must not block.
  return flags | O_NONBLOCK | O_CLOEXEC;
}

Step open_file(Chance& chance, const Side& model) {
  const size_t slot = chance.handle();
  const int flags = open_flags(chance);
  const Wish wish = (flags & O_CREAT) != 0 ? Wish::kNothingOrFile : Wish::kFile;
  const std::string path = chance.path(model, wish);
  const mode_t mode = chance.mode() & 0777;
  return {.text = call_text("open", shown(path), flags_text(flags, kOpenFlags), octal(mode)) +
                  " as " + std::to_string(slot),
          .actor = chance.actor(),
          .run =
              [=](Side& side) {
                side.put(slot, Handle{});
                return opened(side, slot, ::open(path.c_str(), flags, mode), flags);
              },
          .paths = {path}};
}

Step open_folder(Chance& chance, const Side& model) {
  const size_t slot = chance.handle();
  const std::string path = chance.path(model, Wish::kFolder);
  const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | chance.some_of({O_NOFOLLOW}, 6);
  return {.text = call_text("open", shown(path), flags_text(flags, kOpenFlags)) + " as " +
                  std::to_string(slot),
          .actor = chance.actor(),
          .run =
              [=](Side& side) {
                side.put(slot, Handle{});
                return opened(side, slot, ::open(path.c_str(), flags), flags);
              },
          .paths = {path}};
}

// Opens an O_PATH handle, which names an object without opening it. The object may also be a link,
// or one that may not be read.
Step open_path(Chance& chance, const Side& model) {
  const size_t slot = chance.handle();
  const std::string path = chance.path(model, Wish::kAnything);
  const int flags = O_PATH | O_CLOEXEC | chance.some_of({O_NOFOLLOW}, 2);
  return {.text = call_text("open", shown(path), flags_text(flags, kOpenFlags)) + " as " +
                  std::to_string(slot),
          .actor = chance.actor(),
          .run =
              [=](Side& side) {
                side.put(slot, Handle{});
                return opened(side, slot, ::open(path.c_str(), flags), flags);
              },
          .paths = {path}};
}

// Opens relative to an open directory, which may have been removed.
Step open_in_folder(Chance& chance, const Side& model) {
  const size_t folder = chance.folder_handle(model);
  const size_t slot = chance.handle();
  const std::string name = chance.pick<std::string_view>({"a", "b", "c"}).data();
  const int flags = O_RDWR | O_NONBLOCK | O_CLOEXEC | chance.some_of({O_CREAT}, 2);
  return {.text = call_text("openat", folder, shown(name), flags_text(flags, kOpenFlags)) + " as " +
                  std::to_string(slot),
          .actor = chance.actor(),
          .run =
              [=](Side& side) {
                const int fd = ::openat(side.handle(folder).fd, name.c_str(), flags, 0666);
                return opened(side, slot, fd, flags);
              },
          .handles = {folder}};
}

Step close_file(Chance& chance, const Side& model) {
  const size_t slot = chance.open_handle(model);
  return {.text = call_text("close", slot), .actor = {}, .run = [=](Side& side) {
            side.put(slot, Handle{});
            return Outcome{};
          }};
}

Step duplicate(Chance& chance, const Side& model) {
  const size_t from = chance.open_handle(model);
  const size_t to = chance.handle();
  return {.text = call_text("dup", from) + " as " + std::to_string(to),
          .actor = {},
          .run = [=](Side& side) {
            const Handle handle = side.handle(from);
            return opened(side, to, ::fcntl(handle.fd, F_DUPFD_CLOEXEC, 0), handle.flags);
          }};
}

Step set_append(Chance& chance, const Side& model) {
  const size_t slot = chance.open_handle(model);
  const int chosen = O_NONBLOCK | chance.some_of({O_APPEND}, 2);
  return {.text = call_text("fcntl", slot, "F_SETFL", flags_text(chosen, kOpenFlags)),
          .actor = {},
          .run =
              [=](Side& side) {
                const Handle& handle = side.handle(slot);
                const bool direct = (handle.flags & O_DIRECT) != 0;
                const int flags = direct ? O_NONBLOCK | O_DIRECT : chosen;
                return outcome_of(::fcntl(handle.fd, F_SETFL, flags));
              },
          .handles = {slot}};
}

// --- Reading and writing.

struct Extent {
  size_t slot = 0;
  bool in_place = false;  // at the handle's offset
  int64_t offset = 0;
  size_t size = 0;
};

Extent some_extent(Chance& chance, const Side& model, int access) {
  Extent extent{chance.file_handle(model, access), chance.one_in(2), chance.offset(),
                chance.size()};
  // The maximum size of a file depends on the file system. A write beyond it that the kernel caches
  // fails only later.
  if (chance.one_in(100)) {
    extent.offset = access == O_WRONLY ? -1 : chance.pick<int64_t>({-1, INT64_MAX - 100'000});
  }
  return extent;
}

// With O_DIRECT, makes offset and size whole blocks.
Extent as_possible(Extent extent, const Side& side) {
  if ((side.handle(extent.slot).flags & O_DIRECT) == 0) return extent;
  extent.in_place = false;
  extent.offset -= extent.offset % static_cast<int64_t>(kBlock);
  extent.size = (extent.size / kBlock + 1) * kBlock;
  return extent;
}

std::string extent_text(std::string_view name, const Extent& extent) {
  return extent.in_place
             ? call_text(name, extent.slot, extent.size)
             : call_text("p" + std::string(name), extent.slot, extent.size, extent.offset);
}

Step read_at(Chance& chance, const Side& model) {
  const Extent chosen = some_extent(chance, model, O_RDONLY);
  return {.text = extent_text("read", chosen),
          .actor = chance.actor(),
          .run =
              [=](Side& side) {
                const Extent extent = as_possible(chosen, side);
                const Buffer into(extent.size);
                const int fd = side.handle(extent.slot).fd;
                const Outcome outcome = outcome_of(
                    extent.in_place ? ::read(fd, into.data(), extent.size)
                                    : ::pread(fd, into.data(), extent.size, extent.offset));
                if (outcome.error != 0) return outcome;
                return outcome_of(outcome.value,
                                  std::string(into.data(), static_cast<size_t>(outcome.value)));
              },
          .handles = {chosen.slot}};
}

Step write_at(Chance& chance, const Side& model) {
  const Extent chosen = some_extent(chance, model, O_WRONLY);
  const std::string bytes = chance.bytes(chosen.size + kBlock);
  return {.text = extent_text("write", chosen),
          .actor = chance.actor(),
          .run =
              [=](Side& side) {
                const Extent extent = as_possible(chosen, side);
                const Buffer from(bytes);
                const int fd = side.handle(extent.slot).fd;
                return outcome_of(extent.in_place
                                      ? ::write(fd, from.data(), extent.size)
                                      : ::pwrite(fd, from.data(), extent.size, extent.offset));
              },
          .handles = {chosen.slot}};
}

// Both pieces are whole blocks.
struct Pieces {
  Extent first;
  Extent second;
};

Pieces some_pieces(Chance& chance, const Side& model, int access) {
  Pieces pieces{some_extent(chance, model, access), {}};
  pieces.first.in_place = false;
  pieces.second = pieces.first;
  pieces.second.size = chance.size();
  return pieces;
}

Step read_pieces(Chance& chance, const Side& model) {
  const Pieces chosen = some_pieces(chance, model, O_RDONLY);
  return {.text = call_text("preadv", chosen.first.slot, chosen.first.size, chosen.second.size,
                            chosen.first.offset),
          .actor = {},
          .run =
              [=](Side& side) {
                const Extent first = as_possible(chosen.first, side);
                const Extent second = as_possible(chosen.second, side);
                const Buffer one(first.size);
                const Buffer two(second.size);
                const std::array<iovec, 2> pieces = {
                    {{one.data(), first.size}, {two.data(), second.size}}};
                const Outcome outcome = outcome_of(
                    ::preadv(side.handle(first.slot).fd, pieces.data(), 2, first.offset));
                if (outcome.error != 0) return outcome;
                const auto total = static_cast<size_t>(outcome.value);
                std::string seen(one.data(), std::min(first.size, total));
                if (total > first.size) seen.append(two.data(), total - first.size);
                return outcome_of(outcome.value, seen);
              },
          .handles = {chosen.first.slot}};
}

Step write_pieces(Chance& chance, const Side& model) {
  const Pieces chosen = some_pieces(chance, model, O_WRONLY);
  const std::string one = chance.bytes(chosen.first.size + kBlock);
  const std::string two = chance.bytes(chosen.second.size + kBlock);
  return {.text = call_text("pwritev", chosen.first.slot, chosen.first.size, chosen.second.size,
                            chosen.first.offset),
          .actor = {},
          .run =
              [=](Side& side) {
                const Extent extent = as_possible(chosen.first, side);
                const Buffer first(one);
                const Buffer second(two);
                const std::array<iovec, 2> pieces = {
                    {{first.data(), extent.size},
                     {second.data(), as_possible(chosen.second, side).size}}};
                return outcome_of(
                    ::pwritev(side.handle(extent.slot).fd, pieces.data(), 2, extent.offset));
              },
          .handles = {chosen.first.slot}};
}

Step seek(Chance& chance, const Side& model) {
  const size_t slot = chance.file_handle(model, O_RDONLY);
  const int whence = chance.pick({SEEK_SET, SEEK_CUR, SEEK_END});
  const int64_t by = chance.one_in(3) ? -chance.offset() : chance.offset();
  return {.text = call_text("lseek", slot, by,
                            whence == SEEK_SET   ? "SEEK_SET"
                            : whence == SEEK_CUR ? "SEEK_CUR"
                                                 : "SEEK_END"),
          .actor = {},
          .run =
              [=](Side& side) {
                const int fd = side.handle(slot).fd;
                struct stat found {};
                // Offsets in a directory depend on the file system.
                if (::fstat(fd, &found) == 0 && S_ISDIR(found.st_mode)) return Outcome{};
                return outcome_of(::lseek(fd, by, whence));
              },
          .handles = {slot}};
}

// --- Sizes.

int64_t some_length(Chance& chance) {
  if (chance.one_in(30)) return chance.pick<int64_t>({-1, INT64_MIN, INT64_MAX});
  return chance.one_in(4) ? 0 : chance.offset();
}

Step truncate_path(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kFile);
  const int64_t chosen = some_length(chance);
  return {.text = call_text("truncate", shown(path), chosen),
          .actor = chance.actor(),
          .run =
              [=](Side&) {
                struct stat found {};
                int64_t length = chosen;
                // While it writes back, the kernel does not update the times if the size stays the
                // same.
                if (::stat(path.c_str(), &found) == 0 && found.st_size == length) ++length;
                return outcome_of(::truncate(path.c_str(), length));
              },
          .paths = {path}};
}

Step truncate_handle(Chance& chance, const Side& model) {
  const size_t slot = chance.file_handle(model, O_WRONLY);
  const int64_t length = some_length(chance);
  return {.text = call_text("ftruncate", slot, length),
          .actor = chance.actor(),
          .run = [=](Side& side) { return outcome_of(::ftruncate(side.handle(slot).fd, length)); },
          .handles = {slot}};
}

Step sync(Chance& chance, const Side& model) {
  const size_t slot = chance.file_handle(model, O_RDONLY);
  const bool data_only = chance.one_in(2);
  return {.text = call_text(data_only ? "fdatasync" : "fsync", slot),
          .actor = {},
          .run =
              [=](Side& side) {
                const int fd = side.handle(slot).fd;
                return outcome_of(data_only ? ::fdatasync(fd) : ::fsync(fd));
              },
          .handles = {slot}};
}

// Drops the file from the kernel's cache, so that the next read asks the file system.
Step drop_cache(Chance& chance, const Side& model) {
  const size_t slot = chance.file_handle(model, O_RDONLY);
  return {.text = call_text("posix_fadvise", slot, "POSIX_FADV_DONTNEED"),
          .actor = {},
          .run = [=](Side& side) {
            ::posix_fadvise(side.handle(slot).fd, 0, 0, POSIX_FADV_DONTNEED);
            return Outcome{};
          }};
}

}  // namespace

void add_file_calls(std::vector<CallKind>& kinds) {
  kinds.insert(kinds.end(), {{"open", 80, open_file},
                             {"open", 12, open_folder},
                             {"open", 8, open_in_folder},
                             {"path", 6, open_path},
                             {"open", 25, close_file},
                             {"open", 5, duplicate},
                             {"open", 3, set_append},
                             {"read", 50, read_at},
                             {"read", 8, read_pieces},
                             {"write", 60, write_at},
                             {"write", 12, write_pieces},
                             {"seek", 15, seek},
                             {"truncate", 12, truncate_path},
                             {"truncate", 15, truncate_handle},
                             {"sync", 3, sync},
                             {"sync", 6, drop_cache}});
}

}  // namespace gridmount::differential
