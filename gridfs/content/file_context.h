// What the open files of one table share.
//
// Lock order in this folder, outermost first; none is taken while one further down is held:
//   1. OpenFile::write_mutex_      one writer of a file at a time; held over waiting for memory,
//                                  over reads of the store, and over the commits of zero()
//   2. the commit turn of a file   (OpenFile::committing_) held over a transaction, as it is what
//                                  keeps the commits of one file in order, and over the removal of
//                                  other files' chunks, which needs no turn
//      then Committer::letting_go_, over the end of files that nobody has open
//   3. OpenFiles::mutex_           the table of open files
//   4. OpenFile::mutex_            a file's state, held for moments
//   5. the mutexes of Committer, Aftercare, ChunkMemory, HashStream, HashThread, BackgroundThread
// A thread that holds a transaction may take 3 to 5, never 1 or 2: those may be waiting for it.
// An OpenFile may be destroyed by whoever lets go of it last, which takes 3; so references are
// dropped with none of 3 to 5 held.
#pragma once

#include <memory>

#include "gridfs/bucket/bucket.h"
#include "gridfs/content/aftercare.h"
#include "gridfs/content/chunk_memory.h"
#include "gridfs/content/committer.h"
#include "gridfs/content/file.h"
#include "gridfs/content/hash_stream.h"
#include "gridfs/content/open_files.h"

namespace gridmount::gridfs {

struct FileContext {
  FileContext(const Bucket& the_bucket, const FileTableOptions& the_options);

  // So little that what is removed should be free at once for whoever writes next.
  bool is_room_scarce() const;
  // Returns when the chunks of files that were removed, and that nobody has open, are removed, too.
  // No transaction may be held.
  void remove_what_is_gone();
  // After a commit of so many bytes has met a full disk: the same, and whether there should be room
  // then.
  bool make_room(uint64_t bytes);

  const Bucket& bucket;
  const FileTableOptions options;  // md5 is false also if this machine has none
  const std::shared_ptr<ChunkMemory> memory;
  OpenFiles open_files;
  HashThread hasher;
  Aftercare aftercare;
  Committer committer;
};

}  // namespace gridmount::gridfs
