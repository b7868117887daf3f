// A store's folder, with its files and their lock. open() decides which files can be trusted.
// Recovery after a crash begins here. In store_folder.cc, recover() restores the newest checkpoint,
// and find_what_to_replay() and find_pending() find the changes to replay. Environment::open()
// replays these changes. See FORMAT.md, chapters "The folder" and "Durability". The D numbers are
// the invariants of the chapter "Durability".
//
// The file `format` is written last when a store is created. If a folder has the file `owner` but
// no `format`, and only files that a creation makes, the creation of the store was interrupted. The
// next creation empties or replaces these files, and begins again. Nothing is ever written to a
// folder that has other files and is not a store.
//
// Not thread-safe, except that any thread may call the const functions after the store has been
// opened. Only one thread at a time may call mark().
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/files/checkpoint_file.h"
#include "engine/local/files/lock_file.h"
#include "engine/local/files/pending_file.h"
#include "engine/local/files/redo_file.h"
#include "engine/local/open_store.h"
#include "engine/local/test_options.h"
#include "engine/system/file.h"

namespace gridmount::local {

// The name of the subfolder with the copy, while a store is being compacted. The copy is itself a
// store.
inline constexpr const char* kCopyFolder = "copy.new";

// Returns the format version in the folder's file `format`. Fails with NotAStore if the file does
// not begin like the `format` of a store, with StoreFormatTooNew if the version is greater than
// kFormatVersion, and with StoreDamaged if the file has no version, or if the file `redo` or
// `pending` has contents although stores of this version do not have it.
Result<int> read_fitting_format(const std::filesystem::path& path);

class StoreFolder {
 public:
  // Locks the store and checks its files. If there is no store and options.create is set, creates
  // one. Fails with the errors of local::open(). If recovery is needed (D6), restores data.mdb's
  // meta pages from the newest checkpoint. After that LMDB may open data_path(). If to_replay() is
  // empty, marks a writable store as open. Otherwise the caller must mark the store after the
  // replay. Does not lock a store that it opens beside the owner, and does not restore or replay
  // anything, because the owner has done this.
  static Result<StoreFolder> open(const std::filesystem::path& path, const OpenOptions& options,
                                  const TestOptions& test);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path data_path() const { return path_ / "data.mdb"; }
  // The path of LMDB's table of readers, which LMDB creates.
  std::filesystem::path lock_path() const { return path_ / "data.mdb-lock"; }
  bool read_only() const { return read_only_; }
  // Returns the owner's mark if the store was opened beside its owner, otherwise nothing. A store
  // that was opened beside its owner is read-only.
  const std::optional<OwnerMark>& beside() const { return beside_; }
  // The file data.mdb, open for meta pages and syncs. LMDB opens the file a second time.
  const system::File& data() const { return data_; }
  CheckpointFile& checkpoint() { return *checkpoint_; }
  // The changes, one element for each transaction, that recovery must replay from the log before
  // anything else is read or written. The caller must then take a checkpoint before it marks the
  // store open (D13).
  const std::vector<std::string>& to_replay() const { return redo_contents_.changes; }
  // The changes that must be replayed from the file `pending` after a kill. The caller must take a
  // checkpoint of the current snapshot before it replays them (D15).
  const std::vector<std::string>& pending() const { return pending_contents_.changes; }
  // Returns true if the log or `pending` has valid records after a damaged record. These valid
  // records cannot be replayed.
  bool has_damaged_log() const { return redo_contents_.is_damaged || pending_contents_.is_damaged; }
  // Returns the reason why open() has gone back to the newest checkpoint and its log: the store was
  // not closed, and later contents of data.mdb cannot be trusted (D6). Otherwise returns an empty
  // text, even if open() has restored damaged meta pages of a closed store.
  const std::string& went_back_because() const { return went_back_because_; }
  // After this call, checkpoint slots get the id of this opening's log. Must be called after the
  // replay of pending(), and before the checkpoint of what was replayed. Until then, slots must
  // have the id of the previous log (D15).
  void begin_own_log();
  // Returns whether the newest slot has the id of this opening's log. If so, this opening has taken
  // a checkpoint of everything that it has replayed. Must not be called while a checkpoint may be
  // in progress.
  bool has_own_slot() const { return checkpoint_->newest_log() == log_id_; }
  // Returns this opening's log. Must be called only once. The log has no room if the store is
  // read-only or has format version 1.
  RedoFile take_redo() { return std::exchange(redo_, RedoFile()); }
  // Returns the file `pending`. Must be called only once. The file is unusable if the store is
  // read-only or has a format version less than 3.
  PendingFile take_pending() { return std::exchange(pending_, PendingFile()); }

  int format_version() const { return format_version_; }
  // Upgrades the store to kFormatVersion. The store must be marked open. The files that the upgrade
  // creates are used from the next opening on.
  Status upgrade();

  // Returns whether the store is being created. In this case data.mdb is empty. The caller must
  // make the trees, take the first checkpoint or mark the store kClosed, and then call
  // finish_creation(), which writes `format`.
  bool is_new() const { return is_new_; }
  Status finish_creation();
  // Deletes the files that the creation has made so far. Also deletes the folder if the creation
  // has made the folder.
  void abandon_creation();

  // data_in_place() fails with StoreDamaged if data.mdb was deleted or replaced while the store is
  // open. owner_in_place() does the same for the file `owner`. Writes to a deleted data.mdb are
  // lost when the store is closed. Without `owner`, only the lock on data.mdb excludes other
  // processes (lock_data()).
  Status data_in_place() const;
  Status owner_in_place() const;

  // Writes the mark and syncs it. The caller may mark the store kClosed only when everything
  // committed is durable (D4, D6).
  Status mark(OwnerState state) const;

 private:
  StoreFolder(std::filesystem::path path, LockFile owner, bool read_only, std::string boot_id)
      : path_(std::move(path)),
        owner_(std::move(owner)),
        read_only_(read_only),
        boot_id_(std::move(boot_id)) {}

  static Result<StoreFolder> open_beside_owner(const std::filesystem::path& path,
                                               const TestOptions& test, Error locked);
  Status create_files(const TestOptions& test);
  // `bytes_max` is the limit for the size of data.mdb.
  Status open_files(const TestOptions& test, uint64_t bytes_max);
  Status trust_data(const TestOptions& test, uint64_t bytes_max);
  bool has_other_metas(const MetaPair& saved) const;
  Status recover(const TestOptions& test);
  Status find_what_to_replay(const TestOptions& test);
  Status find_pending(uint64_t snapshot, const TestOptions& test);
  Status begin_log(const TestOptions& test);
  Status begin_pending();
  Status write_format() const;
  std::filesystem::path redo_path() const { return path_ / "redo"; }
  std::filesystem::path pending_path() const { return path_ / "pending"; }
  tl::unexpected<Error> damaged(const std::string& what) const;

  std::filesystem::path path_;
  system::File folder_;  // open only if the store is writable
  LockFile owner_;
  bool read_only_;
  std::string boot_id_;
  std::optional<OwnerMark> beside_;
  system::File data_;
  std::optional<CheckpointFile> checkpoint_;
  std::string went_back_because_;
  RedoContents redo_contents_;
  bool replays_before_open_ = false;  // to_replay() must be replayed before the mark is `open`
  std::optional<LogId> log_id_;       // of this opening's log
  RedoFile redo_;
  PendingContents pending_contents_;
  PendingFile pending_;
  int format_version_ = kFormatVersion;
  bool is_new_ = false;
  bool made_folder_ = false;
};

}  // namespace gridmount::local
