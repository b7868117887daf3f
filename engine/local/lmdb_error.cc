#include "engine/local/lmdb_error.h"

#include <lmdb.h>

#include <cerrno>
#include <string>

#include "engine/local/fault_scope.h"

namespace gridmount::local {
namespace {

struct Meaning {
  int code;
  ErrorCode error;
  const char* explanation;
};

constexpr Meaning kMeanings[] = {
    {ENOSPC, ErrorCode::kOutOfDiskSpace, "the disk is full; free some space and try again"},
    {EDQUOT, ErrorCode::kOutOfDiskSpace,
     "the disk quota is used up; free some space and try again"},
    {EFBIG, ErrorCode::kOutOfDiskSpace, "the file system or the process allows no larger file"},
    {MDB_MAP_FULL, ErrorCode::kOutOfDiskSpace,
     "the store has reached the largest size the address space reserved for it allows"},
    {EIO, ErrorCode::kIoError, "the device reported an input/output error"},
    {EACCES, ErrorCode::kPermissionDenied, "permission denied"},
    {EPERM, ErrorCode::kPermissionDenied, "operation not permitted"},
    {EROFS, ErrorCode::kStoreReadOnly, "the file system is mounted read-only"},
    {ENOMEM, ErrorCode::kOperationFailed,
     "out of memory or address space (see ulimit -v, vm.overcommit_memory)"},
    {EMFILE, ErrorCode::kOperationFailed, "too many open files (see ulimit -n)"},
    {ENFILE, ErrorCode::kOperationFailed, "too many open files in the system"},
    {MDB_TXN_FULL, ErrorCode::kTransactionTooLarge,
     "the transaction changes more pages than one transaction can; use several"},
    {MDB_READERS_FULL, ErrorCode::kOperationFailed, "too many snapshots are in use at a time"},
    {MDB_CORRUPTED, ErrorCode::kStoreDamaged,
     "a page of data.mdb is damaged; run 'gridstore check' and restore from a backup"},
    {MDB_PAGE_NOTFOUND, ErrorCode::kStoreDamaged,
     "data.mdb refers to a page it does not have; restore from a backup"},
    {MDB_INCOMPATIBLE, ErrorCode::kStoreDamaged,
     "the entry of one of data.mdb's trees is damaged; restore from a backup"},
    {MDB_CURSOR_FULL, ErrorCode::kStoreDamaged,
     "a tree of data.mdb is impossibly deep; restore from a backup"},
    {MDB_INVALID, ErrorCode::kStoreDamaged, "data.mdb is not an LMDB file"},
    {MDB_VERSION_MISMATCH, ErrorCode::kStoreDamaged, "data.mdb has another LMDB version"},
    {kLmdbFault, ErrorCode::kStoreDamaged,
     "a page of data.mdb is damaged, so that LMDB could not go on; run 'gridstore check' and "
     "restore from a backup"},
    {MDB_PANIC, ErrorCode::kWritesRefused,
     "an earlier write to data.mdb failed half-way; reopen the store"},
    {MDB_BAD_TXN, ErrorCode::kOperationFailed, "an earlier error ended the transaction"},
    {MDB_BAD_VALSIZE, ErrorCode::kInternalError, "a key or value has a size LMDB does not take"},
};

}  // namespace

Error lmdb_error(int code, std::string_view what) {
  std::string message(what);
  for (const Meaning& meaning : kMeanings) {
    if (meaning.code == code) {
      return Error(meaning.error, message + ": " + meaning.explanation);
    }
  }
  message += ": ";
  message += mdb_strerror(code);
  // Positive numbers are the operating system's, negative ones LMDB's.
  return Error(code > 0 ? ErrorCode::kOperationFailed : ErrorCode::kInternalError,
               std::move(message));
}

}  // namespace gridmount::local
