// The names by which the kernel knows files. This class is needed because a change stream reports
// that a file was removed or renamed, but not which names the file had. The same is true for a
// transaction of a client that changes too many documents to list.
//
// This class has no names of directories, because the inode table has them (inode_table.h).
//
// Not thread-safe: the inode table's lock guards it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gridmount::fuse {

// A name as the kernel knows it, and the ino of the directory that has the name.
struct ShownName {
  uint64_t parent = 0;
  std::string name;
  friend auto operator<=>(const ShownName&, const ShownName&) = default;
};

class FileNames {
 public:
  // Records that the name leads to the file `ino`, and no longer to another file. The file keeps
  // its other names.
  void set(uint64_t parent, std::string_view name, uint64_t ino);
  // Records a rename. Afterwards `to` leads to the file to which `from` led, or to nothing if
  // `from` is not known. The names may be names of directories, which this class does not know.
  void move(const ShownName& from, const ShownName& to);
  // Records that two names were exchanged. If one name is unknown, the other name afterwards leads
  // to nothing.
  void exchange(const ShownName& one, const ShownName& other);
  // Forgets a name, which need not be known.
  void remove(const ShownName& name) { take(name); }
  // Forgets all names of a file.
  void forget(uint64_t ino);

  // Returns the names of a file, or none if no name is known.
  std::vector<ShownName> of(uint64_t ino) const;
  // Returns the number of names.
  size_t size() const { return inos_.size(); }

 private:
  struct Hash {
    size_t operator()(const ShownName& name) const {
      return std::hash<std::string>()(name.name) * 31 + std::hash<uint64_t>()(name.parent);
    }
  };
  // Removes the name, and returns the ino to which it led, or 0 if the name is not known.
  uint64_t take(const ShownName& name);
  void put(const ShownName& name, uint64_t ino);

  // names_ points to the keys of this map, which keep their addresses.
  std::unordered_map<ShownName, uint64_t, Hash> inos_;
  // Sorted by the ino of the file. Finds one name of a file with very many links.
  std::set<std::pair<uint64_t, const ShownName*>> names_;
};

}  // namespace gridmount::fuse
