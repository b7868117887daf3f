// The state that the open files of one table share.
//
// The locks of this directory, with the numbers of the table in ARCHITECTURE.md, chapter "Locks". A
// thread that holds a lock may take only locks with higher numbers.
// 5. The locks OpenFiles::opening_: one thread at a time opens a file. Held while the files
//    document is read, and while the thread waits for a transaction that removes the file.
// 5. OpenFile::write_mutex_: one writer of a file at a time. Held while the writer waits for
//    memory, reads the store, and commits: in zero(), or to get room on the disk or memory.
// 6. The commit lock of a file (OpenFile::committing_, class CommitLock). This lock keeps the
//    commits of one file in order, so a thread holds it during the whole transaction. A thread that
//    holds a commit lock may remove the chunks of other files, because the removal needs no commit
//    lock.
// 6. Writeback::releasing_, taken after a commit lock. Held while OpenFile objects of removed files
//    are destroyed.
// 7. OpenFile::mutex_: the state of one file. Held for moments, while a snapshot is taken, while
//    the rest of a chunk is read from a short snapshot, and while holes are looked up in the store.
// 9. OpenFiles::mutex_: the table of open files.
// 10. The mutexes of Writeback, BackgroundWork, ChunkMemory, ChunkCache, HashStream, HashThread and
//     BackgroundThread.
//
// A thread that has a transaction (lock 8) may take 9 and 10, but must never take 5 to 7: the
// thread that holds one of these may be waiting for the end of the transaction.
//
// The thread that drops the last reference to an OpenFile destroys it, and the destructor takes 9
// and 10. So a thread must hold none of 7, 9 and 10 when it drops a reference.
//
// Thread-safe.
#pragma once

#include <memory>

#include "gridfs/bucket/bucket.h"
#include "gridfs/content/background_work.h"
#include "gridfs/content/chunk_memory.h"
#include "gridfs/content/file.h"
#include "gridfs/content/hash_stream.h"
#include "gridfs/content/open_files.h"
#include "gridfs/content/orphan_leases.h"
#include "gridfs/content/writeback.h"

namespace gridmount::gridfs {

struct FileContext {
  FileContext(const Bucket& the_bucket, const FileTableOptions& the_options);

  // Returns true if the store has less than 256 MiB of available space. The caller should then free
  // removed chunks immediately, for the next writer. Returns false if the space is unknown.
  bool is_room_scarce() const;
  // Deletes the chunks of all files that have no name and are not open. Returns when the chunks are
  // deleted, or their removal has failed. The caller must not have a transaction.
  void reclaim_removed_files();
  // Must be called only after a commit of `bytes` bytes has failed because the disk is full. Calls
  // reclaim_removed_files(). Returns true if the store now has at least `bytes` bytes of available
  // space.
  bool make_room(uint64_t bytes);

  const Bucket& bucket;
  const FileTableOptions options;  // md5 is false if OpenSSL has no MD5
  const std::shared_ptr<ChunkMemory> memory;
  OpenFiles open_files;
  HashThread hasher;
  BackgroundWork background_work;
  Writeback writeback;
  OrphanLeases leases;
};

}  // namespace gridmount::gridfs
