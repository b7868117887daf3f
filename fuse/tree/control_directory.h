// The control directory `.gridfs` of a bucket: the data of GridFS that is not in the tree. Nobody
// can change the control directory.
//
// - `by-id/ID`: the content of every files document. ID is gridfs::id_name() of its _id.
// - `revisions/PATH/N`: the contents of the file PATH. PATH has the names that the tree shows. N
//   counts from 0, which is the oldest content.
// - `stats.json`: the stats of the mount, the bucket and the store.
//
// The bucket's root does not list the control directory. Only the user who mounts may use it,
// because its files would otherwise bypass the permissions of the directories on their paths.
//
// A path here is relative to `.gridfs`, and "" is the control directory itself.
//
// Thread-safe, except set_text().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fuse/tree/generated_file.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::fuse {

inline constexpr std::string_view kControlDirectoryName = ".gridfs";

// The node at a path.
struct ControlNode {
  bool is_directory = false;
  gridfs::Attributes attributes;
  // The _id of the files document whose content the file has. Null for a directory, and if the
  // content is in `generated`.
  bson::Value file;
  std::shared_ptr<GeneratedFile> generated;
  uint64_t ino = 0;  // like Node::ino; a file with new content gets a new ino
};

// Returns the error for operations that would change the control directory.
tl::unexpected<Error> control_is_read_only();

class ControlDirectory {
 public:
  // Returns the text of stats.json.
  using Text = std::function<std::string(gridfs::PathNamespace& paths)>;

  // Sets the function that makes the text of stats.json. Must be called before anybody reads
  // stats.json, which is empty until then.
  void set_text(Text text) { text_ = std::move(text); }

  // Returns the node at the path. Fails with NoSuchEntry, even for invalid names, or with
  // NameTooLong. `known` is the GeneratedFile of the last look-up of the path, or null.
  Result<ControlNode> find(gridfs::PathNamespace& paths, std::string_view path,
                           std::shared_ptr<GeneratedFile> known) const;
  // Returns the node of a GeneratedFile.
  ControlNode find_generated(gridfs::PathNamespace& paths,
                             std::shared_ptr<GeneratedFile> file) const;
  // Returns a node whose content is that of the files document `id`. Fails with NoSuchEntry if
  // `files` does not have the document, even if `detached` has it.
  Result<ControlNode> find_content(gridfs::PathNamespace& paths, bson::ValueView id) const;
  // Lists the directory at the path. Fails with NoSuchEntry if there is no such directory, with
  // NotADirectory if the path leads to a revision, and as PathNamespace::lookup() does.
  Result<std::unique_ptr<gridfs::DirectoryStream>> list(
      const std::shared_ptr<gridfs::PathNamespace>& paths, std::string_view path) const;

 private:
  // The node of the tree that a path below `revisions` leads to.
  struct Tracked {
    gridfs::Node node;
    std::string directory;  // the parent directory
    std::string name;
    std::string_view rest;  // what follows the file's path
  };
  Result<Tracked> track(gridfs::PathNamespace& paths, std::string_view path) const;
  Result<ControlNode> find_revision(gridfs::PathNamespace& paths, std::string_view path) const;

  ControlNode directory(gridfs::PathNamespace& paths, std::string_view path) const;

  Text text_;
};

}  // namespace gridmount::fuse
