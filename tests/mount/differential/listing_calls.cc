// Directory listings, also of directories that change or are removed meanwhile.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <set>

#include "tests/mount/differential/step.h"

namespace gridmount::differential {

namespace {

using Names = std::multiset<std::string>;

constexpr size_t kFewBytes = 300;  // enough for the longest name, or for some short ones

// Adds the result of one getdents64(2) of the directory. Returns 0 at its end. Small buffers make
// many calls.
ssize_t list_some(int fd, size_t buffer_bytes, Names& names) {
  alignas(dirent64) std::array<char, 32 * 1024> buffer;
  const ssize_t got = ::syscall(SYS_getdents64, fd, buffer.data(), buffer_bytes);
  for (ssize_t at = 0; at < got;) {
    const auto* const entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
    at += entry->d_reclen;
    const std::string_view name = entry->d_name;
    std::string kind;
    struct stat found {};
    if (name != "." && name != ".." &&
        ::fstatat(fd, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0) {
      if (entry->d_ino != found.st_ino) kind += " (of another number)";
      if (entry->d_type != DT_UNKNOWN && entry->d_type != IFTODT(found.st_mode)) {
        kind += " (of another type)";
      }
    }
    names.insert(std::string(name) + kind);
  }
  return got;
}

Outcome list_all(int fd, size_t buffer_bytes) {
  Names names;
  ssize_t got = 0;
  while ((got = list_some(fd, buffer_bytes, names)) > 0) continue;
  if (got < 0) return outcome_of(got);
  std::string seen;
  for (const std::string& name : names) seen += name + "|";
  return outcome_of(0, seen);
}

Step list_path(Chance& chance, const Side& model) {
  const std::string path = chance.path(model, Wish::kFolder);
  const size_t buffer_bytes = chance.pick<size_t>({32 * 1024, 4096, kFewBytes});
  return {.text = call_text("list", shown(path), buffer_bytes),
          .actor = chance.actor(),
          .run =
              [=](Side&) {
                const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                if (fd < 0) return outcome_of(-1);
                const Outcome outcome = list_all(fd, buffer_bytes);
                ::close(fd);
                return outcome;
              },
          .paths = {path}};
}

// Lists from the beginning again, like rewinddir(3), and shows new names.
Step list_handle(Chance& chance, const Side& model) {
  const size_t slot = chance.folder_handle(model);
  return {.text = call_text("rewind and list", slot),
          .actor = {},
          .run =
              [=](Side& side) {
                const int fd = side.handle(slot).fd;
                struct stat found {};
                if (::fstat(fd, &found) == 0 && !S_ISDIR(found.st_mode)) return Outcome{};
                if (::lseek(fd, 0, SEEK_SET) < 0) return outcome_of(-1);
                const Outcome outcome = list_all(fd, 32 * 1024);
                // The offset at the end depends on the file system, and affects read(2).
                ::lseek(fd, 0, SEEK_SET);
                return outcome;
              },
          .handles = {slot}};
}

// A name that exists throughout is listed once, whatever else changes meanwhile.
Step list_while_changing(Chance& chance, const Side& model) {
  const std::string path = chance.short_path(model, Wish::kFolder);
  const std::string coming = path + "/coming" + std::to_string(chance.below(4));
  const std::string going = path + "/" + chance.pick<std::string_view>({"a", "b", "c"}).data();
  return {
      .text = call_text("list", shown(path), "making " + shown(coming), "removing " + shown(going)),
      .actor = {},
      .run =
          [=](Side&) {
            const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (fd < 0) return outcome_of(-1);
            Names before;
            Names listed;
            while (list_some(fd, 4096, before) > 0) continue;
            ::lseek(fd, 0, SEEK_SET);
            list_some(fd, kFewBytes, listed);
            const int made = ::symlink("a", coming.c_str());
            const int removed = ::unlink(going.c_str());
            while (list_some(fd, kFewBytes, listed) > 0) continue;
            ::close(fd);
            if (made == 0) ::unlink(coming.c_str());
            for (const std::string& name : before) {
              if (removed == 0 && path + "/" + name == going) continue;
              if (listed.count(name) != 1) {
                return broken_rule(name + " listed " + std::to_string(listed.count(name)) +
                                   " times");
              }
            }
            return outcome_of(removed == 0 ? 1 : 0);
          },
      .paths = {path}};
}

}  // namespace

void add_listing_calls(std::vector<CallKind>& kinds) {
  kinds.insert(
      kinds.end(),
      {{"list", 15, list_path}, {"list", 8, list_handle}, {"list", 4, list_while_changing}});
}

}  // namespace gridmount::differential
