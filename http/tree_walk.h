// A walk over a directory and everything below it, for COPY, MOVE and DELETE.
//
// Memory does not grow with the number of names, but with the depth, which is limited. Not
// thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gridfs/namespace/path_namespace.h"

namespace gridmount::http {

// The limit for the levels of directories below the first one.
inline constexpr size_t kTreeLevelsMax = 256;

struct TreeStep {
  enum class Kind {
    kEnter,  // a directory, before its content
    kFile,   // also a symbolic link, a device or the like
    kLeave,  // a directory, after its content
  };
  Kind kind = Kind::kFile;
  std::vector<std::string> components;  // those of the first directory, and those below it
  gridfs::Node node;
};

class TreeWalk {
 public:
  // Begins at the directory that `components` lead to. `paths` must outlive the object.
  TreeWalk(gridfs::PathNamespace& paths, std::vector<std::string> components,
           gridfs::Node directory);

  // Returns the next step, or nothing at the end. Names that appear or vanish meanwhile may be left
  // out. Fails with Conflict for a directory below kTreeLevelsMax levels, and with the errors of
  // listing a directory. After an error, the walk continues behind this directory.
  Result<std::optional<TreeStep>> next();
  // Skips the content of the directory of the last step, and its kLeave. The last step must be
  // kEnter.
  void skip() { open_.pop_back(); }

 private:
  struct Level {
    std::vector<std::string> components;
    gridfs::Node node;
    std::unique_ptr<gridfs::DirectoryStream> children;  // null: not begun
  };

  gridfs::PathNamespace& paths_;
  std::vector<Level> open_;  // from the first directory to the innermost
  std::optional<Level> first_;
};

}  // namespace gridmount::http
