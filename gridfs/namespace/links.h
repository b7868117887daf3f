// The further names of files, their hard links: documents {_id: <path>, file: <_id of the files
// document>} in `<bucket>.links`, one for each name. The first name is `filename`.
//
// How many there are of a file is kept in its `metadata.posix.links`, for showing it: what a driver
// has made of that number decides nothing. A document whose file is gone is nobody's name.
//
// Earlier stores have the further names in the array `aliases` of the files document (aliases.h).
// They are names as the others are, and become documents when one of the file's names changes.
//
// The collection is made with a bucket's first link: a bucket without it has no links, and pays
// nothing for them.
//
// Thread-safety: Links is thread-safe; a LinkScan belongs to one snapshot and one thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gridfs/bucket/bucket.h"
#include "gridfs/namespace/aliases.h"

namespace gridmount::gridfs {

// A file whose names change.
struct LinkedFile {
  bson::Value id;
  std::optional<std::string> filename;  // a driver's document may have another one, which stays
  int64_t links = 0;
  bool takes_fields = true;  // its metadata can hold the number, and times, as it is

  static LinkedFile parse(bson::View files_document);
};

class Links {
 public:
  explicit Links(const Bucket& bucket) : bucket_(bucket), aliases_(bucket) {}

  // Learns whether there may be any. Before anything else.
  Status start(engine::Snapshot& snapshot);
  bool in_use() const { return has_documents_ || aliases_.in_use(); }
  // Somebody else has written documents, or dropped the collection.
  void changed_by_others() const {
    has_documents_ = true;
    is_made_ = false;
  }
  // A put() is committed: the collection and its index are there.
  void set_made() const { is_made_ = true; }

  // How many names to show of a file, at least one.
  uint32_t names_of(bson::View files_document) const;

  // The files of that further name: usually one or none.
  Result<std::vector<bson::View>> files_of(engine::Snapshot& snapshot, std::string_view name) const;
  // Those of a file that are documents, also of one that is gone.
  Result<std::vector<std::string>> all_of(engine::Snapshot& snapshot, bson::ValueView id) const;
  // Whether the file has any.
  Result<bool> has_any(engine::Snapshot& snapshot, bson::View files_document) const;

  // Changes, in the caller's transaction. load() makes documents of the file's aliases; nothing if
  // there is no such file.
  Result<std::optional<LinkedFile>> load(engine::Transaction& transaction,
                                         bson::ValueView id) const;
  // The name leads to that file, and to no other.
  Status put(engine::Transaction& transaction, std::string_view name, bson::ValueView id) const;
  // The name leads to that file no more. Whether it did.
  Result<bool> take(engine::Transaction& transaction, std::string_view name,
                    bson::ValueView id) const;
  // One of the further names of a file.
  Result<std::optional<std::string>> any_of(engine::Snapshot& snapshot, bson::ValueView id) const;
  // All of them are another file's.
  Status hand_over(engine::Transaction& transaction, bson::ValueView from,
                   bson::ValueView to) const;
  // Those below a folder follow it, aliases too.
  Status move_below(engine::Transaction& transaction, const std::string& from,
                    const std::string& to) const;

  const Aliases& aliases() const { return aliases_; }
  engine::Collection& documents() const { return bucket_.links(); }
  const Bucket& bucket() const { return bucket_; }

 private:
  Status make_documents(engine::Transaction& transaction, const bson::Document& file) const;
  Result<int64_t> count_of(engine::Snapshot& snapshot, bson::ValueView id) const;

  const Bucket& bucket_;
  Aliases aliases_;
  mutable std::atomic<bool> has_documents_ = false;  // or has had, in a transaction
  mutable std::atomic<bool> is_made_ = false;
};

// The further names behind one, in the order of their bytes, and the files they lead to.
class LinkScan {
 public:
  struct Link {
    std::string name;
    bson::View document;  // the file's; valid as long as views of the snapshot are
  };

  // Begins at `from`, or behind it, and ends before `end` if that is not empty.
  LinkScan(const Links& links, engine::Snapshot& snapshot, std::string from, bool inclusive,
           std::string end);

  // Nothing at the end. A name comes as often as it leads to files.
  Result<std::optional<Link>> next();

 private:
  Result<std::optional<Link>> read_document();
  Result<std::optional<Link>> read_alias();

  const Links& links_;
  engine::Snapshot& snapshot_;
  const std::string end_;
  std::string from_;
  bool inclusive_;
  std::unique_ptr<engine::Cursor> cursor_;
  bool begun_ = false;
  std::optional<Link> document_;  // read, not yet given
  std::optional<Link> alias_;
  std::vector<bson::View> alike_;  // more files that have from_ as an alias
};

}  // namespace gridmount::gridfs
