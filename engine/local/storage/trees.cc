#include "engine/local/storage/trees.h"

#include <utility>

#include "engine/local/files/fault_scope.h"
#include "engine/local/files/lmdb_error.h"
#include "engine/local/storage/lmdb_context.h"
#include "engine/local/storage/range_cursor.h"
#include "engine/local/storage/tree_path.h"

namespace gridmount::local {

std::string tree_name(int number) {
  const auto digit = [&](int unit) { return static_cast<char>('0' + number / unit % 10); };
  return {'t', digit(100), digit(10), digit(1)};
}

namespace {

size_t entries_of(MDB_txn* txn, MDB_dbi tree) {
  MDB_stat stat{};
  const int code = guarded([&] { return mdb_stat(txn, tree, &stat); });
  return code == MDB_SUCCESS ? stat.ms_entries : 0;
}

}  // namespace

Trees::Trees(MDB_txn* txn, const TreeHandles& handles, bool writable)
    : txn_(txn), handles_(handles), writable_(writable) {
  if (!writable_) reader_.emplace(txn_, context_of(txn_).pages);
}

void Trees::pause() {
  for (RangeCursor* const cursor : reading_) cursor->pause();
  reader_.reset();
  txn_ = nullptr;
}

void Trees::resume(MDB_txn* txn) {
  txn_ = txn;
  reader_.emplace(txn_, context_of(txn_).pages);
  read_error_.reset();
  ++writes_;
  ++resumptions_;
}

void Trees::end() {
  // After an interrupted call the transaction must not be touched any more.
  const bool closes = !cursors_.empty() && !context_of(txn_).interrupted;
  for (const WriteCursor& cursor : cursors_) {
    if (closes && cursor.cursor != nullptr) mdb_cursor_close(cursor.cursor);
  }
  cursors_.clear();
  reader_.reset();
  txn_ = nullptr;
}

void Trees::find_several(MDB_dbi tree, std::span<TreeReader::Wanted> wanted) const {
  if (reader_) reader_->find(tree, wanted);
}

std::optional<TreeReader::Found> Trees::find_from(MDB_dbi tree, std::string_view key) const {
  return reader_ ? reader_->find_from(tree, key) : std::nullopt;
}

Status Trees::readable() const {
  if (ended()) {
    return fail(ErrorCode::kIllegalOperation,
                writable_ ? "the transaction has ended" : "the snapshot has been released");
  }
  return {};
}

Status Trees::writable_now() const {
  GM_TRY(readable());
  if (!writable_) return fail(ErrorCode::kIllegalOperation, "a snapshot is read-only");
  if (poison_) return fail(*poison_);
  return {};
}

tl::unexpected<Error> Trees::poison(Error error) {
  if (!poison_) poison_ = std::move(error);
  return fail(*poison_);
}

tl::unexpected<Error> Trees::write_failed(int code, const char* what) {
  return poison(lmdb_error(code, what));
}

tl::unexpected<Error> Trees::read_failed(int code) const {
  if (code == MDB_BAD_TXN && poison_) return fail(*poison_);
  if (code == MDB_BAD_TXN && read_error_) return fail(*read_error_);
  // Opening a cursor reads the tree's root. If the root is damaged, opening the cursor succeeds,
  // and LMDB refuses the next call. So a refusal without an earlier error means damage.
  Error error = lmdb_error(code == MDB_BAD_TXN ? MDB_CORRUPTED : code, "reading from the store");
  if (!read_error_) read_error_ = error;
  return fail(std::move(error));
}

Result<std::optional<std::string_view>> Trees::get(MDB_dbi tree, std::string_view key) const {
  GM_TRY(readable());
  if (reader_) {
    if (const std::optional<std::string_view> value = reader_->find(tree, key)) return value;
  }
  MDB_val mdb_key = to_mdb(key);
  MDB_val value{};
  const int code = plausible(guarded([&] { return mdb_get(txn_, tree, &mdb_key, &value); }), value);
  if (code == MDB_NOTFOUND) return std::optional<std::string_view>();
  if (code != MDB_SUCCESS) return read_failed(code);
  return std::optional(from_mdb(value));
}

Status Trees::prove_absent(MDB_dbi tree, std::string_view key) const {
  GM_TRY(readable());
  if (is_in_gap(tree, key)) return {};
  TreePath path(*this, tree);
  GM_TRY(path.prove(key));
  record_gap(tree, path);
  // The snapshot still has the entries that this transaction has removed.
  const bool is_there = !writable_ && path.from() && path.from()->key == key;
  return is_there ? read_failed(MDB_CORRUPTED) : Status();
}

Status Trees::prove_absent(MDB_dbi tree, std::string_view key,
                           const std::optional<TreeEntry>& found) const {
  GM_TRY(readable());
  if (is_in_gap(tree, key)) return {};
  TreePath path(*this, tree);
  GM_TRY(path.prove(key, found, /*found_below=*/false));
  record_gap(tree, path);
  return {};
}

bool Trees::is_in_gap(MDB_dbi tree, std::string_view key) const {
  if (tree >= gaps_.size()) return false;
  const Gap& gap = gaps_[tree];
  return gap.known && (!gap.below || gap.below->key < key) && (!gap.from || key < gap.from->key);
}

void Trees::record_gap(MDB_dbi tree, const TreePath& path) const {
  if (!writable_ || !path.is_of_snapshot()) return;
  if (tree >= gaps_.size()) gaps_.resize(tree + 1);
  gaps_[tree] = {true, path.below(), path.from()};
}

Result<Trees::WriteCursor*> Trees::write_cursor(MDB_dbi tree) {
  GM_TRY(writable_now());
  if (tree >= cursors_.size()) cursors_.resize(tree + 1);
  WriteCursor& cursor = cursors_[tree];
  if (cursor.cursor == nullptr) {
    const int code = guarded([&] { return mdb_cursor_open(txn_, tree, &cursor.cursor); });
    if (code != MDB_SUCCESS) return write_failed(code, "opening a cursor");
    cursor.entries = entries_of(txn_, tree);
  }
  return &cursor;
}

Result<std::optional<TreeEntry>> Trees::at_or_after(MDB_dbi tree, std::string_view key) {
  GM_ASSIGN(WriteCursor * cursor, write_cursor(tree));
  MDB_val mdb_key = to_mdb(key);
  MDB_val value{};
  const int code = plausible(
      guarded([&] { return mdb_cursor_get(cursor->cursor, &mdb_key, &value, MDB_SET_RANGE); }),
      value);
  cursor->past_end = code == MDB_NOTFOUND;
  if (code == MDB_NOTFOUND) return std::optional<TreeEntry>();
  // After an error the cursor may stand anywhere, and the next write would start there. So the
  // transaction is poisoned.
  if (code != MDB_SUCCESS) return write_failed(code, "reading from the store");
  return std::optional(TreeEntry{from_mdb(mdb_key), from_mdb(value)});
}

Result<MDB_val> Trees::put_value(MDB_dbi tree, std::string_view key, MDB_val value, unsigned flags,
                                 bool append) {
  GM_ASSIGN(WriteCursor * cursor, write_cursor(tree));
  cursor->past_end = false;
  ++writes_;
  // LMDB may move the value that reserve() returned last, so copy it now.
  changes_.flush();
  LmdbContext& context = context_of(txn_);
  if (context.check) {
    if (Status sound = context.check->before_put(txn_, tree, key); !sound) {
      return poison(std::move(sound).error());
    }
  }
  MDB_val mdb_key = to_mdb(key);
  const auto put = [&](unsigned how) {
    return context.wrote(
        guarded([&] { return mdb_cursor_put(cursor->cursor, &mdb_key, &value, how); }));
  };
  // With MDB_RESERVE the caller fills the value in later, and LMDB sets `value` to its place.
  const size_t reserved_bytes = value.mv_data == nullptr ? value.mv_size : 0;
  const std::string_view given = from_mdb(value);
  const auto note = [&] {
    if ((flags & MDB_RESERVE) == 0) {
      changes_.put(number_of(tree), key, given);
    } else {
      changes_.put(number_of(tree), key, static_cast<const uint8_t*>(value.mv_data),
                   reserved_bytes);
    }
    return value;
  };
  if (append) {
    const MDB_val wanted = value;
    const int code = put(flags | MDB_APPEND);
    if (code == MDB_SUCCESS) return note();
    if (code != MDB_KEYEXIST) return write_failed(code, "writing to the store");
    cursor->appends = false;
    value = wanted;
  }
  const int code = put(flags);
  if (code != MDB_SUCCESS) return write_failed(code, "writing to the store");
  return note();
}

uint32_t Trees::number_of(MDB_dbi tree) const {
  if (tree == handles_.catalog) return 0;
  // LMDB numbers handles in the order of opening, so the position is a difference.
  const std::vector<MDB_dbi>& keyspaces = handles_.keyspaces;
  const size_t position = keyspaces.empty() ? 0 : tree - keyspaces.front();
  const bool found = position < keyspaces.size() && keyspaces[position] == tree;
  return found ? static_cast<uint32_t>(position + 1) : RedoChanges::kNoTree;
}

std::string Trees::name_of(MDB_dbi tree) const {
  const uint32_t number = number_of(tree);
  return number == 0 ? "catalog" : tree_name(static_cast<int>(number) - 1);
}

Result<bool> Trees::is_without_checksums(uint32_t tree, const TreeEntry& entry) const {
  return context_of(txn_).unchecked_keyspaces.have(*this, tree, entry);
}

RedoChanges Trees::take_changes() {
  changes_.flush();
  return std::exchange(changes_, RedoChanges());
}

bool Trees::shrinks_net() const {
  if (!writable_now()) return false;
  if (cleared_) return true;
  int64_t contents = 0;
  int64_t catalog = 0;
  for (size_t tree = 0; tree < cursors_.size(); ++tree) {
    if (cursors_[tree].cursor == nullptr) continue;
    const size_t entries = entries_of(txn_, static_cast<MDB_dbi>(tree));
    const int64_t added =
        static_cast<int64_t>(entries) - static_cast<int64_t>(cursors_[tree].entries);
    (tree == handles_.catalog ? catalog : contents) += added;
  }
  return contents < 0 || (contents == 0 && catalog < 0);
}

Status Trees::put(MDB_dbi tree, std::string_view key, std::string_view value) {
  GM_ASSIGN(WriteCursor * cursor, write_cursor(tree));
  GM_TRY(put_value(tree, key, to_mdb(value), 0, cursor->past_end));
  return {};
}

Result<uint8_t*> Trees::reserve(MDB_dbi tree, std::string_view key, size_t size) {
  GM_ASSIGN(const MDB_val value, put_value(tree, key, MDB_val{size, nullptr}, MDB_RESERVE, false));
  return static_cast<uint8_t*>(value.mv_data);
}

Result<uint8_t*> Trees::reserve_at_end(MDB_dbi tree, std::string_view key, size_t size) {
  GM_ASSIGN(WriteCursor * cursor, write_cursor(tree));
  GM_ASSIGN(const MDB_val value,
            put_value(tree, key, MDB_val{size, nullptr}, MDB_RESERVE, cursor->appends));
  return static_cast<uint8_t*>(value.mv_data);
}

Status Trees::remove(MDB_dbi tree, std::string_view key) {
  GM_ASSIGN(WriteCursor * cursor, write_cursor(tree));
  cursor->past_end = false;
  LmdbContext& context = context_of(txn_);
  if (context.check) {
    if (Status sound = context.check->before_remove(txn_, tree, key); !sound) {
      return poison(std::move(sound).error());
    }
  }
  MDB_val mdb_key = to_mdb(key);
  MDB_val value{};
  int code = plausible(
      guarded([&] { return mdb_cursor_get(cursor->cursor, &mdb_key, &value, MDB_SET); }), value);
  if (code == MDB_NOTFOUND) {
    return poison(Error(ErrorCode::kDataCorruptionDetected,
                        "an entry to be removed is missing; run 'gridstore check --repair'"));
  }
  ++writes_;
  changes_.flush();
  if (code == MDB_SUCCESS) {
    code = context.wrote(guarded([&] { return mdb_cursor_del(cursor->cursor, 0); }));
  }
  if (code != MDB_SUCCESS) return write_failed(code, "removing from the store");
  changes_.remove(number_of(tree), key);
  return {};
}

Status Trees::clear(MDB_dbi tree) {
  GM_TRY(writable_now());
  ++writes_;
  LmdbContext& context = context_of(txn_);
  if (context.check) {
    if (Status sound = context.check->before_clear(txn_, tree); !sound) {
      return poison(std::move(sound).error());
    }
  }
  const int code = context.wrote(guarded([&] { return mdb_drop(txn_, tree, 0); }));
  if (code != MDB_SUCCESS) return write_failed(code, "clearing a tree of the store");
  cleared_ = true;
  changes_.mark_incomplete();
  return {};
}

}  // namespace gridmount::local
