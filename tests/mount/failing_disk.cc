// A disk that fails on request: a file system that shows a folder, and fails the operations that a
// file of faults names.
//
//   failing_disk FOLDER FAULTS MOUNT_POINT
//       Stays in the foreground until it is unmounted. Reads FAULTS before each operation; the file
//       may be missing. Each of its lines is one fault:
//           OPERATION ERRNO [NAME [FROM TO]]
//       OPERATION: read, write, sync, or change (write and everything that makes, removes or
//       resizes files). ERRNO: a number. NAME: the only file that fails. FROM and TO: the bytes of
//       it that cannot be read or written. If OPERATION is stale, and ERRNO is not 0, nothing
//       fails. Instead reads of a file return what it held before the last write, as with a server
// that is late. A process that has the file mapped sees this when the kernel reads the file again,
// for example after each open.
#define FUSE_USE_VERSION 31

#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string folder;  // the folder that is shown
std::string faults;  // the path of the file of faults

struct Extent {
  off_t from = 0;
  off_t to = 0;
};

bool is_about(const std::string& of_fault, std::string_view operation) {
  return of_fault == operation || (of_fault == "change" && operation == "write");
}

// Returns the errno with which the operation must fail, or zero.
int fault_of(std::string_view operation, const char* path, Extent extent = {}) {
  std::ifstream lines(faults);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string of_fault;
    int code = 0;
    if (!(words >> of_fault >> code) || !is_about(of_fault, operation)) continue;
    std::string name;
    if (words >> name && std::string_view(path).substr(1) != name &&
        !std::string_view(path).ends_with("/" + name)) {
      continue;
    }
    Extent bad;
    if (words >> bad.from >> bad.to && (extent.to <= bad.from || bad.to <= extent.from)) continue;
    return code;
  }
  return 0;
}

// The bytes of a file that its last write has replaced.
struct Older {
  off_t from = 0;
  std::vector<char> bytes;
};
std::map<std::string, Older> older;

void keep_older(const char* path, int fd, Extent extent) {
  Older& kept = older[path];
  kept.from = extent.from;
  kept.bytes.assign(static_cast<size_t>(extent.to - extent.from), 0);
  (void)!::pread(fd, kept.bytes.data(), kept.bytes.size(), extent.from);
}

// Replaces the bytes of the extent in `into` by the older ones, if there are any.
void put_older(const char* path, char* into, Extent extent) {
  const auto found = older.find(path);
  if (found == older.end()) return;
  const Older& kept = found->second;
  const off_t from = std::max(extent.from, kept.from);
  const off_t to = std::min(extent.to, kept.from + static_cast<off_t>(kept.bytes.size()));
  if (from < to)
    std::copy_n(&kept.bytes[static_cast<size_t>(from - kept.from)], to - from,
                into + (from - extent.from));
}

std::string real(const char* path) {
  return folder + path;
}

int result(int returned) {
  return returned < 0 ? -errno : returned;
}

// Makes a call that changes names, attributes or sizes, unless a fault refuses it. Returns the
// call's result or the negative errno.
template <typename Call>
int change(const char* path, Call call) {
  const int code = fault_of("change", path);
  return code != 0 ? -code : result(call());
}

int get_attributes(const char* path, struct stat* attributes, fuse_file_info*) {
  return result(::lstat(real(path).c_str(), attributes));
}

int list(const char* path, void* into, fuse_fill_dir_t fill, off_t, fuse_file_info*,
         fuse_readdir_flags) {
  DIR* const open = ::opendir(real(path).c_str());
  if (open == nullptr) return -errno;
  while (const dirent* const entry = ::readdir(open)) {
    fill(into, entry->d_name, nullptr, 0, static_cast<fuse_fill_dir_flags>(0));
  }
  ::closedir(open);
  return 0;
}

// Returns true if an open must read the file again, because a part of it cannot be read or is
// stale.
bool is_read_anew(const char* path) {
  const Extent all{0, std::numeric_limits<off_t>::max()};
  return fault_of("stale", path) != 0 || fault_of("read", path, all) != 0;
}

int open_file(const char* path, fuse_file_info* info) {
  const int fd = ::open(real(path).c_str(), info->flags & ~O_APPEND);
  if (fd < 0) return -errno;
  info->fh = static_cast<uint64_t>(fd);
  info->keep_cache = is_read_anew(path) ? 0 : 1;
  return 0;
}

int create(const char* path, mode_t mode, fuse_file_info* info) {
  return change(path, [&] {
    const int fd = ::open(real(path).c_str(), (info->flags & ~O_APPEND) | O_CREAT, mode);
    if (fd < 0) return fd;
    info->fh = static_cast<uint64_t>(fd);
    info->keep_cache = is_read_anew(path) ? 0 : 1;
    return 0;
  });
}

int fd_of(const fuse_file_info* info) {
  return static_cast<int>(info->fh);
}

int read(const char* path, char* into, size_t size, off_t offset, fuse_file_info* info) {
  const Extent extent{offset, offset + static_cast<off_t>(size)};
  if (const int code = fault_of("read", path, extent); code != 0) return -code;
  const int got = result(static_cast<int>(::pread(fd_of(info), into, size, offset)));
  if (got > 0 && fault_of("stale", path) != 0) put_older(path, into, {offset, offset + got});
  return got;
}

int write(const char* path, const char* bytes, size_t size, off_t offset, fuse_file_info* info) {
  const Extent extent{offset, offset + static_cast<off_t>(size)};
  if (const int code = fault_of("write", path, extent); code != 0) return -code;
  if (fault_of("stale", path) != 0) keep_older(path, fd_of(info), extent);
  return result(static_cast<int>(::pwrite(fd_of(info), bytes, size, offset)));
}

int sync(const char* path, int data_only, fuse_file_info* info) {
  if (const int code = fault_of("sync", path); code != 0) return -code;
  return result(data_only != 0 ? ::fdatasync(fd_of(info)) : ::fsync(fd_of(info)));
}

int close_file(const char*, fuse_file_info* info) {
  return result(::close(fd_of(info)));
}

int resize(const char* path, off_t size, fuse_file_info*) {
  return change(path, [&] { return ::truncate(real(path).c_str(), size); });
}

int allocate(const char* path, int mode, off_t offset, off_t size, fuse_file_info* info) {
  return change(path, [&] { return ::fallocate(fd_of(info), mode, offset, size); });
}

int make_node(const char* path, mode_t mode, dev_t device) {
  return change(path, [&] { return ::mknod(real(path).c_str(), mode, device); });
}

int make_folder(const char* path, mode_t mode) {
  return change(path, [&] { return ::mkdir(real(path).c_str(), mode); });
}

int remove_file(const char* path) {
  return change(path, [&] { return ::unlink(real(path).c_str()); });
}

int remove_folder(const char* path) {
  return change(path, [&] { return ::rmdir(real(path).c_str()); });
}

int rename(const char* from, const char* to, unsigned flags) {
  if (flags != 0) return -EINVAL;
  return change(from, [&] { return ::rename(real(from).c_str(), real(to).c_str()); });
}

int change_mode(const char* path, mode_t mode, fuse_file_info*) {
  return change(path, [&] { return ::chmod(real(path).c_str(), mode); });
}

int change_owner(const char* path, uid_t user, gid_t group, fuse_file_info*) {
  return change(path, [&] { return ::lchown(real(path).c_str(), user, group); });
}

int file_system(const char* path, struct statvfs* figures) {
  return result(::statvfs(real(path).c_str(), figures));
}

// The kernel keeps its cache of a file, because all changes go through this mount. Otherwise, if it
// reads a page again while it is being written, it may show the older one, and the store would be
// refused.
void* keep_caches(fuse_conn_info* connection, fuse_config*) {
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_AUTO_INVAL_DATA);
  return nullptr;
}

fuse_operations operations() {
  fuse_operations all{};
  all.init = keep_caches;
  all.getattr = get_attributes;
  all.readdir = list;
  all.open = open_file;
  all.create = create;
  all.read = read;
  all.write = write;
  all.fsync = sync;
  all.release = close_file;
  all.truncate = resize;
  all.fallocate = allocate;
  all.mknod = make_node;
  all.mkdir = make_folder;
  all.unlink = remove_file;
  all.rmdir = remove_folder;
  all.rename = rename;
  all.chmod = change_mode;
  all.chown = change_owner;
  all.statfs = file_system;
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: failing_disk FOLDER FAULTS MOUNT_POINT\n");
    return 2;
  }
  folder = argv[1];
  faults = argv[2];
  const fuse_operations all = operations();
  std::string foreground = "-f";
  std::string one_thread = "-s";
  std::array<char*, 5> arguments = {argv[0], foreground.data(), one_thread.data(), argv[3],
                                    nullptr};
  return fuse_main(4, arguments.data(), &all, nullptr);
}
