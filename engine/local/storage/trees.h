// Reads and writes entries of the store's trees by their keys, in one LMDB transaction.
//
// A failed write poisons the transaction. The contents of the transaction are then unknown, and
// every further write, and the commit, returns the first error. In a write transaction, views of
// keys and values are valid until the next write. In a read transaction, they are valid until
// pause() or the end of the LMDB transaction.
//
// Not thread-safe. Each Trees belongs to one Snapshot or Transaction, which one thread uses at a
// time.
#pragma once

#include <lmdb.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/format/keyspace.h"
#include "engine/local/format/redo_changes.h"
#include "engine/local/storage/tree_reader.h"

namespace gridmount::local {

// The handles of a store's trees: the tree of the catalog, and the trees with keyspaces of records
// and index entries. All trees are made when the store is created.
struct TreeHandles {
  MDB_dbi catalog = 0;
  std::vector<MDB_dbi> keyspaces;
  // True if the entries of indexes have checksums in the store's format. Each new entry then gets a
  // checksum.
  bool checksums = false;
  // True if the store's format allows patches of records.
  bool patches = false;
  // True if the store's format allows collations of collections, views and indexes.
  bool collations = false;
  // True if the store's format allows text and wildcard indexes.
  bool text_and_wildcard_indexes = false;
};

// Returns LMDB's name of a tree of keyspaces: "t000", "t001" and so on.
std::string tree_name(int number);

inline MDB_val to_mdb(std::string_view bytes) {
  return MDB_val{bytes.size(), const_cast<char*>(bytes.data())};
}
inline std::string_view from_mdb(const MDB_val& value) {
  return {static_cast<const char*>(value.mv_data), value.mv_size};
}

// The limit for the size of a value. A longer value is certainly damaged, because the largest
// record is far smaller.
inline constexpr size_t kValueBytesMax = size_t{32} << 20;

// Checks the result of an LMDB call that reads a value. Returns `code`, or MDB_CORRUPTED if the
// call succeeded but the value is null or longer than kValueBytesMax. The caller must have emptied
// `value` before the call.
inline int plausible(int code, const MDB_val& value) {
  const bool is_value = value.mv_data != nullptr && value.mv_size <= kValueBytesMax;
  return code != MDB_SUCCESS || is_value ? code : MDB_CORRUPTED;
}

class RangeCursor;
class TreePath;

class Trees {
 public:
  // The caller owns `txn`, and must end it after end(). `handles` must outlive this object.
  Trees(MDB_txn* txn, const TreeHandles& handles, bool writable);
  ~Trees() { end(); }
  Trees(const Trees&) = delete;
  Trees& operator=(const Trees&) = delete;

  MDB_txn* txn() const { return txn_; }
  bool writable() const { return writable_; }
  MDB_dbi catalog() const { return handles_.catalog; }
  MDB_dbi tree(const Keyspace& keyspace) const { return handles_.keyspaces[keyspace.tree]; }
  size_t tree_count() const { return handles_.keyspaces.size(); }
  bool has_checksums() const { return handles_.checksums; }
  bool has_patches() const { return handles_.patches; }
  bool has_collations() const { return handles_.collations; }
  bool has_text_and_wildcard_indexes() const { return handles_.text_and_wildcard_indexes; }
  // Returns the tree by its number in the log: 0 is the catalog. `number` must be at most
  // tree_count().
  MDB_dbi tree_of_number(size_t number) const {
    return number == 0 ? handles_.catalog : handles_.keyspaces[number - 1];
  }

  // Returns LMDB's name of the tree.
  std::string name_of(MDB_dbi tree) const;
  // Returns the number of the tree in the redo log, or RedoChanges::kNoTree if it has none.
  uint32_t number_of(MDB_dbi tree) const;
  // Returns true if it is possible that the entry was stored without a checksum
  // (unchecked_keyspaces.h). `tree` is a position in TreeHandles::keyspaces.
  Result<bool> is_without_checksums(uint32_t tree, const TreeEntry& entry) const;

  // Only for read transactions. pause() makes the cursors remember their positions. Between pause()
  // and resume(), reads fail with IllegalOperation. The caller must pass the next LMDB transaction
  // to resume(), which also increases writes().
  void pause();
  void resume(MDB_txn* txn);
  // enroll() adds a cursor to the list of the cursors that pause() pauses, and dismiss() removes
  // the cursor from this list. A cursor must be dismissed before it is destroyed.
  void enroll(RangeCursor* cursor) const { reading_.push_back(cursor); }
  void dismiss(RangeCursor* cursor) const { std::erase(reading_, cursor); }

  // Closes the LMDB cursors of this object. Must be called before the LMDB transaction ends. Later
  // reads and writes fail with IllegalOperation.
  void end();
  bool ended() const { return txn_ == nullptr; }

  // readable() fails with IllegalOperation after end(), and between pause() and resume().
  // writable_now() fails as readable() does, with IllegalOperation in a snapshot, and with the
  // first error after a failed write.
  Status readable() const;
  Status writable_now() const;
  // writes() returns the number of writes plus the number of calls of resume(). resumptions()
  // returns only the number of calls of resume(). If writes() has grown since a cursor found its
  // position, the cursor must find it again.
  uint64_t writes() const { return writes_; }
  uint64_t resumptions() const { return resumptions_; }

  // Returns the key's value, or nothing if the tree does not have the key.
  Result<std::optional<std::string_view>> get(MDB_dbi tree, std::string_view key) const;
  // Sets Wanted::value for the keys that TreeReader finds. The caller must call get() for every
  // other key. In a write transaction TreeReader is not used, so no value is set.
  void find_several(MDB_dbi tree, std::span<TreeReader::Wanted> wanted) const;
  // Returns the entry that TreeReader finds at or after the key. A damaged page can mislead the
  // search, so the caller must verify with TreePath that this entry is the first. Returns nothing
  // if TreeReader cannot tell, and always in a write transaction. The caller must then search with
  // a cursor.
  std::optional<TreeReader::Found> find_from(MDB_dbi tree, std::string_view key) const;
  // Proves that the tree does not have the key, after a search has not found it. Fails with
  // StoreDamaged if it cannot prove this. Only for the catalog and for keyspaces whose entries have
  // checksums. If the store's format has no checksums, succeeds without a proof.
  Status prove_absent(MDB_dbi tree, std::string_view key) const;
  // Like the function above. `found` must be the result of a search for the first entry at or after
  // the key.
  Status prove_absent(MDB_dbi tree, std::string_view key,
                      const std::optional<TreeEntry>& found) const;
  // Returns the error for a read for which LMDB returned `code`. When LMDB has met a damaged page,
  // it refuses all further calls in the transaction. If `code` is such a refusal, returns the error
  // of the damaged page.
  tl::unexpected<Error> read_failed(int code) const;

  // --- The functions below are only for write transactions. They poison the transaction if LMDB
  // fails, if a page is damaged, or if remove() does not find its entry.

  // Returns the first entry at or after `key`, or nothing if there is none. If there is none and
  // the next call is a put() of this key, the put() appends the entry with MDB_APPEND, which fills
  // pages completely.
  Result<std::optional<TreeEntry>> at_or_after(MDB_dbi tree, std::string_view key);
  Status put(MDB_dbi tree, std::string_view key, std::string_view value);
  // Puts a value of `size` bytes. Returns the address to which the caller must write the value
  // before the next call.
  Result<uint8_t*> reserve(MDB_dbi tree, std::string_view key, size_t size);
  // Like reserve(), but tries to append the entry, so that pages are filled completely. An append
  // succeeds only if the key is greater than all keys of the tree. After LMDB has refused one
  // append in a tree, works like reserve() for this tree.
  Result<uint8_t*> reserve_at_end(MDB_dbi tree, std::string_view key, size_t size);
  // Removes an entry. Fails with DataCorruptionDetected if the tree does not have it, because
  // callers remove only entries that must exist.
  Status remove(MDB_dbi tree, std::string_view key);
  // Removes all entries of the tree. The redo log cannot have such a change
  // (RedoChanges::mark_incomplete()).
  Status clear(MDB_dbi tree);

  // Returns whether the writes so far have made the contents smaller. This is so in each of these
  // cases:
  // - A tree was cleared.
  // - The number of records and index entries decreased.
  // - The number of records and index entries stayed the same, and the number of catalog entries
  //   decreased.
  // A catalog that grows is not counted against a decrease of records and index entries, because
  // code that removes something may create a collection to record the removal. Returns false after
  // a failed write.
  bool shrinks_net() const;

  // Returns all changes, for WriteTransaction::log(). Must be called before end(), and nothing may
  // be written afterwards.
  RedoChanges take_changes();

  // Returns the error that has poisoned the transaction, or nothing.
  const std::optional<Error>& poison_error() const { return poison_; }
  // Poisons the transaction: all further writes fail with `error`. If it was poisoned before, they
  // still fail with the first error.
  tl::unexpected<Error> poison(Error error);

 private:
  struct WriteCursor {
    MDB_cursor* cursor = nullptr;
    bool past_end = false;  // the last search found no entry at or after its key
    bool appends = true;    // until LMDB refuses an append
    size_t entries = 0;     // the number of the tree's entries when the cursor was opened
  };
  Result<WriteCursor*> write_cursor(MDB_dbi tree);
  bool is_in_gap(MDB_dbi tree, std::string_view key) const;
  void record_gap(MDB_dbi tree, const TreePath& path) const;
  Result<MDB_val> put_value(MDB_dbi tree, std::string_view key, MDB_val value, unsigned flags,
                            bool append);
  tl::unexpected<Error> write_failed(int code, const char* what);

  MDB_txn* txn_;
  const TreeHandles& handles_;
  const bool writable_;
  uint64_t writes_ = 0;
  uint64_t resumptions_ = 0;
  bool cleared_ = false;  // a tree was cleared
  RedoChanges changes_;
  std::vector<WriteCursor> cursors_;  // indexed by tree handle
  mutable std::optional<TreeReader> reader_;
  mutable std::vector<RangeCursor*> reading_;
  // Two neighbouring entries of a tree in the snapshot from which the write transaction began.
  // prove_absent() has proved that no entry was between them, and need not prove it again. `below`
  // is the last entry before the gap, or unset if the gap begins at the tree's beginning. `from` is
  // the first entry at or after the gap, or unset if the gap ends at the tree's end. gaps_ is
  // indexed by handle.
  struct Gap {
    bool known = false;
    std::optional<TreeEntry> below;
    std::optional<TreeEntry> from;
  };
  mutable std::vector<Gap> gaps_;
  std::optional<Error> poison_;
  mutable std::optional<Error> read_error_;  // the first error of a read
};

}  // namespace gridmount::local
