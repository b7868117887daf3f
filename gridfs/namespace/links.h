// The additional names (hard links) of files: documents {_id: <path>, file: <_id of the files
// document>} in `<bucket>.links`, one per name. The first name is `filename`.
//
// `metadata.posix.links` of a file holds the number of additional names, from which nlink is
// computed (nlink()). A driver may have changed this number. So the removal of a name looks in
// `<bucket>.links` for other names of the file, and RemovedName (path_namespace.h) says that 0
// names are left only if no other name is there. load() takes the number from the document, but
// counts the link documents if the number is 0 or leaves no room for another name.
// BucketNamespace::link() compares the result with kMaxLinks. A link document without its file has
// no effect.
//
// Stores of earlier versions have the additional names in the array `aliases` of the files document
// (aliases.h). Aliases are names like all others. When a name of a file changes, all aliases of
// that file become link documents.
//
// A bucket's first link creates the collection. In a bucket without the collection, look-ups do not
// search for links.
//
// Links is thread-safe after start(). A LinkScan belongs to one snapshot and one thread.
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

// What a change of names needs to know about the file.
struct LinkedFile {
  bson::Value id;
  // Unset if the files document's `filename` is not a string. A change of names does not change
  // this `filename`.
  std::optional<std::string> filename;
  int64_t links = 0;
  bool accepts_fields = true;  // the result of accepts_posix_fields() (posix_place.h)

  static LinkedFile parse(bson::View files_document);
};

class Links {
 public:
  // `bucket` must outlive this object.
  explicit Links(const Bucket& bucket) : bucket_(bucket), aliases_(bucket) {}

  // Finds out whether the bucket may have links. Must be called before all other functions.
  Status start(engine::Snapshot& snapshot);
  // Returns false if no file has additional names, as far as this process knows.
  bool in_use() const { return has_documents_ || aliases_.in_use(); }
  // Returns false if searches ignore the collection of link documents, because this process knows
  // of none.
  bool has_documents() const { return has_documents_; }
  // Must be called after somebody else has written link documents or dropped the collection.
  void changed_externally() const {
    has_documents_ = true;
    is_made_ = false;
  }
  // Must be called after the commit of a transaction with a put(). From then on, the collection and
  // its index exist.
  void set_made() const { is_made_ = true; }

  // Returns the number of names to show for a file, from 1 to kMaxLinks. If the files document has
  // no place for the recorded number (accepts_posix_fields()), nlink() counts the link documents in
  // a new snapshot. If this fails, nlink() counts only the `filename` and the aliases.
  uint32_t nlink(bson::View files_document) const;

  // Returns the files documents of the files that have this additional name: usually one or none.
  // The views are valid until the snapshot ends or is paused, or until a transaction writes next
  // (rule S5 in engine/store.h).
  Result<std::vector<bson::View>> files_of(engine::Snapshot& snapshot, std::string_view name) const;
  // Returns those additional names of a file that are stored as link documents, without aliases.
  // The file need not exist.
  Result<std::vector<std::string>> all_of(engine::Snapshot& snapshot, bson::ValueView id) const;
  // Returns true if the file has additional names.
  Result<bool> has_any(engine::Snapshot& snapshot, bson::View files_document) const;

  // --- Changes, in the caller's transaction.
  //
  // Loads a file whose names are to change, and turns its aliases into link documents. Returns
  // nothing if there is no file with this _id.
  Result<std::optional<LinkedFile>> load(engine::Transaction& transaction,
                                         bson::ValueView id) const;
  // Makes the link document of the name lead to that file, and creates the document if there is
  // none. Does not look for the name among aliases and filenames. Creates the collection and its
  // index if they may be missing.
  Status put(engine::Transaction& transaction, std::string_view name, bson::ValueView id) const;
  // Removes the link from the name to that file. Returns false if there was none.
  Result<bool> take(engine::Transaction& transaction, std::string_view name,
                    bson::ValueView id) const;
  // Returns the name in one link document of the file. Returns nothing if the file has no link
  // document, or if the name in the document that was found is not a string. Changes nothing.
  Result<std::optional<std::string>> any_of(engine::Snapshot& snapshot, bson::ValueView id) const;
  // Makes all link documents of the file `from` lead to the file `to`.
  Status transfer(engine::Transaction& transaction, bson::ValueView from, bson::ValueView to) const;
  // Renames all additional names below a directory that moves, including aliases.
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
  mutable std::atomic<bool> has_documents_ = false;  // whether there may be link documents
  mutable std::atomic<bool> is_made_ = false;        // the collection and its index surely exist
};

// Scans the additional names in byte order, with the files they lead to.
class LinkScan {
 public:
  struct Link {
    std::string name;
    bson::View document;  // the files document, valid as long as views of Links::files_of()
  };

  // Begins at `from` if `inclusive` is true, otherwise after `from`. Ends before `end` if `end` is
  // not empty. `links` and `snapshot` must outlive the scan.
  LinkScan(const Links& links, engine::Snapshot& snapshot, std::string from, bool inclusive,
           std::string end);

  // Returns nothing at the end. A name is returned once per file that it leads to.
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
  std::optional<Link> document_;  // read, not returned yet
  std::optional<Link> alias_;
  std::vector<bson::View> alike_;  // more files that have from_ as an alias
};

}  // namespace gridmount::gridfs
