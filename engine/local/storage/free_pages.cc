#include "engine/local/storage/free_pages.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/invariant.h"
#include "engine/local/files/fault_scope.h"
#include "engine/local/files/lmdb_error.h"
#include "engine/local/storage/lmdb_opening.h"

namespace gridmount::local {
namespace {

constexpr const char* kDoing = "reading the store's list of free pages";

struct AbortTransaction {
  void operator()(MDB_txn* txn) const { mdb_txn_abort(txn); }
};

// What one transaction has freed.
struct FreedPages {
  uint64_t transaction = 0;
  std::span<const size_t> pages;
};

// Calls `take` for each transaction's free pages, in ascending order, until it returns false.
template <typename Take>
Status read_list(MDB_txn* txn, const Take& take) {
  constexpr MDB_dbi kFreeTree = 0;
  MDB_cursor* cursor = nullptr;
  int code = mdb_cursor_open(txn, kFreeTree, &cursor);
  if (code != MDB_SUCCESS) return fail(lmdb_error(code, kDoing));
  MDB_val key{};
  MDB_val value{};
  const auto next = [&] { return mdb_cursor_get(cursor, &key, &value, MDB_NEXT); };
  while ((code = guarded(next)) == MDB_SUCCESS) {
    size_t transaction = 0;
    size_t count = 0;
    if (value.mv_data == nullptr || value.mv_size < sizeof count ||
        key.mv_size != sizeof transaction) {
      code = MDB_CORRUPTED;
      break;
    }
    // An array begins with its length.
    const auto* const array = static_cast<const size_t*>(value.mv_data);
    std::memcpy(&transaction, key.mv_data, sizeof transaction);
    count = array[0];
    if (count > value.mv_size / sizeof(size_t) - 1) {
      code = MDB_CORRUPTED;
      break;
    }
    if (!take(FreedPages{transaction, {array + 1, count}})) {
      code = MDB_NOTFOUND;
      break;
    }
    value = MDB_val{};
  }
  mdb_cursor_close(cursor);
  if (code != MDB_NOTFOUND) return fail(lmdb_error(code, kDoing));
  return {};
}

// Handles a line of mdb_reader_list(). A line has the process, the thread and the snapshot. A dash
// in place of the snapshot means that the reader holds none. The list also has a heading, or only a
// line which says that there are no readers. Any other line may be a reader of an unknown snapshot,
// so it counts as the oldest one.
int record_reader(const char* line, void* oldest) {
  std::string_view text(line);
  const auto is_blank = [](char c) { return c == ' ' || c == '\n'; };
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  text.remove_prefix(text.find_last_of(' ') + 1);  // without a space, keeps the whole text
  if (text == "-" || text == "txnid" || text == "readers)") return 0;
  uint64_t snapshot = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, snapshot);
  if (parsed.ec != std::errc() || parsed.ptr != end) snapshot = 0;
  auto& least = *static_cast<uint64_t*>(oldest);
  least = std::min(least, snapshot);
  return 0;
}

}  // namespace

Result<uint64_t> count_free_pages(MDB_txn* txn) {
  uint64_t pages = 0;
  GM_TRY(read_list(txn, [&pages](const FreedPages& freed) {
    pages += freed.pages.size();
    return true;
  }));
  return pages;
}

Result<uint64_t> FreePages::oldest_snapshot(uint64_t newest) {
  uint64_t oldest = newest;
  const int code = mdb_reader_list(env_, record_reader, &oldest);
  if (code < 0) return fail(lmdb_error(code, "reading the store's table of readers"));
  return oldest;
}

Result<FreePages::Reusable> FreePages::reusable_pages() {
  MDB_txn* txn = nullptr;
  const int code = mdb_txn_begin(env_, nullptr, MDB_RDONLY, &txn);
  if (code != MDB_SUCCESS) return fail(lmdb_error(code, kDoing));
  const std::unique_ptr<MDB_txn, AbortTransaction> ends(txn);
  // LMDB's rule (mdb_page_alloc): pages that a transaction older than the oldest snapshot has
  // freed.
  GM_ASSIGN(const uint64_t oldest, oldest_snapshot(mdb_txn_id(txn)));
  MDB_envinfo info;
  mdb_env_info(env_, &info);
  std::vector<bool> free(info.me_last_pgno + 2, false);
  GM_TRY(read_list(txn, [&](const FreedPages& freed) {
    if (freed.transaction >= oldest) return false;
    for (const size_t page : freed.pages) {
      if (page <= info.me_last_pgno) free[page] = true;
    }
    return true;
  }));
  return Reusable{oldest, std::move(free)};
}

// Upholds D16.
Result<FreePages::PunchedHoles> FreePages::punch_holes(uint64_t first, Bytes wanted) {
  GM_ASSIGN(const Reusable reusable, reusable_pages());
  if (std::optional<Error> unreadable = found_unreadable_()) return fail(std::move(*unreadable));
  GM_INVARIANT("D16", reusable.oldest_snapshot <= pinned_snapshot_(),
               "pages freed before transaction " + std::to_string(reusable.oldest_snapshot));
  const std::vector<bool>& free = reusable.pages;
  GM_ASSIGN(const uint64_t before, data_.allocated_bytes());
  const uint64_t page_bytes = page_bytes_of(env_);
  uint64_t punched = 0;
  uint64_t next_page = 0;
  for (uint64_t page = first; page < free.size(); ++page) {
    if (!free[page]) continue;
    const uint64_t begin = page;
    while (free[page] && (page - begin) * page_bytes < wanted.max) ++page;
    const uint64_t bytes = (page - begin) * page_bytes;
    if (bytes < wanted.run_min) continue;
    GM_ASSIGN(const bool done, data_.punch(begin * page_bytes, bytes));
    if (!done) {
      return fail(ErrorCode::kCommandNotSupported,
                  "the file system of " + data_.path().string() +
                      " cannot punch holes into files; `gridstore compact` rewrites the store "
                      "without free space while it is closed");
    }
    punched += bytes;
    if (punched >= wanted.max) {
      next_page = page;
      break;
    }
  }
  GM_ASSIGN(const uint64_t after, data_.allocated_bytes());
  return PunchedHoles{before - std::min(before, after), next_page};
}

}  // namespace gridmount::local
