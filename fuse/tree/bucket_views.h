// The folder `.gridfs` of a bucket: what GridFS has beside the tree, to be read and not changed.
//
// - `by-id/ID`: every files document, by gridfs::id_name().
// - `revisions/PATH/N`: the contents of the file PATH, of names as the tree shows them; 0 is the
//   oldest.
// - `stats.json`: what the mount has done, and what the bucket and the store hold.
//
// It is not listed in the bucket's root, and belongs to whoever mounts alone: what is found here by
// another way than its path is not protected by the folders on that.
//
// A path here is that below `.gridfs`, "" for itself.
//
// Thread-safety: thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fuse/tree/made_up_file.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::fuse {

inline constexpr std::string_view kViewsFolder = ".gridfs";

// What is at a path.
struct View {
  bool is_folder = false;
  gridfs::Attributes attributes;
  bson::Value file;  // of a file: the _id of whose content it has; null: that of `made_up`
  std::shared_ptr<MadeUpFile> made_up;
  uint64_t ino = 0;  // as Node::ino: of another content another one
};

// Of whatever would change it.
tl::unexpected<Error> views_are_read_only();

class BucketViews {
 public:
  // `text` makes what is in stats.json.
  using Text = std::function<std::string(gridfs::Volume& volume)>;

  // Before anybody reads it; until then it is empty.
  void set_text(Text text) { text_ = std::move(text); }

  // NoSuchEntry, also for what no name can be. `known` is what was made up when the path was looked
  // up last, or null.
  Result<View> find(gridfs::Volume& volume, std::string_view path,
                    std::shared_ptr<MadeUpFile> known) const;
  // The view of what was made up.
  View find_made_up(gridfs::Volume& volume, std::shared_ptr<MadeUpFile> file) const;
  // A view of that files document's content, wherever it is. NoSuchEntry.
  Result<View> find_content(gridfs::Volume& volume, bson::ValueView id) const;
  Result<std::unique_ptr<gridfs::DirectoryStream>> list(
      const std::shared_ptr<gridfs::Volume>& volume, std::string_view path) const;

 private:
  // What a path below `revisions` leads to in the tree.
  struct Tracked {
    gridfs::Node node;
    std::string folder;  // where it is
    std::string name;
    std::string_view rest;  // of the path: behind a file's
  };
  Result<Tracked> track(gridfs::Volume& volume, std::string_view path) const;
  Result<View> find_revision(gridfs::Volume& volume, std::string_view path) const;

  View folder(gridfs::Volume& volume, std::string_view path) const;

  Text text_;
};

}  // namespace gridmount::fuse
