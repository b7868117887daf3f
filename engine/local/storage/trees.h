// Keyed access to the store's trees within one LMDB transaction, reading or writing.
//
// A write that fails for any reason other than the key being there dooms the transaction: its
// contents are then unknown, every further write returns the first error, and so does commit.
// Views of keys and values point into the map; in a writing transaction they hold until the next
// write.
//
// Thread-safety: none; belongs to the Snapshot or Transaction, one thread at a time.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/format/range.h"
#include "engine/local/format/redo_changes.h"
#include "engine/local/storage/tree_reader.h"

namespace gridmount::local {

// The trees made at the store's creation: the catalog's, and those that hold ranges of records and
// index entries.
struct TreeHandles {
  MDB_dbi catalog = 0;
  std::vector<MDB_dbi> ranges;
  // The store is of a format whose entries may have checksums: new ones get them.
  bool checksums = false;
};

// What LMDB knows a tree of ranges by.
std::string tree_name(int number);

inline MDB_val to_mdb(std::string_view bytes) {
  return MDB_val{bytes.size(), const_cast<char*>(bytes.data())};
}
inline std::string_view from_mdb(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

// Far above the largest record.
inline constexpr size_t kValueBytesMax = size_t{32} << 20;

// What a reading call of LMDB has returned, or MDB_CORRUPTED if there can be no such value. The
// call was given a `value` without data.
inline int plausible(int code, const MDB_val& value) {
  const bool is_value = value.mv_data != nullptr && value.mv_size <= kValueBytesMax;
  return code != MDB_SUCCESS || is_value ? code : MDB_CORRUPTED;
}

class RangeCursor;
class TreePath;

class Trees {
 public:
  // `handles` outlive this.
  Trees(MDB_txn* txn, const TreeHandles& handles, bool writable);
  ~Trees() { end(); }
  Trees(const Trees&) = delete;
  Trees& operator=(const Trees&) = delete;

  MDB_txn* txn() const { return txn_; }
  bool writable() const { return writable_; }
  MDB_dbi catalog() const { return handles_.catalog; }
  MDB_dbi tree(const Range& range) const { return handles_.ranges[range.tree]; }
  size_t tree_count() const { return handles_.ranges.size(); }
  bool has_checksums() const { return handles_.checksums; }
  // As the log numbers them: 0 is the catalog. `number` <= tree_count().
  MDB_dbi tree_of_number(size_t number) const {
    return number == 0 ? handles_.catalog : handles_.ranges[number - 1];
  }

  // As in the main tree.
  std::string name_of(MDB_dbi tree) const;
  uint32_t number_of(MDB_dbi tree) const;
  // Whether the entry, of a tree that is not the catalog, may be without a checksum.
  Result<bool> is_without_checksums(uint32_t tree, const TreeEntry& entry) const;

  // For reading transactions: the cursors note their places; every call is an IllegalOperation
  // until resume(), with the next LMDB transaction. Then writes() has grown.
  void pause();
  void resume(MDB_txn* txn);
  // Cursors that are to be told of a pause.
  void enroll(RangeCursor* cursor) const { reading_.push_back(cursor); }
  void dismiss(RangeCursor* cursor) const { std::erase(reading_, cursor); }

  // Before the LMDB transaction ends: closes this object's cursors; from then on every call is an
  // IllegalOperation.
  void end();
  bool ended() const { return txn_ == nullptr; }

  // The error of every read after the end, or of every write after a failed one.
  Status readable() const;
  Status writable_now() const;
  // How many writes and resumptions there have been: a cursor whose number is older must find its
  // place again.
  uint64_t writes() const { return writes_; }
  uint64_t resumptions() const { return resumptions_; }

  Result<std::optional<std::string_view>> get(MDB_dbi tree, std::string_view key) const;
  // Finds what it can of these (TreeReader); nothing in a writing transaction. The others are for
  // get().
  void find_several(MDB_dbi tree, std::span<TreeReader::Wanted> wanted) const;
  // The first entry at or after the key, which TreePath is to prove; nothing where it takes a
  // cursor to find it, and in a writing transaction.
  std::optional<TreeReader::Place> find_from(MDB_dbi tree, std::string_view key) const;
  // That the tree does not have the key, which a search has not found. StoreDamaged if that cannot
  // be told. Of ranges with checksums.
  Status prove_absent(MDB_dbi tree, std::string_view key) const;
  // The same after at_or_after(), which has found `found`.
  Status prove_absent(MDB_dbi tree, std::string_view key,
                      const std::optional<TreeEntry>& found) const;
  // The error of a read that LMDB has failed with `code`. After a damaged page LMDB refuses all
  // else in the transaction: that error is then given again, rather than the refusal.
  tl::unexpected<Error> read_failed(int code) const;

  // For writing transactions only.
  //
  // The first entry at or after `key`. A put() of a key beyond the tree's last one directly after
  // this found nothing keeps the pages full (LMDB's append).
  Result<std::optional<TreeEntry>> at_or_after(MDB_dbi tree, std::string_view key);
  Status put(MDB_dbi tree, std::string_view key, std::string_view value);
  // Puts a value of `size` bytes, which the caller fills before the next call.
  Result<uint8_t*> reserve(MDB_dbi tree, std::string_view key, size_t size);
  // The same for a new key that is probably the tree's last.
  Result<uint8_t*> reserve_at_end(MDB_dbi tree, std::string_view key, size_t size);
  // Removing what is not there is DataCorruptionDetected: callers know what there is.
  Status remove(MDB_dbi tree, std::string_view key);
  // Removes all entries of the tree at once.
  Status clear(MDB_dbi tree);

  // Whether there are fewer records and index entries now than before this was made, or as many and
  // fewer entries of the catalog: a removal may make the collection that it is noted in. Not once a
  // write has failed.
  bool leave_less() const;

  // What was put, removed and cleared, for WriteTransaction::log(). Before end(), and after it
  // nothing more is written here.
  RedoChanges take_changes();

  const std::optional<Error>& doomed() const { return doom_; }
  // Makes `error` the outcome of all that follows in this transaction.
  tl::unexpected<Error> doom(Error error);

 private:
  struct WriteCursor {
    MDB_cursor* cursor = nullptr;
    bool past_end = false;  // the last search found no entry at or after its key
    bool appends = true;    // no append has been refused so far
    size_t entries = 0;     // of the tree, when this was opened
  };
  Result<WriteCursor*> write_cursor(MDB_dbi tree);
  bool is_in_gap(MDB_dbi tree, std::string_view key) const;
  void note_gap(MDB_dbi tree, const TreePath& path) const;
  Result<MDB_val> put_value(MDB_dbi tree, std::string_view key, MDB_val value, unsigned flags,
                            bool append);
  tl::unexpected<Error> write_failed(int code, const char* what);

  MDB_txn* txn_;
  const TreeHandles& handles_;
  const bool writable_;
  uint64_t writes_ = 0;
  uint64_t resumptions_ = 0;
  bool cleared_ = false;  // a tree
  RedoChanges changes_;
  std::vector<WriteCursor> cursors_;  // by tree handle
  mutable std::optional<TreeReader> reader_;
  mutable std::vector<RangeCursor*> reading_;
  // Of a writing transaction, by tree: there is nothing between these in its snapshot.
  struct Gap {
    bool known = false;
    std::optional<TreeEntry> below;
    std::optional<TreeEntry> from;
  };
  mutable std::vector<Gap> gaps_;
  std::optional<Error> doom_;
  mutable std::optional<Error> read_error_;  // the first
};

}  // namespace gridmount::local
