// The explicit directories of a bucket: documents {_id, parent, name, posix, ino, changes} in
// `<bucket>.directories`.
//
// `parent` is the path of the parent directory and `name` the component in it. The bucket's root
// has the document {parent: null, name: ""}. This class deals with documents only. It does not see
// directories that are only implied by filenames.
//
// Thread-safe after find_root() or make_root(). If others write to the store too, make_root() may
// be called at any time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gridfs/bucket/bucket.h"

namespace gridmount::gridfs {

struct DirectoryDocument {
  bson::Value id;
  PosixFields posix;
  // The ino that the directory had while it was implied, if it ever was.
  std::optional<uint64_t> ino;
  // The number of changes of the document. Counted only if others write to the store too.
  int64_t changes = 0;

  // Copies what it needs. A field of the wrong type counts as missing.
  static DirectoryDocument parse(bson::View document);
};

// Returns true if the directory was made after `at`, according to the time in its _id. Returns
// false for the root, and for a directory whose _id is not an ObjectId.
bool is_made_after(bson::View directory, const std::optional<bson::Date>& at);

class DirectoryStore {
 public:
  // `bucket` must outlive this object. With `at`, find() ignores directories that were made later.
  explicit DirectoryStore(const Bucket& bucket, std::optional<bson::Date> at = {})
      : bucket_(bucket),
        at_(at),
        keeps_root_id_(bucket.store().capabilities().exclusive),
        counts_changes_(!bucket.store().capabilities().exclusive) {}

  // One of these two must be called before all other functions and before other threads use the
  // object. Both look up the root's document, and make_root() creates it if it is missing.
  Status find_root(engine::Snapshot& snapshot);
  Status make_root(engine::Transaction& transaction, const PosixFields& posix);

  // Returns nothing if the directory has no document.
  Result<std::optional<DirectoryDocument>> find(engine::Snapshot& snapshot,
                                                std::string_view path) const;
  // Returns true if an explicit directory has this one as its parent.
  Result<bool> has_children(engine::Snapshot& snapshot, std::string_view path) const;

  // Fails with DuplicateKey if the directory has a document. `ino` is the ino that the directory
  // had while it was implied.
  Result<DirectoryDocument> insert(engine::Transaction& transaction, std::string_view path,
                                   const PosixFields& posix,
                                   std::optional<uint64_t> ino = {}) const;
  // Does nothing if the directory has no document.
  Status remove(engine::Transaction& transaction, std::string_view path) const;
  // Returns false if the directory has no document.
  Result<bool> update(engine::Transaction& transaction, std::string_view path,
                      const PosixFields& changes) const;
  // Like update(), but returns the document before the update, or nothing if the directory has
  // none. At least one field of `changes` must be set.
  Result<std::optional<DirectoryDocument>> find_and_update(engine::Transaction& transaction,
                                                           std::string_view path,
                                                           const PosixFields& changes) const;
  // Moves the documents of the directory `from`, and of all directories below it, to `to`.
  Status move(engine::Transaction& transaction, std::string_view from, std::string_view to) const;

 private:
  Result<bool> has_root(engine::Snapshot& snapshot);
  bson::Document by_path(std::string_view path) const;
  // Returns an empty document if nothing changes.
  bson::Document update_to(const PosixFields& changes) const;
  Status move_children(engine::Transaction& transaction, bson::View range, std::string_view from,
                       std::string_view to) const;

  const Bucket& bucket_;
  const std::optional<bson::Date> at_;
  // False if others may remove the root's document and make another one.
  const bool keeps_root_id_;
  const bool counts_changes_;
  std::optional<bson::Value> root_id_;
};

}  // namespace gridmount::gridfs
