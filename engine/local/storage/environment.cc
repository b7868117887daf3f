#include "engine/local/storage/environment.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <string>
#include <utility>

#include "engine/base/counted.h"
#include "engine/base/log.h"
#include "engine/local/files/fault_scope.h"
#include "engine/local/files/lmdb_error.h"
#include "engine/local/files/map_guard.h"
#include "engine/local/files/space_reserve.h"
#include "engine/local/files/store_folder.h"
#include "engine/local/storage/checkpoint.h"
#include "engine/local/storage/free_pages.h"
#include "engine/local/storage/lmdb_context.h"
#include "engine/local/storage/lmdb_opening.h"
#include "engine/local/storage/read_pool.h"
#include "engine/local/storage/redo_log.h"
#include "engine/local/storage/trees.h"
#include "engine/local/storage/write_queue.h"
#include "engine/local/test_options.h"
#include "engine/system/file.h"

namespace gridmount::local {
namespace {

// If the file system has less free space than this, a short write counts as a full disk rather than
// a failing one.
constexpr uint64_t kFullDiskBytes = 4 * 1024 * 1024;
// Free pages are counted again when the store has changed, but counting may take at most one part
// in kCountingShare of the time.
constexpr int kCountingShare = 50;
// If less than this is available and something was removed since the last count, the pages are
// counted again, so that writers learn at once that there is room.
constexpr int64_t kScarceBytes = int64_t{256} << 20;

bool is_at_file_size_limit(uint64_t file_bytes) {
  struct rlimit limit {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         file_bytes + kFullDiskBytes > limit.rlim_cur;
}

// Returns the time since the file was last written, or zero if it is unknown.
std::chrono::milliseconds age_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  const auto written = std::chrono::system_clock::from_time_t(status.st_mtim.tv_sec) +
                       std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now() - written);
  return std::max(age, std::chrono::milliseconds(0));
}

}  // namespace

struct Environment::Parts {
  explicit Parts(StoreFolder store_folder) : folder(std::move(store_folder)) {}

  // Cleans up after a failed commit and returns its error. The failed writer still holds the write
  // lock.
  Error commit_failed(int code);
  // Makes all pages that removals have freed reusable, except those that an older snapshot needs.
  Status reclaim();
  // Punches holes where runs of pages are free. Relies on the list of free pages and does not check
  // the trees. Returns how many bytes of the disk it has freed.
  Result<uint64_t> return_free_pages(uint64_t run_bytes_min,
                                     const std::optional<engine::Deadline>& deadline);
  // Called when the disk has little room. If data.mdb has holes, LMDB may reuse them first, and the
  // disk has no room for them. So this function punches holes where pages are free, which frees
  // room on the disk.
  void share_room_with_holes();
  // Returns whether freed pages must be made reusable before anything is written.
  bool wants_room();
  // Commits a transaction that leaves the contents as they are.
  Status commit_nothing();
  // Makes the changes in one transaction (D13, D15).
  Status replay(const std::vector<std::string>& transactions, std::string_view file);
  Status make_changes(std::string_view changes, MDB_txn* txn);
  void report_recovery() const;
  uint64_t last_transaction() const;
  std::optional<Error> found_unreadable();
  // Returns an error if LMDB's table of readers is lost: nothing may be read or written any more.
  std::optional<Error> lost_readers() const;
  // Sets up the checks of pages before each write and of commits before each transaction. Fails if
  // the list of free pages is damaged, which LMDB would trust, or if the map does not show the last
  // commit.
  Status check_pages();
  // Returns whether the map shows the meta page from which a snapshot began.
  bool is_shown(uint64_t snapshot) const;
  void close_lmdb();
  // Returns the number of free pages in the snapshot; may return an older count (kCountingShare)
  // unless `exact`. `shrinks` is WriteQueue::shrinks() before the snapshot was taken.
  Result<uint64_t> free_pages(MDB_txn* txn, uint64_t snapshot, bool exact, uint64_t shrinks)
      GM_EXCLUDES(counting);
  // Returns whether a transaction has shrunk the store since the last count.
  bool has_shrunk() GM_EXCLUDES(counting);

  // Members are destroyed from the last to the first, so LMDB is closed before the folder is
  // unlocked.
  StoreFolder folder;
  LmdbContext context;
  EnvironmentHandle env;
  std::optional<MapGuard> guard;
  std::optional<MapGuard> readers_guard;  // none if LMDB uses no table of readers
  OpenedTrees handles;
  std::unique_ptr<ReadPool> readers;
  std::unique_ptr<SpaceReserve> reserve;       // null if read-only
  std::optional<SizeLimit> limit;              // none if read-only
  std::unique_ptr<RedoLog> log;                // null if read-only
  std::unique_ptr<WriteQueue> writers;         // null if read-only
  std::unique_ptr<Checkpointer> checkpointer;  // null if read-only
  std::atomic<uint64_t> reclaimed_at = 0;      // the newest transaction after reclaim()
  uint64_t map_bytes = 0;

  Mutex counting;
  uint64_t counted_snapshot GM_GUARDED_BY(counting) = 0;
  uint64_t counted_pages GM_GUARDED_BY(counting) = 0;
  uint64_t counted_shrinks GM_GUARDED_BY(counting) = 0;  // WriteQueue::shrinks() before the count
  std::chrono::steady_clock::time_point counted_at GM_GUARDED_BY(counting);
  std::chrono::steady_clock::duration counting_time GM_GUARDED_BY(counting){};  // how long it took
};

Error Environment::Parts::commit_failed(int code) {
  const std::string doing = "committing to the store " + folder.path().string();
  // After this code the contents of data.mdb cannot be trusted, so nothing is cleaned up.
  if (code == kLmdbStale) return lmdb_error(code, doing);
  if (code == EIO) {
    // LMDB reports a short write as EIO. A full disk or a limit of the file size causes one too.
    const Result<struct statvfs> file_system = system::file_system_of(folder.path());
    const Result<uint64_t> size = folder.data().size();
    if (file_system && system::free_bytes(*file_system) < kFullDiskBytes) {
      code = ENOSPC;
    } else if (size && is_at_file_size_limit(*size)) {
      code = EFBIG;
    }
  }
  if (code == ENOSPC || code == EDQUOT) reserve->record_full_disk();
  if (code == kOverSizeLimit) reserve->want_checkpoint();
  (void)repair_half_written_meta(folder.data(), page_bytes_of(env.get()));
  // The pages that the failed commit appended are useless and take the space that is short, so cut
  // them off. No snapshot reaches beyond the current one's last page, and nobody else writes now.
  const Result<MetaPair> metas = read_meta_pair(folder.data());
  const Result<uint64_t> size = folder.data().size();
  if (metas && size && *size > metas->current.data_bytes()) {
    (void)folder.data().resize(metas->current.data_bytes());
  }
  return lmdb_error(code, doing);
}

// LMDB reuses the pages that a transaction has freed once the oldest snapshot held is that of a
// later transaction. So a checkpoint of the removal itself is not enough: first this function
// commits a transaction that changes nothing. It does not repeat this until something else was
// committed, because the transaction takes room itself while older snapshots are held.
Status Environment::Parts::reclaim() {
  // A process that was killed while it read beside the owner keeps its snapshot until the table of
  // readers is checked.
  int gone = 0;
  (void)mdb_reader_check(env.get(), &gone);
  if (last_transaction() != reclaimed_at) {
    // If there is no room even for this transaction, the checkpoint still makes the pages of
    // earlier removals reusable.
    (void)commit_nothing();
    reclaimed_at = last_transaction();
  }
  return checkpointer->checkpoint();
}

Result<uint64_t> Environment::Parts::return_free_pages(
    uint64_t run_bytes_min, const std::optional<engine::Deadline>& deadline) {
  // Bounds the work during one exclusive hold of the write lock, while writers wait.
  constexpr uint64_t kBytesAtOnce = uint64_t{64} << 20;
  // The list of free pages is read from the map, so check that the map can be trusted before each
  // hole.
  FreePages pages(
      env.get(), folder.data(),
      [this] {
        if (context.sequence) (void)context.sequence->follows();
        return found_unreadable();
      },
      [this] { return checkpointer->pinned_snapshot(); });
  uint64_t freed = 0;
  uint64_t page = 0;
  do {
    if (deadline && !(std::chrono::steady_clock::now() <= *deadline)) {
      return fail(ErrorCode::kMaxTimeMsExpired, "operation exceeded time limit");
    }
    GM_TRY(writers->begin_exclusive());
    if (context.sequence) (void)context.sequence->follows();
    const Result<FreePages::PunchedHoles> given =
        pages.punch_holes(page, {run_bytes_min, kBytesAtOnce});
    writers->end_exclusive();
    if (!given) return fail(given.error());
    freed += given->bytes;
    page = given->next_page;
  } while (page != 0);
  return freed;
}

void Environment::Parts::share_room_with_holes() {
  // If this fails, the write that follows reports the cause.
  if (folder.data().has_holes()) (void)return_free_pages(/*run_bytes_min=*/1, {});
}

// When room is short, a checkpoint is also worth its cost if it makes kWorthACheckpoint of pages
// reusable.
bool Environment::Parts::wants_room() {
  constexpr uint64_t kWorthACheckpoint = uint64_t{1} << 20;
  return reserve->wants_checkpoint() ||
         (writers->is_short_of_room() &&
          checkpointer->freed_since_checkpoint() >= kWorthACheckpoint);
}

Status Environment::Parts::commit_nothing() {
  constexpr std::string_view kFirstKey("\0", 1);
  GM_ASSIGN(WriteTransaction transaction, writers->begin());
  const TreeHandles catalog{handles.catalog, {}};
  Trees trees(transaction.lmdb(), catalog, /*writable=*/true);
  GM_ASSIGN(const std::optional<TreeEntry> first, trees.at_or_after(catalog.catalog, kFirstKey));
  if (!first) return {};
  const std::string key(first->key);
  const std::string value(first->value);
  GM_TRY(trees.put(catalog.catalog, key, value));
  transaction.log(trees.take_changes());
  trees.end();
  transaction.net_shrink();
  return transaction.commit();
}

Status Environment::Parts::replay(const std::vector<std::string>& transactions,
                                  std::string_view file) {
  // On a full disk the replay may use the reserve, as the store held these contents before.
  reserve->open();
  GM_ASSIGN(WriteTransaction transaction, writers->begin());
  for (const std::string& changes : transactions) {
    if (Status replayed = make_changes(changes, transaction.lmdb()); !replayed) {
      return fail(std::move(replayed).error().with_context(
          "replaying the file " + std::string(file) + " of the store " + folder.path().string()));
    }
  }
  transaction.net_shrink();
  return transaction.commit();
}

// A loss of commits is logged as a warning, because the operator may have to act on it. A replay is
// only logged as information.
void Environment::Parts::report_recovery() const {
  const std::string store = "store " + folder.path().string();
  if (!folder.went_back_because().empty()) {
    log::warn(
        "{} is put back to its last checkpoint because {}; later commits that were not made "
        "durable are lost",
        store, folder.went_back_because());
  }
  const auto report = [&](size_t transactions, const char* file) {
    if (transactions == 0) return;
    log::info(
        "{} was not closed; {} replayed from its file {}", store,
        transactions == 1 ? "a transaction is" : std::to_string(transactions) + " transactions are",
        file);
  };
  report(folder.to_replay().size(), "redo");
  report(folder.pending().size(), "pending");
}

Status Environment::Parts::make_changes(std::string_view changes, MDB_txn* txn) {
  const TreeHandles all{handles.catalog, {handles.trees.begin(), handles.trees.end()}};
  Trees trees(txn, all, /*writable=*/true);
  return for_each_change(changes, trees.tree_count(), [&](const RedoChange& change) {
    const MDB_dbi tree = trees.tree_of_number(change.tree);
    return change.is_put ? trees.put(tree, change.key, change.value)
                         : trees.remove(tree, change.key);
  });
}

uint64_t Environment::Parts::last_transaction() const {
  MDB_envinfo info;
  mdb_env_info(env.get(), &info);
  return info.me_last_txnid;
}

std::optional<Error> Environment::Parts::lost_readers() const {
  if (!readers_guard || !readers_guard->unreadable()) return std::nullopt;
  return Error(
      ErrorCode::kIoError,
      "store " + folder.path().string() +
          " can be neither read nor written any more: its file data.mdb-lock was truncated while "
          "the store was open, or cannot be read; close the store, then open it again");
}

std::optional<Error> Environment::Parts::found_unreadable() {
  if (std::optional<Error> lost = lost_readers()) {
    // LMDB may overwrite pages that are being read, and its mutexes are lost. So LMDB must not be
    // called to write or to close.
    context.interrupted = true;
    return lost;
  }
  const std::optional<uint64_t> offset = guard ? guard->unreadable() : std::nullopt;
  // Allocate nothing unless something is wrong, because the caller may hold the write lock.
  const bool is_stale = (context.sequence && context.sequence->is_lost()) ||
                        (context.check && context.check->has_missed_snapshot());
  if (!context.interrupted && !offset && !is_stale) return std::nullopt;
  const std::string refusal = "store " + folder.path().string() + " takes no more writes";
  if (context.interrupted) return lmdb_error(kLmdbFault, refusal + ": writing");
  if (!offset) return lmdb_error(kLmdbStale, refusal);
  return Error(ErrorCode::kIoError,
               refusal + ": data.mdb cannot be read at byte " + std::to_string(*offset) +
                   ", because it was truncated, is damaged, or its device fails; close the store, "
                   "then run 'gridstore check --repair'");
}

Status Environment::Parts::check_pages() {
  if (guard->map() == nullptr) return {};
  MDB_envinfo info;
  mdb_env_info(env.get(), &info);
  context.check =
      std::make_unique<PageCheck>(guard->map(), page_bytes_of(env.get()), names_of(handles));
  GM_ASSIGN(const MetaPair metas, read_meta_pair(folder.data()));
  context.sequence =
      std::make_unique<CommitSequence>(guard->map(), page_bytes_of(env.get()), metas.current.txn);
  if (!context.sequence->follows()) return fail(*found_unreadable());
  Status sound = context.check->free_pages(info.me_last_txnid);
  if (sound) return {};
  return fail(sound.error().code(), "store " + folder.path().string() +
                                        " takes no more writes: " + sound.error().message());
}

// If the beginning of the map cannot be read, it has zeros there, and the map guard reports this
// fault (map_guard.h).
bool Environment::Parts::is_shown(uint64_t snapshot) const {
  if (!guard || guard->map() == nullptr) return true;
  return CommitSequence::is_shown(guard->map(), context.pages.page_bytes, snapshot) ||
         guard->unreadable();
}

// Keeps an environment that cannot be closed until the process ends, so that leak checkers do not
// report it. A process has address space for no more than kGuardsMax environments.
void leave_open(MDB_env* env) {
  static std::array<std::atomic<MDB_env*>, MapGuard::kGuardsMax> left_open;
  for (std::atomic<MDB_env*>& place : left_open) {
    MDB_env* none = nullptr;
    if (place.compare_exchange_strong(none, env)) return;
  }
}

// After an interrupted call the environment is not closed: threads hold locks of LMDB that are in
// memory which closing would free.
void Environment::Parts::close_lmdb() {
  if (context.interrupted) leave_open(env.release());
  guard.reset();
  readers_guard.reset();
  env.reset();
}

bool Environment::Parts::has_shrunk() {
  if (!writers) return false;
  MutexLock lock(counting);
  return writers->shrinks() != counted_shrinks;
}

Result<uint64_t> Environment::Parts::free_pages(MDB_txn* txn, uint64_t snapshot, bool exact,
                                                uint64_t shrinks) {
  {
    MutexLock lock(counting);
    const auto age = std::chrono::steady_clock::now() - counted_at;
    const bool is_new = !exact && age < counting_time * kCountingShare;
    if (counted_snapshot != 0 && (counted_snapshot == snapshot || is_new)) return counted_pages;
  }
  const auto begun = std::chrono::steady_clock::now();
  GM_ASSIGN(const uint64_t pages, count_free_pages(txn));
  MutexLock lock(counting);
  counted_snapshot = snapshot;
  counted_pages = pages;
  counted_shrinks = shrinks;
  counted_at = std::chrono::steady_clock::now();
  counting_time = counted_at - begun;
  return pages;
}

Environment::Environment(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Environment>> Environment::open(const std::filesystem::path& folder,
                                                       const OpenOptions& options) {
  return open(folder, options, TestOptions());
}

Result<std::unique_ptr<Environment>> Environment::open(const std::filesystem::path& folder,
                                                       const OpenOptions& options,
                                                       const TestOptions& test) {
  system::outlive_file_size_limit();
  GM_ASSIGN(StoreFolder store_folder, StoreFolder::open(folder, options, test));
  auto parts = std::make_unique<Parts>(std::move(store_folder));
  Status status = [&]() -> Status {
    GM_ASSIGN(parts->env, open_lmdb(parts->folder, options));
    MDB_env* const env = parts->env.get();
    MDB_envinfo info;
    mdb_env_info(env, &info);
    parts->map_bytes = info.me_mapsize;
    mdb_env_set_userctx(env, &parts->context);
    install_fault_handler();
    parts->guard.emplace(parts->folder.data_path(), MapGuard::Contents::kPages);
    if (!parts->folder.read_only() || parts->folder.beside()) {
      parts->readers_guard.emplace(parts->folder.lock_path(), MapGuard::Contents::kReaders);
    }
    GM_ASSIGN(parts->handles, open_trees(env, parts->folder));
    static std::atomic<uint64_t> maps = 0;
    parts->context.pages = {parts->guard->map(), parts->map_bytes, page_bytes_of(env),
                            names_of(parts->handles), ++maps};
    parts->readers = std::make_unique<ReadPool>(env);
    if (parts->folder.has_damaged_log()) {
      log::error(
          "store {}: its log is damaged; the last commits before its machine went down or its "
          "process ended are lost",
          folder.string());
    }
    if (parts->folder.read_only()) return {};
    parts->report_recovery();
    const Status sound = parts->check_pages();
    Parts* const raw = parts.get();
    parts->reserve = std::make_unique<SpaceReserve>(parts->folder.path());
    parts->log = std::make_unique<RedoLog>(parts->folder.take_redo(), test);
    const SizeLimit limit(env, options.size_limit);
    GM_TRY(limit.check());
    parts->limit.emplace(limit);
    parts->writers = std::make_unique<WriteQueue>(
        env, *parts->reserve, limit, *parts->log, parts->folder.take_pending(),
        WriteQueue::Callbacks{[raw](int code) { return raw->commit_failed(code); },
                              [raw] { return raw->found_unreadable(); },
                              [raw](std::string_view changes, MDB_txn* txn) {
                                return raw->make_changes(changes, txn);
                              }},
        test);
    parts->checkpointer = std::make_unique<Checkpointer>(parts->folder, *parts->writers,
                                                         *parts->log, env, options, test);
    GM_TRY(parts->checkpointer->pin());
    const bool replays = !parts->folder.to_replay().empty();
    const std::vector<std::string>& pending = parts->folder.pending();
    if (replays) {
      GM_TRY(sound);
      if (!test.marks_after_replay) GM_TRY(parts->folder.mark(OwnerState::kOpen));
      GM_TRY(parts->replay(parts->folder.to_replay(), "redo"));
    }
    if (!pending.empty()) {
      GM_TRY(sound);
      // D15: this pins the snapshot from which the batch began.
      GM_TRY(parts->checkpointer->take_first());
      GM_TRY(parts->replay(pending, "pending"));
      parts->folder.begin_own_log();
    }
    GM_TRY(parts->checkpointer->start());
    // D13: from here on data.mdb has all that was recovered and can be trusted.
    if (replays) GM_TRY(parts->folder.mark(OwnerState::kOpen));
    parts->writers->allow_batches();
    GM_TRY(parts->log->start(options.redo_bytes));
    // The store can still be read.
    if (!sound) parts->writers->refuse(sound.error());
    if (parts->folder.is_new()) GM_TRY(parts->folder.finish_creation());
    if (options.upgrade) GM_TRY(parts->folder.upgrade());
    if (!replays && pending.empty()) parts->reserve->open();
    return {};
  }();
  if (!status) {
    parts->checkpointer.reset();
    parts->writers.reset();
    parts->readers.reset();
    parts->close_lmdb();
    if (!parts->folder.is_new()) return fail(std::move(status).error());
    parts->folder.abandon_creation();
    return fail(std::move(status).error().with_context("creating the store " + folder.string()));
  }
  return std::unique_ptr<Environment>(new Environment(std::move(parts)));
}

Environment::~Environment() {
  if (parts_->folder.read_only()) return;
  const Status durable = parts_->checkpointer->stop();
  parts_->checkpointer.reset();
  parts_->writers.reset();
  parts_->readers.reset();
  parts_->close_lmdb();
  // D4. If this fails, the store is as after a kill, and nothing is lost.
  if (durable) (void)parts_->folder.mark(OwnerState::kClosed);
}

Result<ReadTransaction> Environment::begin_read() {
  if (parts_->writers) GM_TRY(parts_->writers->flush());
  return begin_read_of_lmdb();
}

Result<std::optional<WriteTransaction>> Environment::begin_read_in_batch() {
  if (!parts_->writers) return std::optional<WriteTransaction>();
  return parts_->writers->begin_read_in_batch();
}

Result<ReadTransaction> Environment::begin_short_read() {
  if (parts_->writers && !parts_->writers->is_flushed()) GM_TRY(parts_->writers->flush());
  return begin_read_of_lmdb();
}

Result<ReadTransaction> Environment::begin_read_of_lmdb() {
  Result<ReadTransaction> transaction = parts_->readers->begin();
  // Check this even if the call failed: LMDB reads in this table which snapshot is the newest.
  if (std::optional<Error> lost = parts_->lost_readers()) return fail(std::move(*lost));
  if (transaction && !parts_->is_shown(mdb_txn_id(transaction->lmdb()))) {
    if (parts_->context.sequence) parts_->context.sequence->lose();
    return fail(lmdb_error(kLmdbStale, "reading the store " + parts_->folder.path().string()));
  }
  return transaction;
}

Result<WriteTransaction> Environment::begin_write(engine::TransactionKind kind) {
  if (read_only()) {
    return fail(ErrorCode::kStoreReadOnly,
                "store " + parts_->folder.path().string() + " is open read-only");
  }
  if (std::optional<Error> unreadable = parts_->found_unreadable()) return fail(*unreadable);
  if (parts_->wants_room() && !parts_->writers->held_by_this_thread()) {
    parts_->reserve->checkpoint_begins();
    GM_TRY(parts_->reclaim());
    parts_->share_room_with_holes();
  }
  parts_->checkpointer->make_room();
  return parts_->writers->begin(kind);
}

Status Environment::may_wait_for_durability() const {
  if (!parts_->writers->held_by_this_thread()) return {};
  return fail(ErrorCode::kIllegalOperation,
              "a thread cannot wait for a checkpoint within its own transaction; end the "
              "transaction first");
}

Status Environment::make_durable() {
  if (read_only()) return {};
  GM_TRY(may_wait_for_durability());
  return parts_->checkpointer->make_durable();
}

Status Environment::checkpoint() {
  if (read_only()) return {};
  GM_TRY(may_wait_for_durability());
  return parts_->checkpointer->checkpoint();
}

MDB_dbi Environment::catalog() const {
  return parts_->handles.catalog;
}

MDB_dbi Environment::tree(int number) const {
  assert(number >= 0 && number < kTreeCount);
  return parts_->handles.trees[static_cast<size_t>(number)];
}

uint64_t Environment::last_transaction() const {
  return parts_->last_transaction();
}

Status Environment::copy_pages(const system::File& file) {
  if (parts_->writers) GM_TRY(parts_->writers->flush());
  // LMDB copies with a thread of its own. After a fault in the call, that thread would wait for
  // ever, so check the pages first.
  GM_TRY(check_all_pages());
  const int code = mdb_env_copyfd2(parts_->env.get(), file.fd(), MDB_CP_COMPACT);
  if (code == MDB_SUCCESS) return {};
  return fail(lmdb_error(
      code, "copying " + parts_->folder.data_path().string() + " to " + file.path().string()));
}

Status Environment::check_all_pages() {
  if (!parts_->guard || parts_->guard->map() == nullptr) return {};
  // The meta pages describe only the two newest snapshots, and a writer may be overwriting one of
  // them. So try again with a newer snapshot.
  constexpr int kAttempts = 100;
  Status found;
  for (int i = 0; i < kAttempts; ++i) {
    GM_ASSIGN(const ReadTransaction snapshot, begin_read());
    const uint64_t number = mdb_txn_id(snapshot.lmdb());
    PageCheck check(parts_->guard->map(), page_bytes_of(parts_->env.get()),
                    names_of(parts_->handles));
    found = check.finds(number);
    if (found) return check.all_trees(number);
  }
  return found;
}

Result<PageReport> Environment::survey_pages(PageVisitor* visitor) {
  // An empty report would look like a store without damage, or like one without contents.
  if (!parts_->guard || parts_->guard->map() == nullptr) {
    return fail(ErrorCode::kIllegalOperation,
                "the pages of " + parts_->folder.data_path().string() +
                    " cannot be read one by one: /proc is not mounted, or this process has too "
                    "many stores open");
  }
  // Try again as check_all_pages() does.
  const int attempts = visitor == nullptr ? 100 : 1;
  Result<PageReport> report = PageReport();
  for (int i = 0; i < attempts; ++i) {
    GM_ASSIGN(const ReadTransaction snapshot, begin_read());
    report = PageAccounting(parts_->guard->map(), page_bytes_of(parts_->env.get()), visitor)
                 .run(mdb_txn_id(snapshot.lmdb()));
    if (report) break;
  }
  return report;
}

Status Environment::reclaim() {
  if (read_only()) return {};
  GM_TRY(may_wait_for_durability());
  return parts_->reclaim();
}

Result<uint64_t> Environment::return_free_pages(const std::optional<engine::Deadline>& deadline) {
  if (read_only()) {
    return fail(ErrorCode::kStoreReadOnly,
                "store " + parts_->folder.path().string() + " is open read-only");
  }
  // A hole destroys a page at once, so make sure that no page in use is in the list of free pages.
  GM_ASSIGN(const PageReport report, survey_pages());
  if (!report.problems.empty() || report.damaged > 0) {
    const std::string what = report.problems.empty()
                                 ? counted(report.damaged, "page of data.mdb is damaged",
                                           "pages of data.mdb are damaged")
                                 : report.problems.front();
    return fail(ErrorCode::kStoreDamaged, what +
                                              ": the free pages cannot be determined; stop the "
                                              "daemon and run `gridstore check --repair` on " +
                                              parts_->folder.path().string());
  }
  return parts_->return_free_pages(FreePages::kHoleBytesMin, deadline);
}

bool Environment::read_only() const {
  return parts_->folder.read_only();
}

int Environment::format_version() const {
  return parts_->folder.format_version();
}

std::optional<Owner> Environment::owner_beside() const {
  const std::optional<OwnerMark>& mark = parts_->folder.beside();
  return mark ? std::optional(Owner{mark->pid, mark->host}) : std::nullopt;
}

Result<engine::StoreStats> Environment::stats() {
  // Ask before the snapshot is taken, so that the snapshot has the removals of these transactions.
  const bool has_shrunk = parts_->has_shrunk();
  GM_ASSIGN(const engine::StoreStats counted, stats(false));
  if (!has_shrunk || counted.available_bytes >= kScarceBytes) return counted;
  return stats(true);
}

Result<engine::StoreStats> Environment::stats(bool exact) {
  const uint64_t shrinks = parts_->writers ? parts_->writers->shrinks() : 0;
  GM_ASSIGN(const ReadTransaction snapshot, begin_read());
  GM_ASSIGN(const struct statvfs file_system, system::file_system_of(parts_->folder.path()));
  GM_ASSIGN(const uint64_t size, parts_->folder.data().size());
  GM_ASSIGN(const uint64_t allocated_bytes, parts_->folder.data().allocated_bytes());
  GM_ASSIGN(const uint64_t free_pages,
            parts_->free_pages(snapshot.lmdb(), mdb_txn_id(snapshot.lmdb()), exact, shrinks));
  MDB_envinfo info;
  mdb_env_info(parts_->env.get(), &info);

  const uint64_t pages = info.me_last_pgno + 1;
  const uint64_t used_bytes =
      (pages - std::min(pages, free_pages)) * page_bytes_of(parts_->env.get());
  const uint64_t disk_bytes = system::free_bytes(file_system);
  // Free pages that are holes take room on the disk when they are reused, as growth does. The file
  // can grow until the disk, the map or the size limit is full.
  const uint64_t holes = size - std::min(size, allocated_bytes);
  uint64_t more_pages = parts_->map_bytes - std::min(parts_->map_bytes, size);
  if (parts_->limit) more_pages = std::min(more_pages, parts_->limit->left());
  const uint64_t growth = std::min(disk_bytes, holes + more_pages);
  const uint64_t file_bytes = size - holes;
  const uint64_t reusable = file_bytes - std::min(file_bytes, used_bytes);
  engine::StoreStats stats;
  stats.file_bytes = static_cast<int64_t>(file_bytes);
  stats.used_bytes = static_cast<int64_t>(used_bytes);
  stats.capacity_bytes = static_cast<int64_t>(file_bytes + growth);
  stats.available_bytes = read_only() ? 0 : static_cast<int64_t>(reusable + growth);
  stats.file_system_bytes = static_cast<int64_t>(file_system.f_blocks * file_system.f_frsize);
  stats.file_system_used_bytes =
      static_cast<int64_t>((file_system.f_blocks - file_system.f_bfree) * file_system.f_frsize);
  stats.since_checkpoint = parts_->checkpointer ? parts_->checkpointer->since_last()
                                                : age_of(parts_->folder.path() / "checkpoint");
  return stats;
}

}  // namespace gridmount::local
