#include "tests/mount/differential/chance.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gridmount::differential {

namespace {

constexpr size_t kPage = 4096;
constexpr int64_t kChunk = 262'144;
constexpr size_t kNameMax = 255;
constexpr int kTries = 12;
// 15 names of the maximum length. With a little more below it, the store still accepts the path.
constexpr size_t kDeepest = 15;

// Returns true if nothing has this path, and its directory exists.
bool is_free(const Side& model, const std::string& path) {
  struct stat found {};
  if (::fstatat(model.root_fd(), path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) return false;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ||
         ::fstatat(model.root_fd(), path.substr(0, slash + 1).c_str(), &found, 0) == 0;
}

bool fits(const Side& model, const std::string& path, Wish wish) {
  struct stat found {};
  const bool there = ::fstatat(model.root_fd(), path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  switch (wish) {
    case Wish::kAnything:
      return there;
    case Wish::kFile:
      return there && S_ISREG(found.st_mode);
    case Wish::kFolder:
      return there && S_ISDIR(found.st_mode);
    case Wish::kLink:
      return there && S_ISLNK(found.st_mode);
    case Wish::kSpecial:
      return there && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode) && !S_ISLNK(found.st_mode);
    case Wish::kNothing:
      return is_free(model, path);
    case Wish::kNothingOrFile:
      return there ? S_ISREG(found.st_mode) : is_free(model, path);
  }
  return true;
}

}  // namespace

Chance::Chance(uint64_t seed, bool odd_names, bool other_users)
    : state_(seed), odd_names_(odd_names), other_users_(other_users) {}

uint64_t Chance::next() {  // splitmix64
  uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

int Chance::some_of(std::initializer_list<int> flags, uint64_t times) {
  int chosen = 0;
  for (const int flag : flags) {
    if (one_in(times)) chosen |= flag;
  }
  return chosen;
}

std::string Chance::plain_path() {
  if (one_in(60)) return ".";
  std::string path;
  const uint64_t depth = pick({1, 1, 2, 2, 2, 3});
  for (uint64_t i = 0; i < depth; ++i) {
    if (i > 0) path += '/';
    path += pick<std::string_view>({"a", "b", "c", "d"});
  }
  if (one_in(30)) path += "\xc3\xbc \"x";  // u umlaut, a space and a quote
  return path;
}

std::string Chance::odd_path(std::string path) {
  if (path == ".") path = "a";  // its parent is still inside this side's root
  switch (below(12)) {
    case 0:
      return path + "/";
    case 1:
      return path + "//";
    case 2:
      return "./" + path;
    case 3:
      return path + "/.";
    case 4:
      return path + "/..";
    case 5:
      return "a/../" + path;
    case 6:
      return "b/./" + path;
    case 7:
      return path + "/" + std::string(kNameMax, 'n');
    case 8:
      return std::string(kNameMax + pick({0, 0, 1}), 'n');
    case 9:
      return std::string(pick({4095, 4096, 5000}), 'p');
    case 10:
      return one_in(3) ? std::string() : path + "/" + path;
    default: {
      // A path deep in a chain of long names, whose directories are created one by one.
      std::string deep;
      const size_t depth = 1 + below(kDeepest);
      for (size_t i = 0; i < depth; ++i) deep += std::string(kNameMax, 'l') + "/";
      deep.pop_back();
      return deep;
    }
  }
}

std::string Chance::short_path(const Side& model, Wish wish) {
  std::string path = plain_path();
  if (one_in(12)) return path;
  for (int i = 0; i < kTries && !fits(model, path, wish); ++i) path = plain_path();
  return path;
}

std::string Chance::path(const Side& model, Wish wish) {
  std::string path = short_path(model, wish);
  return odd_names_ && one_in(12) ? odd_path(path) : path;
}

std::string Chance::link_target() {
  // No target leads to its own directory or up: the link's directory may be the root, and what is
  // above the two roots differs.
  if (one_in(40)) return std::string(pick<size_t>({255, 256, 1000, 4000, 4095}), 't');
  std::string target = pick<std::string_view>({"a", "b", "c", "d"}).data();
  if (one_in(2)) target += pick<std::string_view>({"/a", "/b", "/", "/c/d"});
  // The target of a link need not be UTF-8, but a name made through it must be.
  if (one_in(20)) target = "\xff\xfe/" + target;
  return target;
}

size_t Chance::open_handle(const Side& model) {
  size_t slot = handle();
  for (int i = 0; i < kTries && model.handle(slot).fd < 0; ++i) slot = handle();
  return slot;
}

size_t Chance::file_handle(const Side& model, int access) {
  size_t slot = handle();
  if (one_in(16)) return slot;
  for (int i = 0; i < kTries; ++i, slot = handle()) {
    const Handle& held = model.handle(slot);
    struct stat found {};
    if (held.fd < 0 || (held.flags & O_PATH) != 0 || ::fstat(held.fd, &found) != 0) continue;
    const int allowed = held.flags & O_ACCMODE;
    if (S_ISREG(found.st_mode) && (allowed == access || allowed == O_RDWR)) break;
  }
  return slot;
}

size_t Chance::folder_handle(const Side& model) {
  size_t slot = handle();
  struct stat found {};
  for (int i = 0; i < kTries; ++i, slot = handle()) {
    if (::fstat(model.handle(slot).fd, &found) == 0 && S_ISDIR(found.st_mode)) break;
  }
  return slot;
}

int64_t Chance::offset() {
  const int64_t around = pick<int64_t>({0, 0, kPage, 2 * kPage, kChunk, 2 * kChunk, 4 * kChunk});
  switch (below(6)) {
    case 0:
      return around;
    case 1:
      return around + 1;
    case 2:
      return around > 0 ? around - 1 : 0;
    case 3:
      return static_cast<int64_t>(below(3 * kPage));
    case 4:
      return static_cast<int64_t>(below(5 * kChunk));
    default:
      return static_cast<int64_t>(below(300) * kPage);
  }
}

size_t Chance::size() {
  switch (below(16)) {
    case 0:
      return 0;
    case 1:
      return 1;
    case 2:
      return kPage;
    case 3:
      return kPage + 1;
    case 4:
      return one_in(3) ? static_cast<size_t>(kChunk) + pick<size_t>({0, 1, kPage}) : 7;
    default:
      return 1 + below(one_in(4) ? 4 * kPage : 600);
  }
}

std::string Chance::bytes(size_t size) {
  std::string bytes(size, '\0');
  if (one_in(12)) return bytes;  // a hole could represent them
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    const uint64_t word = next();
    std::memcpy(bytes.data() + at, &word, std::min(sizeof(word), size - at));
  }
  return bytes;
}

mode_t Chance::mode() {
  const mode_t special = one_in(4) ? pick<mode_t>({04000, 02000, 01000, 03000, 06000}) : 0;
  const mode_t mode =
      special | pick<mode_t>({0777, 0777, 0755, 0775, 0666, 0644, 0600, 0444, 0311, 0});
  // Without the group's execute permission the bit once had another meaning. So the kernel's FUSE
  // leaves it when others write, and ext4 does not.
  return (mode & S_ISGID) != 0 ? mode | S_IXGRP : mode;
}

Actor Chance::actor() {
  Actor actor;
  if (other_users_ && one_in(4)) {
    actor.uid = pick<uid_t>({1000, 1001});
    actor.gid = pick<gid_t>({1000, 1001});
  }
  if (one_in(8)) actor.umask = pick<mode_t>({0, 077, 0777});
  return actor;
}

timespec Chance::distant_time() {
  return pick<timespec>({{0, 0},
                         {981173106, 987654321},
                         {1'000'000'000, 999'999'999},
                         {1'500'000'000, 1},
                         {-1'000'000'000, 500'000'000},
                         {-1, 999'000'000},
                         {2'147'483'653, 123'456'789},
                         {4'000'000'000, 7'000'000}});
}

}  // namespace gridmount::differential
