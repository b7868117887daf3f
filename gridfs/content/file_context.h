// The state that the open files of one table share.
//
// Lock order in this directory, outermost first. A thread takes no lock while it holds one further
// down:
// 1. OpenFile::write_mutex_: one writer of a file at a time. Held while the writer waits for
//    memory, reads the store, and commits in zero().
// 2. The commit lock of a file (OpenFile::committing_, class CommitLock). It keeps the commits of
//    one file in order, so it is held over a transaction. Removing other files' chunks takes no
//    further commit lock, so it may happen while this one is held.
// 3. Writeback::releasing_, held while removed files that nobody has open are destroyed.
// 4. OpenFiles::mutex_: the table of open files.
// 5. OpenFile::mutex_: the state of one file. Held for moments only.
// 6. The mutexes of Writeback, BackgroundWork, ChunkMemory, HashStream, HashThread and
//    BackgroundThread.
//
// A thread that has a transaction may take 4 to 6, but never 1 to 3: their holder may be waiting
// for the end of that transaction.
//
// The thread that drops the last reference to an OpenFile destroys it, and the destructor takes 4.
// So a thread drops references only while it holds none of 4 to 6.
//
// Thread-safe, as its members are.
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

  // Returns true if there is so little free space that removed chunks should be freed at once, for
  // the next writer.
  bool is_room_scarce() const;
  // Removes the chunks of all removed files that nobody has open, and returns when they are
  // removed. The caller must not have a transaction.
  void remove_what_is_gone();
  // Called after a commit of `bytes` bytes has failed because the disk is full. Calls
  // remove_what_is_gone() and returns true if there should be room now.
  bool make_room(uint64_t bytes);

  const Bucket& bucket;
  const FileTableOptions options;  // md5 is false too if this machine has no MD5
  const std::shared_ptr<ChunkMemory> memory;
  OpenFiles open_files;
  HashThread hasher;
  BackgroundWork background_work;
  Writeback writeback;
  OrphanLeases leases;
};

}  // namespace gridmount::gridfs
