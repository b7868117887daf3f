#include "engine/local/files/store_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <set>
#include <string_view>

#include "engine/base/invariant.h"
#include "engine/local/files/map_coherence.h"
#include "engine/system/system_error.h"

namespace gridmount::local {
namespace {

constexpr std::string_view kFormatFirstLine = "gridmount store\nformat ";
constexpr size_t kFormatBytesMax = 64;
constexpr std::array<std::string_view, 8> kCreationFiles = {
    "owner", "data.mdb", "data.mdb-lock", "checkpoint",
    "redo",  "pending",  "format.new",    kProbeFile};
const std::string kOpenForWriting =
    "; open it for writing once (mount it without -o ro, or run 'gridstore check --repair')";
constexpr int kFirstVersionWithLog = 2;
constexpr int kFirstVersionWithPending = 3;

enum class Contents {
  kNothing,     // no folder, or an empty one
  kUnfinished,  // the files of a store whose creation was interrupted
  kStore,
};

tl::unexpected<Error> not_a_store(const std::filesystem::path& path, const std::string& why) {
  return fail(ErrorCode::kNotAStore, path.string() + " is not a gridmount store: " + why);
}

Result<int> read_format(const std::filesystem::path& path) {
  GM_ASSIGN(const system::File file, system::File::open(path / "format", O_RDONLY));
  GM_ASSIGN(const std::vector<uint8_t> bytes, file.read(0, kFormatBytesMax));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  int version = 0;
  if (!text.starts_with(kFormatFirstLine)) {
    return not_a_store(path, "its file 'format' does not begin with 'gridmount store'");
  }
  const std::string_view number = text.substr(kFormatFirstLine.size());
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), version);
  if (error != std::errc() || end == number.data() + number.size() || *end != '\n' || version < 1) {
    return fail(ErrorCode::kStoreDamaged, "store " + path.string() +
                                              ": its file 'format' has no version; restore the "
                                              "store from a backup");
  }
  if (version > kFormatVersion) {
    return fail(ErrorCode::kStoreFormatTooNew,
                "store " + path.string() + " has format version " + std::to_string(version) +
                    ", but this program knows versions only up to " +
                    std::to_string(kFormatVersion) +
                    "; use the version of gridmount that wrote it, or a newer one");
  }
  return version;
}

// Refuses a store whose file `format` gives an older version than its files need. A store of an
// older version lacks the files of newer versions, or an interrupted upgrade has left them empty.
// So if such a file has contents, `format` is damaged, and opening the store would ignore those
// contents.
Status check_fits(const std::filesystem::path& path, int version) {
  const auto has = [&](const char* name) {
    std::error_code error;
    const uintmax_t bytes = std::filesystem::file_size(path / name, error);
    return !error && bytes > 0;
  };
  const char* file = nullptr;
  int needed = version;
  if (version < kFirstVersionWithLog && has("redo")) {
    file = "redo";
    needed = kFirstVersionWithLog;
  }
  if (version < kFirstVersionWithPending && has("pending")) {
    file = "pending";
    needed = kFirstVersionWithPending;
  }
  if (file == nullptr) return {};
  return fail(ErrorCode::kStoreDamaged,
              "store " + path.string() + " is damaged: its file 'format' says version " +
                  std::to_string(version) + ", but stores have a file '" + file +
                  "' only from version " + std::to_string(needed) +
                  " on; make the second line of the file 'format' read 'format " +
                  std::to_string(needed) + "' again, or restore the store from a backup");
}

// The error for a folder that has the files of a store, and others that an interrupted creation
// does not leave, but no `format`.
tl::unexpected<Error> lacks_format(const std::filesystem::path& path,
                                   const std::set<std::string>& names) {
  // The newest version has the same files as the first version with `pending`, and can read the
  // contents of that version.
  const int version = names.contains("pending") ? kFormatVersion
                      : names.contains("redo")  ? kFirstVersionWithLog
                                                : 1;
  return fail(
      ErrorCode::kStoreDamaged,
      "store " + path.string() +
          ": its file 'format' is missing; put it back, with the lines 'gridmount store' and "
          "'format " +
          std::to_string(version) + "'");
}

// Returns what is at the path. Fails with NotAStore if it is neither a store nor a place where one
// can be created.
Result<Contents> examine(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return Contents::kNothing;
  if (error) return fail(system::system_error(error.value(), "examining " + path.string()));
  if (status.type() != std::filesystem::file_type::directory) {
    return not_a_store(path, "it is not a directory");
  }
  std::set<std::string> names;
  std::filesystem::directory_iterator entries(path, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    names.insert(entries->path().filename().string());
  }
  if (error) return fail(system::system_error(error.value(), "listing " + path.string()));
  if (names.contains("format")) {
    GM_TRY(read_format(path));
    return Contents::kStore;
  }
  if (names.empty()) return Contents::kNothing;
  const bool looks_made =
      names.contains("owner") && names.contains("data.mdb") && names.contains("checkpoint");
  for (const std::string& name : names) {
    if (std::find(kCreationFiles.begin(), kCreationFiles.end(), name) == kCreationFiles.end()) {
      if (looks_made) return lacks_format(path, names);
      return not_a_store(path, "it contains something else, such as '" + name + "'");
    }
  }
  // `owner` is created and written before any other file.
  if (!names.contains("owner")) {
    return not_a_store(path, "it has '" + *names.begin() + "', but neither 'format' nor 'owner'");
  }
  GM_ASSIGN(const system::File owner, system::File::open(path / "owner", O_RDONLY));
  GM_ASSIGN(const std::vector<uint8_t> bytes, owner.read(0, kOwnerBytes));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // If `owner` was never synced, a crash may have left it with any length and with zeros.
  GM_ASSIGN(const uint64_t size, owner.size());
  const bool is_blank = size <= kOwnerBytes && text.find_first_not_of('\0') == text.npos;
  if (!parse_owner_mark(text) && !(is_blank && names.size() == 1)) {
    return not_a_store(path, "it contains something else, such as a file 'owner' of another kind");
  }
  return Contents::kUnfinished;
}

Status make_folder(const std::filesystem::path& path, bool& made) {
  if (::mkdir(path.c_str(), 0700) == 0) {
    made = true;
    const std::filesystem::path absolute = std::filesystem::absolute(path);
    const std::filesystem::path parent =
        absolute.has_filename() ? absolute.parent_path() : absolute.parent_path().parent_path();
    return system::sync_folder(parent);
  }
  if (errno == EEXIST) return {};
  if (errno == ENOENT) {
    return fail(
        ErrorCode::kStoreNotFound,
        "the store " + path.string() + " cannot be created: its parent directory does not exist");
  }
  return fail(system::system_error(errno, "making the folder " + path.string()));
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

Status check_file_system(const std::filesystem::path& path, const TestOptions& test) {
  return test.check_mappings ? test.check_mappings(path) : check_mappings(path);
}

// Returns why data.mdb cannot be trusted, for a store that was neither closed nor left by a kill.
std::string why_not_believed(const std::optional<OwnerMark>& mark, uint64_t data_inode,
                             const std::string& boot_id) {
  if (!mark) return "its file owner is missing or damaged";
  if (mark->state == OwnerState::kFailed) return "its last owner could not write to the disk";
  if (mark->boot_id != boot_id || boot_id.empty()) {
    return "it was not closed before this machine was restarted, or comes from another machine";
  }
  return mark->data_inode == data_inode ? "it was not closed"
                                        : "it is a copy of a store that was not closed";
}

}  // namespace

Result<int> read_fitting_format(const std::filesystem::path& path) {
  GM_ASSIGN(const int version, read_format(path));
  GM_TRY(check_fits(path, version));
  return version;
}

tl::unexpected<Error> StoreFolder::damaged(const std::string& what) const {
  return fail(ErrorCode::kStoreDamaged,
              "store " + path_.string() + " is damaged: " + what + "; restore it from a backup");
}

Result<StoreFolder> StoreFolder::open(const std::filesystem::path& path, const OpenOptions& options,
                                      const TestOptions& test) {
  if (options.create && options.read_only) {
    return fail(ErrorCode::kInvalidOptions,
                "store " + path.string() + ": create and read-only cannot be combined");
  }
  if (options.beside_owner && !options.read_only) {
    return fail(ErrorCode::kInvalidOptions,
                "store " + path.string() + ": only a reader can be beside an owner");
  }
  GM_ASSIGN(Contents contents, examine(path));
  if (contents != Contents::kStore && !options.create) {
    return fail(ErrorCode::kStoreNotFound,
                contents == Contents::kNothing
                    ? "there is no store at " + path.string()
                    : "the creation of store " + path.string() +
                          " was interrupted; run the same command again (such as gridmount "
                          "--create, gridstore backup or restore)");
  }
  bool made_folder = false;
  if (contents == Contents::kNothing) GM_TRY(make_folder(path, made_folder));
  Result<LockFile> locked = LockFile::lock(path, options.read_only, !options.read_only);
  if (!locked) {
    if (!options.beside_owner || locked.error().code() != ErrorCode::kStoreLocked) {
      return fail(std::move(locked).error());
    }
    return open_beside_owner(path, test, std::move(locked).error());
  }
  LockFile owner = std::move(locked).value();
  // Another process may have created the store before this one got the lock.
  GM_ASSIGN(contents, examine(path));
  StoreFolder folder(path, std::move(owner), options.read_only,
                     test.boot_id.empty() ? running_boot_id() : test.boot_id);
  folder.made_folder_ = made_folder;
  if (!options.read_only) {
    GM_ASSIGN(folder.folder_, system::File::open(path, O_PATH | O_DIRECTORY));
  }
  if (contents == Contents::kStore) {
    GM_ASSIGN(folder.format_version_, read_fitting_format(path));
    if (!options.read_only) GM_TRY(check_file_system(path, test));
    GM_TRY(folder.open_files(test, options.map_bytes));
    if (!folder.read_only_ && folder.to_replay().empty()) GM_TRY(folder.mark(OwnerState::kOpen));
  } else {
    folder.is_new_ = true;
    if (Status status = folder.create_files(test); !status) {
      // If another process holds the lock on data.mdb, the files are that process's.
      if (status.error().code() != ErrorCode::kStoreLocked) folder.abandon_creation();
      return fail(std::move(status).error().with_context("creating the store " + path.string()));
    }
  }
  return folder;
}

Result<StoreFolder> StoreFolder::open_beside_owner(const std::filesystem::path& path,
                                                   const TestOptions& test, Error locked) {
  GM_ASSIGN(LockFile file, LockFile::look(path));
  GM_ASSIGN(std::optional<OwnerMark> mark, file.read());
  StoreFolder folder(path, std::move(file), true,
                     test.boot_id.empty() ? running_boot_id() : test.boot_id);
  GM_ASSIGN(folder.data_, system::File::open(folder.data_path(), O_RDONLY));
  GM_ASSIGN(const uint64_t inode, folder.data_.inode());
  // When the recovery is done, the owner writes the mark `open`, with its boot id and data.mdb's
  // inode. Until then nobody can read beside the owner.
  if (!mark || mark->state == OwnerState::kClosed || mark->boot_id != folder.boot_id_ ||
      mark->data_inode != inode) {
    return fail(std::move(locked));
  }
  GM_ASSIGN(const uint64_t bytes, folder.data_.size());
  if (bytes == 0) return folder.damaged("data.mdb was truncated while its owner has it open");
  folder.beside_ = std::move(mark);
  GM_ASSIGN(folder.format_version_, read_format(path));
  return folder;
}

Status StoreFolder::create_files(const TestOptions& test) {
  // Write the mark first. If the creation is interrupted, the mark shows that the other files
  // belong to a store.
  GM_TRY(mark(OwnerState::kOpen));
  GM_TRY(system::sync_folder(path_));
  GM_TRY(check_file_system(path_, test));
  GM_ASSIGN(data_, system::File::open(data_path(), O_RDWR | O_CREAT));
  GM_TRY(lock_data(data_, path_, /*read_only=*/false));
  GM_TRY(data_.resize(0));
  GM_TRY(system::remove_file(lock_path()));
  GM_TRY(system::remove_file(path_ / "format.new"));
  GM_ASSIGN(checkpoint_, CheckpointFile::create(path_ / "checkpoint"));
  GM_TRY(system::File::open(redo_path(), O_RDWR | O_CREAT | O_TRUNC));
  GM_TRY(begin_log(test));
  GM_TRY(begin_pending());
  GM_TRY(mark(OwnerState::kOpen));  // write it again, with data.mdb's inode
  return system::sync_folder(path_);
}

Status StoreFolder::finish_creation() {
  GM_TRY(write_format());
  is_new_ = false;
  return {};
}

Status StoreFolder::upgrade() {
  if (format_version_ == kFormatVersion) return {};
  // Truncate the files, because an interrupted upgrade may have left them.
  if (format_version_ < kFirstVersionWithLog) {
    GM_ASSIGN(const system::File redo, system::File::open(redo_path(), O_RDWR | O_CREAT | O_TRUNC));
    GM_TRY(redo.sync_data());
  }
  // If the store already has this file, the file is in use and must not be truncated.
  if (format_version_ < kFirstVersionWithPending) {
    GM_ASSIGN(const system::File pending,
              system::File::open(pending_path(), O_RDWR | O_CREAT | O_TRUNC));
    GM_TRY(pending.sync_data());
  }
  GM_TRY(system::sync_folder(path_));
  GM_TRY(write_format());
  format_version_ = kFormatVersion;
  return {};
}

Status StoreFolder::write_format() const {
  const std::filesystem::path temporary = path_ / "format.new";
  GM_ASSIGN(const system::File file, system::File::open(temporary, O_WRONLY | O_CREAT | O_TRUNC));
  const std::string text = std::string(kFormatFirstLine) + std::to_string(kFormatVersion) + "\n";
  GM_TRY(file.write(0, {reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  GM_TRY(file.sync_data());
  GM_TRY(system::rename_file(temporary, path_ / "format"));
  return system::sync_folder(path_);
}

void StoreFolder::abandon_creation() {
  // Remove `format` first: without it the other files are an unfinished store. Remove `owner` last,
  // because it shows that the other files belong to a store. If a removal fails, the rest is an
  // unfinished store.
  for (const std::string_view name : {"format", "format.new", kProbeFile, "data.mdb-lock",
                                      "data.mdb", "checkpoint", "redo", "pending", "owner"}) {
    if (!system::remove_file(path_ / name)) return;
  }
  if (made_folder_) ::rmdir(path_.c_str());
}

Status StoreFolder::open_files(const TestOptions& test, uint64_t bytes_max) {
  const int code = system::File::open_errno(data_path(), read_only_ ? O_RDONLY : O_RDWR, data_);
  if (code == ENOENT) return damaged("its file data.mdb is missing");
  if (code != 0) return fail(system::system_error(code, "opening " + data_path().string()));
  GM_TRY(lock_data(data_, path_, read_only_));

  const std::filesystem::path checkpoint_path = path_ / "checkpoint";
  Result<CheckpointFile> checkpoint = CheckpointFile::open(checkpoint_path, read_only_);
  if (checkpoint) {
    checkpoint_ = std::move(checkpoint).value();
  } else if (::access(checkpoint_path.c_str(), F_OK) == 0) {
    return fail(std::move(checkpoint).error());
  }
  GM_TRY(trust_data(test, bytes_max));
  if (!read_only_) {
    GM_TRY(begin_log(test));
    GM_TRY(begin_pending());
  }
  if (read_only_ || (checkpoint_ && checkpoint_->newest())) return {};
  // Only a closed store without a valid slot gets here. It needs a checkpoint before it is marked
  // open (D6).
  GM_TRY(data_.sync_data());
  GM_ASSIGN(checkpoint_, CheckpointFile::create(checkpoint_path));
  GM_TRY(begin_log(test));
  GM_TRY(system::sync_folder(path_));
  GM_ASSIGN(const MetaPair metas, read_meta_pair(data_));
  if (auto failure = checkpoint_->write(metas)) return fail(std::move(failure->error));
  return {};
}

// Decides by the last owner's mark whether to trust data.mdb or to recover it (invariants D4 to
// D7).
Status StoreFolder::trust_data(const TestOptions& test, uint64_t bytes_max) {
  GM_ASSIGN(const std::optional<OwnerMark> mark, owner_.read());
  GM_ASSIGN(const uint64_t inode, data_.inode());
  const bool closed = mark && mark->state == OwnerState::kClosed;
  // The last owner was killed, but the same kernel is running and still has all its writes.
  const bool killed = mark && mark->state == OwnerState::kOpen && !boot_id_.empty() &&
                      mark->boot_id == boot_id_ && mark->data_inode == inode;
  const std::optional<MetaPair> saved =
      checkpoint_ ? checkpoint_->newest() : std::optional<MetaPair>();
  if (!closed && !saved) return damaged("its file checkpoint is missing or holds no checkpoint");
  if (!read_only_) {
    // A killed owner may have left the slot and the names of the files in the kernel's memory only.
    // Make them durable before anything relies on them (D3).
    if (!closed) GM_TRY(system::sync_folder(path_));
    if (saved) GM_TRY(checkpoint_->confirm());
  }
  const bool is_own = mark && mark->data_inode == inode;
  if ((!closed && !killed) || (closed && is_own && saved && has_other_metas(*saved))) {
    GM_TRY(recover(test));
  }
  if (!closed && !killed) {
    went_back_because_ = why_not_believed(mark, inode, boot_id_);
    GM_TRY(find_what_to_replay(test));
  }

  Result<MetaPair> metas = read_meta_pair(data_);
  if (!metas) return damaged("data.mdb: " + std::move(metas).error().message());
  // A closed store has the transaction of its last checkpoint, as nothing is committed between that
  // checkpoint and the mark `closed` (D4).
  if (saved && (metas->current.txn < saved->current.txn ||
                (closed && metas->current.txn != saved->current.txn))) {
    return damaged("data.mdb is of transaction " + std::to_string(metas->current.txn) +
                   ", but its file checkpoint is of " + std::to_string(saved->current.txn) +
                   "; both must be from the same store and the same moment");
  }
  if (metas->current.txn - metas->previous_txn > 1) {
    return damaged("data.mdb's meta pages are of transactions that do not follow one another: " +
                   std::to_string(metas->previous_txn) + " and " +
                   std::to_string(metas->current.txn));
  }
  GM_ASSIGN(const uint64_t size, data_.size());
  // By D7 all pages of the newest checkpoint must be there. After them, only pages that were free
  // when the process ended may be missing.
  const uint64_t needed = killed && saved ? saved->current.data_bytes()  //
                                          : metas->current.data_bytes();
  if (size < needed) {
    return damaged("data.mdb is truncated: it has " + std::to_string(size) + " of at least " +
                   std::to_string(needed) + " bytes");
  }
  if (metas->current.data_bytes() > std::max(size, bytes_max)) {
    return damaged("data.mdb's last page number is " + std::to_string(metas->current.last_page) +
                   ", which is impossibly large");
  }
  if (size < metas->current.data_bytes()) {
    if (read_only_) {
      return fail(
          ErrorCode::kStoreReadOnly,
          "store " + path_.string() + " was not closed by its last owner" + kOpenForWriting);
    }
    // Reading pages after the end of the file raises SIGBUS. Zeros are recognized as damage
    // instead.
    GM_TRY(data_.resize(metas->current.data_bytes()));
  }
  return killed ? find_pending(metas->current.txn, test) : Status();
}

// Returns whether data.mdb's meta pages are of the checkpoint's transaction but differ from those
// that the checkpoint saved. If the store is closed, the meta pages of data.mdb are then damaged,
// and the saved ones are good.
bool StoreFolder::has_other_metas(const MetaPair& saved) const {
  const Result<MetaPair> found = read_meta_pair(data_);
  return found && found->current.txn == saved.current.txn && found->bytes != saved.bytes;
}

// Upholds D5. An interruption at any point is harmless, because the mark still says that recovery
// is needed.
Status StoreFolder::recover(const TestOptions& test) {
  if (!test.restore) return {};
  const MetaPair& saved = *checkpoint_->newest();
  GM_ASSIGN(const uint64_t size, data_.size());
  if (size < saved.current.data_bytes()) {
    return damaged("data.mdb is truncated: it has " + std::to_string(size) + " of at least " +
                   std::to_string(saved.current.data_bytes()) + " bytes");
  }
  const Result<MetaPair> found = read_meta_pair(data_);
  if (found && found->bytes == saved.bytes) return {};
  if (read_only_) {
    return fail(ErrorCode::kStoreReadOnly,
                "store " + path_.string() +
                    " was open when its machine went down and must be put back to its last "
                    "checkpoint, which writes" +
                    kOpenForWriting);
  }
  GM_TRY(write_meta_pair(data_, saved));
  return data_.sync_data();
}

// Finds the transactions that D13 replays, by the log id and the transaction of the slot that
// recover() has restored.
Status StoreFolder::find_what_to_replay(const TestOptions& test) {
  if (!checkpoint_->newest_log() || !test.replay) return {};
  system::File redo;
  const int code = system::File::open_errno(redo_path(), O_RDONLY, redo);
  if (code == ENOENT) return damaged("its file redo is missing");
  if (code != 0) return fail(system::system_error(code, "opening " + redo_path().string()));
  const bool checks_id = test.checks_log_id && test.checks_order;
  GM_ASSIGN(redo_contents_, read_redo(redo, checks_id ? &*checkpoint_->newest_log() : nullptr,
                                      checkpoint_->newest()->current.txn, test.checks_order));
  replays_before_open_ = !to_replay().empty() && test.marks_after_replay;
  if (!read_only_ || to_replay().empty()) return {};
  return fail(ErrorCode::kStoreReadOnly,
              "store " + path_.string() +
                  " was open when its machine went down and its log must be replayed, which "
                  "writes" +
                  kOpenForWriting);
}

// Finds the transactions that D15 replays.
Status StoreFolder::find_pending(uint64_t snapshot, const TestOptions& test) {
  if (!test.replay_pending) return {};
  if (format_version_ < kFirstVersionWithPending) return {};
  system::File file;
  const int code = system::File::open_errno(pending_path(), O_RDONLY, file);
  if (code == ENOENT) return {};
  if (code != 0) return fail(system::system_error(code, "opening " + pending_path().string()));
  GM_ASSIGN(pending_contents_, read_pending(file, snapshot));
  if (!read_only_ || pending().empty()) return {};
  return fail(
      ErrorCode::kStoreReadOnly,
      "store " + path_.string() +
          " was not closed by its last owner, and its last commits must be replayed, which writes" +
          kOpenForWriting);
}

Status StoreFolder::begin_pending() {
  if (format_version_ < kFirstVersionWithPending) return {};
  GM_ASSIGN(system::File file, system::File::open(pending_path(), O_RDWR | O_CREAT));
  GM_ASSIGN(const LogId id, draw_log_id());
  pending_ = PendingFile(std::move(file), id);
  // D14: clear the file before the store is marked open, unless its records must be replayed.
  return pending().empty() ? pending_.clear() : Status();
}

// Upholds D12: draws a new id for the records of this opening and for its slots.
Status StoreFolder::begin_log(const TestOptions& test) {
  if (format_version_ < kFirstVersionWithLog || !checkpoint_) return {};
  GM_ASSIGN(const LogId id, draw_log_id());
  log_id_ = id;
  // D15: as long as transactions of `pending` must be replayed, the slots keep the id of the
  // previous log.
  const std::optional<LogId>& before = checkpoint_->newest_log();
  const bool keeps = !pending().empty() && before && test.keeps_log_until_replayed;
  checkpoint_->begin_log(keeps ? *before : id);
  // A slot with a log id requires that the file exists, so create it if it is missing.
  const bool is_there = ::access(redo_path().c_str(), F_OK) == 0;
  GM_ASSIGN(system::File file, system::File::open(redo_path(), O_RDWR | O_CREAT));
  if (!is_there) GM_TRY(system::sync_folder(path_));
  redo_ = RedoFile(std::move(file), id);
  return {};
}

void StoreFolder::begin_own_log() {
  if (log_id_) checkpoint_->begin_log(*log_id_);
}

// Uses the folder's descriptor, because the folder may have been renamed.
Status StoreFolder::data_in_place() const {
  if (data_.is_in_place(folder_)) return {};
  return fail(
      ErrorCode::kStoreDamaged,
      "its file data.mdb was removed or replaced while the store was open; copy what you need out "
      "of the mount or the server now, then stop it and restore the store from a backup");
}

Status StoreFolder::owner_in_place() const {
  if (owner_.is_in_place(folder_)) return {};
  return fail(ErrorCode::kStoreDamaged,
              "its file owner was removed or replaced while the store was open, so it no longer "
              "names the owner; close the store, then open it again");
}

Status StoreFolder::mark(OwnerState state) const {
  const bool opens = state == OwnerState::kOpen;
  GM_INVARIANT("D6", !read_only_, "the mark of a reader of " + path_.string());
  GM_INVARIANT("D6", !opens || is_new_ || (checkpoint_ && checkpoint_->newest()),
               "the mark `open` of " + path_.string());
  GM_INVARIANT("D13", !opens || !replays_before_open_ || has_own_slot(),
               "the mark `open` of " + path_.string());
  uint64_t inode = 0;
  if (data_.is_open()) {
    GM_ASSIGN(inode, data_.inode());
  }
  return owner_.write({.state = state,
                       .pid = ::getpid(),
                       .host = host_name(),
                       .boot_id = boot_id_,
                       .data_inode = inode});
}

}  // namespace gridmount::local
