#include "tests/mount/differential/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <set>
#include <string_view>

#include "tests/mount/differential/attributes.h"

namespace gridmount::differential {

namespace {

constexpr size_t kReadBlock = 256 * 1024;

// Reads by descriptors relative to each other, because paths in the tree may be longer than any
// call accepts.
class Reader {
 public:
  explicit Reader(Tree& tree) : tree_(tree), block_(kReadBlock, '\0') {}

  void read_folder(int fd, const std::string& path) {
    DIR* const listing = ::fdopendir(fd);
    if (listing == nullptr) return fault(path, "listing");
    std::set<std::string> names;
    errno = 0;
    while (const dirent* const entry = ::readdir(listing)) {
      if (!names.insert(entry->d_name).second) fault(path + "/" + entry->d_name, "listed twice");
    }
    if (errno != 0) fault(path, "listing");
    names.erase(".");
    names.erase("..");
    for (const std::string& name : names) {
      read_branch(::dirfd(listing), name, path == "." ? name : path + "/" + name);
    }
    ::closedir(listing);
  }

  void read_branch(int parent, const std::string& name, const std::string& path) {
    Branch branch;
    if (::fstatat(parent, name.c_str(), &branch.attributes, AT_SYMLINK_NOFOLLOW) != 0) {
      return fault(path, "stat");
    }
    const mode_t type = branch.attributes.st_mode & S_IFMT;
    if (type == S_IFLNK) {
      const ssize_t size = ::readlinkat(parent, name.c_str(), block_.data(), block_.size());
      if (size < 0) return fault(path, "readlink");
      branch.content = block_.substr(0, static_cast<size_t>(size));
    }
    if (type != S_IFREG && type != S_IFDIR) {
      tree_.branches[path] = std::move(branch);
      return;
    }
    const int fd = ::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return fault(path, "open");
    read_xattrs(fd, branch, path);
    if (type == S_IFREG) read_content(fd, branch, path);
    tree_.branches[path] = std::move(branch);
    if (type == S_IFDIR) {
      read_folder(fd, path);
    } else {
      ::close(fd);
    }
  }

 private:
  void fault(const std::string& path, const std::string& what) {
    tree_.faults.push_back(shown(path) + ": " + what +
                           (errno == 0 ? "" : std::string(": ") + std::strerror(errno)));
  }

  void read_content(int fd, Branch& branch, const std::string& path) {
    size_t digest = 0;
    off_t at = 0;
    ssize_t got = 0;
    while ((got = ::pread(fd, block_.data(), block_.size(), at)) > 0) {
      const std::string_view bytes(block_.data(), static_cast<size_t>(got));
      digest = digest * 31 + std::hash<std::string_view>()(bytes);
      at += got;
    }
    if (got < 0) return fault(path, "read");
    if (at != branch.attributes.st_size) {
      errno = 0;
      fault(path, std::to_string(at) + " bytes of " + std::to_string(branch.attributes.st_size));
    }
    branch.content = "digest " + std::to_string(digest);
  }

  void read_xattrs(int fd, Branch& branch, const std::string& path) {
    const ssize_t size = ::flistxattr(fd, block_.data(), block_.size());
    if (size < 0 && errno != EOPNOTSUPP) return fault(path, "listxattr");
    std::vector<std::string> names;
    for (size_t at = 0; at < static_cast<size_t>(std::max<ssize_t>(size, 0));) {
      names.emplace_back(block_.c_str() + at);
      at += names.back().size() + 1;
    }
    for (const std::string& name : names) {
      const ssize_t bytes = ::fgetxattr(fd, name.c_str(), block_.data(), block_.size());
      if (bytes < 0) return fault(path, "getxattr " + name);
      branch.xattrs[name] = block_.substr(0, static_cast<size_t>(bytes));
    }
  }

  Tree& tree_;
  std::string block_;
};

using Links = std::map<ino_t, std::set<std::string>>;

// Returns the names of each file.
Links links_of(const Tree& tree) {
  Links links;
  for (const auto& [path, branch] : tree.branches) {
    if (!S_ISDIR(branch.attributes.st_mode)) links[branch.attributes.st_ino].insert(path);
  }
  return links;
}

void add_false_counts(const Tree& tree, const Links& links, std::vector<std::string>& faults) {
  for (const auto& [ino, paths] : links) {
    const nlink_t count = tree.branches.at(*paths.begin()).attributes.st_nlink;
    if (count != paths.size()) {
      faults.push_back(shown(*paths.begin()) + ": has " + std::to_string(paths.size()) +
                       " names, but says " + std::to_string(count));
    }
  }
}

// Checks directories whose links are counted.
void add_false_folder_counts(const Tree& tree, std::vector<std::string>& faults) {
  std::map<std::string, nlink_t> subfolders;
  for (const auto& [path, branch] : tree.branches) {
    if (!S_ISDIR(branch.attributes.st_mode) || path == ".") continue;
    const size_t slash = path.rfind('/');
    ++subfolders[slash == std::string::npos ? "." : path.substr(0, slash)];
  }
  for (const auto& [path, branch] : tree.branches) {
    const nlink_t count = branch.attributes.st_nlink;
    if (!S_ISDIR(branch.attributes.st_mode) || count == 1) continue;
    if (count != 2 + subfolders[path]) {
      faults.push_back(shown(path) + ": has " + std::to_string(subfolders[path]) +
                       " subfolders, but " + std::to_string(count) + " links");
    }
  }
}

std::string branch_difference(const Branch& mount, const Branch& plain) {
  std::string differs = difference(mount.attributes, plain.attributes);
  if (!differs.empty()) return differs;
  if (mount.content != plain.content) {
    return "content: " + shown(mount.content) + "; plain: " + shown(plain.content);
  }
  if (mount.xattrs != plain.xattrs) return "extended attributes";
  return {};
}

}  // namespace

Tree read_tree(const std::string& root) {
  Tree tree;
  const int fd = ::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    tree.faults.push_back(root + ": " + std::strerror(errno));
    return tree;
  }
  Reader(tree).read_branch(fd, ".", ".");
  ::close(fd);
  add_false_counts(tree, links_of(tree), tree.faults);
  add_false_folder_counts(tree, tree.faults);
  return tree;
}

std::vector<std::string> differences(const Tree& mount, const Tree& plain) {
  std::vector<std::string> all;
  for (const std::string& fault : mount.faults) all.push_back("mount: " + fault);
  for (const std::string& fault : plain.faults) all.push_back("plain: " + fault);
  for (const auto& [path, branch] : mount.branches) {
    const auto other = plain.branches.find(path);
    const std::string differs = other == plain.branches.end()
                                    ? "on the mount only: " + text(branch.attributes)
                                    : branch_difference(branch, other->second);
    if (!differs.empty()) all.push_back(shown(path) + ": " + differs);
  }
  for (const auto& [path, branch] : plain.branches) {
    if (!mount.branches.contains(path)) {
      all.push_back(shown(path) + ": on the plain side only: " + text(branch.attributes));
    }
  }
  if (!all.empty()) return all;
  const Links ours = links_of(mount);
  const Links theirs = links_of(plain);
  std::set<std::set<std::string>> same;
  for (const auto& [ino, paths] : theirs) same.insert(paths);
  for (const auto& [ino, paths] : ours) {
    if (!same.contains(paths)) all.push_back(shown(*paths.begin()) + ": has other names");
  }
  return all;
}

std::string description(const Tree& tree) {
  std::string text;
  for (const std::string& fault : tree.faults) text += "FAULT " + fault + "\n";
  for (const auto& [path, branch] : tree.branches) {
    struct stat attributes = branch.attributes;
    // If a file was emptied through a handle opened for reading only, the kernel cannot send the
    // time that it shows, because it holds times while it writes back. Later the store's time
    // appears, which differs by milliseconds.
    if (is_now(attributes.st_mtim)) attributes.st_mtim = {};
    // The mount does not count the links of directories made before it was mounted.
    if (S_ISDIR(attributes.st_mode)) attributes.st_nlink = 1;
    text += shown(path) + ": " + differential::text(attributes) + ", number " +
            std::to_string(branch.attributes.st_ino) + ", " + shown(branch.content);
    for (const auto& [name, value] : branch.xattrs) {
      text += ", " + name + " " + std::to_string(std::hash<std::string>()(value));
    }
    text += "\n";
  }
  return text;
}

}  // namespace gridmount::differential
