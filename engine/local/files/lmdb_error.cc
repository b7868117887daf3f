#include "engine/local/files/lmdb_error.h"

#include <lmdb.h>

#include <string>

#include "engine/local/files/fault_scope.h"
#include "engine/system/system_error.h"

namespace gridmount::local {
namespace {

struct Meaning {
  int code;
  ErrorCode error;
  const char* explanation;
};

constexpr Meaning kMeanings[] = {
    {MDB_MAP_FULL, ErrorCode::kOutOfDiskSpace,
     "the store has reached the largest size the address space reserved for it allows"},
    {kOverSizeLimit, ErrorCode::kOutOfDiskSpace,
     "the store would become larger than its size limit; remove something, or raise the limit"},
    {MDB_TXN_FULL, ErrorCode::kTransactionTooLarge,
     "the transaction changes more pages than one transaction can; use several"},
    {MDB_READERS_FULL, ErrorCode::kOperationFailed, "too many snapshots are in use at a time"},
    {MDB_CORRUPTED, ErrorCode::kStoreDamaged,
     "a page of data.mdb is damaged; run 'gridstore check --repair', or restore from a backup"},
    {MDB_PAGE_NOTFOUND, ErrorCode::kStoreDamaged,
     "data.mdb refers to a page it does not have; restore from a backup"},
    {MDB_INCOMPATIBLE, ErrorCode::kStoreDamaged,
     "the entry of one of data.mdb's trees is damaged; restore from a backup"},
    {MDB_CURSOR_FULL, ErrorCode::kStoreDamaged,
     "a tree of data.mdb is impossibly deep; restore from a backup"},
    {MDB_INVALID, ErrorCode::kStoreDamaged, "data.mdb is not an LMDB file"},
    {MDB_VERSION_MISMATCH, ErrorCode::kStoreDamaged, "data.mdb has another LMDB version"},
    {kLmdbFault, ErrorCode::kStoreDamaged,
     "a page of data.mdb is damaged, so that LMDB could not go on; run 'gridstore check "
     "--repair', or restore from a backup"},
    {kLmdbStale, ErrorCode::kWritesRefused,
     "the map of data.mdb does not show what was committed last: its file system's mappings do not "
     "follow what is written there, so it is not suitable for a store, or another program has "
     "written to it. Close the store and move it to another file system, such as ext4"},
    {MDB_PANIC, ErrorCode::kWritesRefused,
     "an earlier write to data.mdb was incomplete; reopen the store"},
    {MDB_BAD_TXN, ErrorCode::kOperationFailed, "an earlier error ended the transaction"},
    {MDB_BAD_VALSIZE, ErrorCode::kInternalError,
     "a key or value has a size that LMDB does not support"},
};

}  // namespace

Error lmdb_error(int code, std::string_view what) {
  if (code > 0) return system::system_error(code, what);
  const std::string message = std::string(what) + ": ";
  for (const Meaning& meaning : kMeanings) {
    if (meaning.code == code) return Error(meaning.error, message + meaning.explanation);
  }
  return Error(ErrorCode::kInternalError, message + mdb_strerror(code));
}

}  // namespace gridmount::local
