// A store's folder: its files, the lock on them, and the decision at opening what to trust.
// FORMAT.md, chapters "The folder" and "Durability"; D numbers are its invariants.
//
// Making a store is finished by writing the file `format`, last of all. A folder that has the other
// files but not that one is a store whose making was interrupted: making it again begins afresh. No
// other folder with anything in it is ever written to.
//
// Thread-safety: none, except that the mark functions may be called from any thread, one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/local/files/checkpoint_file.h"
#include "engine/local/files/owner_file.h"
#include "engine/local/files/pending_file.h"
#include "engine/local/files/redo_file.h"
#include "engine/local/local_store.h"
#include "engine/local/test_options.h"
#include "engine/system/file.h"

namespace gridmount::local {

// Where a store that is being compacted has its copy, a store itself.
inline constexpr const char* kCopyFolder = "copy.new";

// The version that the folder's file `format` gives. StoreDamaged if files are there that stores of
// that version do not have.
Result<int> read_fitting_format(const std::filesystem::path& path);

class StoreFolder {
 public:
  // Locks the store, checks its files and, where the machine went down with it open, puts
  // data.mdb's meta pages back to the newest checkpoint. After that LMDB may open data_path(), and
  // a store not read-only is marked open, unless there is something to_replay(). A store in use
  // that is opened beside its owner is not locked, and its files are the owner's to check.
  static Result<StoreFolder> open(const std::filesystem::path& path, const OpenOptions& options,
                                  const TestOptions& test);

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path data_path() const { return path_ / "data.mdb"; }
  // LMDB's table of readers, which it makes.
  std::filesystem::path lock_path() const { return path_ / "data.mdb-lock"; }
  bool read_only() const { return read_only_; }
  // Who is writing meanwhile; then read_only() too.
  const std::optional<OwnerMark>& beside() const { return beside_; }
  // data.mdb through a descriptor of our own, for meta pages and syncs. LMDB has its own.
  const system::File& data() const { return data_; }
  CheckpointFile& checkpoint() { return *checkpoint_; }
  // What the log has to add to data.mdb, transaction by transaction, before anything is read or
  // written, and then a checkpoint to be taken of it, before the store is marked open (D13).
  const std::vector<std::string>& to_replay() const { return redo_contents_.changes; }
  // What the file `pending` has to add to data.mdb after a kill (D15), when a checkpoint is taken
  // of what there is.
  const std::vector<std::string>& pending() const { return pending_contents_.changes; }
  // What came behind either that cannot be read.
  bool has_damaged_log() const { return redo_contents_.is_damaged || pending_contents_.is_damaged; }
  // Why it was put back to its newest checkpoint, if it was: it was not closed, and what data.mdb
  // has since then could not be believed (D6).
  const std::string& went_back_because() const { return went_back_because_; }
  // From here on the checkpoints' slots are followed by this opening's log. To be called when what
  // is pending() is in data.mdb: until then they are by the one before (D15).
  void begin_own_log();
  // This opening's log, once: none in a store of format version 1, or one that is read-only.
  RedoFile take_redo() { return std::exchange(redo_, RedoFile()); }
  // The same of the file `pending`: none before format version 3.
  PendingFile take_pending() { return std::exchange(pending_, PendingFile()); }

  int format_version() const { return format_version_; }
  // To kFormatVersion, on a store marked open. Its files are used from the next opening on.
  Status upgrade();

  // The store is being made: data.mdb is empty, and finish_creation() must follow once its trees
  // are made and the first checkpoint is taken.
  bool is_new() const { return is_new_; }
  Status finish_creation();
  // Removes what making it has left so far.
  void abandon_creation();

  // Whether the store is still there for others, though its owner has it open: an error says which
  // file was removed or replaced. What is written to data.mdb then is lost when it is closed;
  // without `owner` others are kept away by data.mdb alone (lock_data()).
  Status data_in_place() const;
  Status owner_in_place() const;

  // Invariants D6 and D4: closed only when everything committed is durable.
  Status mark(OwnerState state) const;

 private:
  StoreFolder(std::filesystem::path path, OwnerFile owner, bool read_only, std::string boot_id)
      : path_(std::move(path)),
        owner_(std::move(owner)),
        read_only_(read_only),
        boot_id_(std::move(boot_id)) {}

  static Result<StoreFolder> open_beside_owner(const std::filesystem::path& path,
                                               const TestOptions& test, Error locked);
  Status create_files(const TestOptions& test);
  // `bytes_max`: what data.mdb may be in all.
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
  system::File folder_;  // of the writer
  OwnerFile owner_;
  bool read_only_;
  std::string boot_id_;
  std::optional<OwnerMark> beside_;
  system::File data_;
  std::optional<CheckpointFile> checkpoint_;
  std::string went_back_because_;
  RedoContents redo_contents_;
  std::optional<LogId> log_id_;  // this opening's
  RedoFile redo_;
  PendingContents pending_contents_;
  PendingFile pending_;
  int format_version_ = kFormatVersion;
  bool is_new_ = false;
  bool made_folder_ = false;
};

}  // namespace gridmount::local
