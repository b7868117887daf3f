#include "engine/local/storage/size_limit.h"

#include <cstddef>
#include <limits>

#include "engine/local/files/lmdb_error.h"
#include "engine/local/storage/lmdb_opening.h"

namespace gridmount::local {
namespace {

// The beginning of LMDB's struct MDB_txn, which is not part of LMDB's interface. check() verifies
// the layout. `next_page` is the number of the first page after the end that the file would have
// after the commit.
struct TransactionHead {
  const void* parent;
  const void* child;
  size_t next_page;
};

const TransactionHead& head_of(MDB_txn* txn) {
  return *reinterpret_cast<const TransactionHead*>(txn);
}

// Returns the number of pages in the file, as of the last commit.
uint64_t pages_of(MDB_env* env) {
  MDB_envinfo info;
  mdb_env_info(env, &info);
  return info.me_last_pgno + 1;
}

}  // namespace

Status SizeLimit::check() const {
  if (bytes_ == 0) return {};
  MDB_txn* txn = nullptr;
  if (const int code = mdb_txn_begin(env_, nullptr, 0, &txn); code != MDB_SUCCESS) {
    return fail(lmdb_error(code, "measuring a transaction"));
  }
  const TransactionHead& head = head_of(txn);
  const bool is_known =
      head.parent == nullptr && head.child == nullptr && head.next_page == pages_of(env_);
  mdb_txn_abort(txn);
  if (is_known) return {};
  return fail(ErrorCode::kOperationFailed,
              std::string("a size limit cannot be enforced with this version of LMDB (") +
                  mdb_version(nullptr, nullptr, nullptr) + ")");
}

bool SizeLimit::allows(MDB_txn* txn) const {
  if (bytes_ == 0) return true;
  const uint64_t pages = head_of(txn).next_page;
  return pages <= pages_of(env_) || pages * page_bytes_of(env_) <= bytes_;
}

uint64_t SizeLimit::left() const {
  if (bytes_ == 0) return std::numeric_limits<uint64_t>::max();
  const uint64_t size = pages_of(env_) * page_bytes_of(env_);
  return bytes_ > size ? bytes_ - size : 0;
}

SpaceReserve::Room SizeLimit::room() const {
  const uint64_t bytes = left();
  if (bytes >= SpaceReserve::kScarceBytes) return SpaceReserve::Room::kEnough;
  return bytes >= SpaceReserve::kBytes ? SpaceReserve::Room::kScarce : SpaceReserve::Room::kNone;
}

}  // namespace gridmount::local
