// The explicit folders of a bucket: documents {_id, parent, name, posix} in `<bucket>.directories`.
//
// `parent` is the path of the folder it is in, `name` its component there; the bucket's root has
// the document {parent: null, name: ""}. What is said of names below applies to documents only:
// folders that are implied by filenames are none of this class's business.
// Thread-safety: thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

struct FolderDocument {
  bson::Value id;
  PosixFields posix;
  // Node::ino of a folder that had one before it had a document.
  std::optional<uint64_t> ino;

  static FolderDocument parse(bson::View document);
};

// Whether the folder was made after that; its _id says when. The root never was.
bool is_made_after(bson::View folder, const std::optional<bson::Date>& at);

class Folders {
 public:
  // With `at`, find() passes over folders made later.
  explicit Folders(const Bucket& bucket, std::optional<bson::Date> at = {})
      : bucket_(bucket), at_(at) {}

  // Before anything else, and before threads: finds the root's document, or makes it if a
  // transaction is given.
  Status find_root(engine::Snapshot& snapshot);
  Status make_root(engine::Transaction& transaction, const PosixFields& posix);

  Result<std::optional<FolderDocument>> find(engine::Snapshot& snapshot,
                                             std::string_view path) const;
  Result<bool> has_children(engine::Snapshot& snapshot, std::string_view path) const;

  Result<FolderDocument> insert(engine::Transaction& transaction, std::string_view path,
                                const PosixFields& posix, std::optional<uint64_t> ino = {}) const;
  Status remove(engine::Transaction& transaction, std::string_view path) const;
  // False if the folder has no document.
  Result<bool> update(engine::Transaction& transaction, std::string_view path,
                      const PosixFields& changes) const;
  // All documents of the folder `from` and of those below it move to `to`.
  Status move(engine::Transaction& transaction, std::string_view from, std::string_view to) const;

 private:
  bson::Document by_path(std::string_view path) const;
  Status move_children(engine::Transaction& transaction, bson::View range, std::string_view from,
                       std::string_view to) const;

  const Bucket& bucket_;
  const std::optional<bson::Date> at_;
  std::optional<bson::Value> root_id_;
};

}  // namespace gridmount::gridfs
