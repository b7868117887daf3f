// One file against its chunks: given the files document, then the chunks in the order of n.
//
// Source of the rules: GridFS specification. Chunks n = 0, 1, ... hold chunkSize bytes each, the
// last one the rest of the length; in a file marked sparse (metadata.sparse) an absent chunk stands
// for zeros, and metadata.storedChunks, if there, is how many are not; md5, if there, is the
// content's.
// Thread-safety: used by one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "gridfs/bucket/files_document.h"
#include "gridfs/bucket/md5.h"
#include "tools/gridstore/check/findings.h"

namespace gridmount::tools {

// Chunks from <= n < to of a file that was cut and whose garbage has not been removed yet (see
// gridfs/bucket/bucket.h on `detached`).
struct Garbage {
  int64_t from = 0;
  int64_t to = 0;
};

// What is wrong with a file, for whoever mends it.
struct FileVerdict {
  bool content = false;      // its chunks, its length or its document as a whole
  bool upload_date = false;  // missing or no date
  bool md5 = false;          // another than the content's, or none at all
  // metadata.storedChunks should be that.
  bool stored_chunks = false;
  int64_t chunks = 0;  // within the length
  std::vector<std::string> problems;

  bool sound() const { return problems.empty(); }
};

class FileCheck {
 public:
  // `place` names the bucket; the file is added to it. `document` is not kept.
  FileCheck(Findings& findings, Place place, bson::View document, Garbage garbage);

  // A chunk of this file. Chunks without a whole number as n come in any order.
  void add_chunk(bson::View chunk);

  // After the last chunk. One line per kind of problem, however many chunks have it.
  void finish();

  // After finish().
  const FileVerdict& verdict() const { return verdict_; }
  const Place& place() const { return place_; }

 private:
  // Which chunks have a problem: the first few in words, the others by number.
  class Chunks {
   public:
    void add(std::string words, uint64_t count = 1);
    bool any() const { return count_ > 0; }
    std::string text() const;

   private:
    std::vector<std::string> first_;
    uint64_t count_ = 0;
    uint64_t shown_ = 0;
  };

  void check_document(bson::View document);
  void pass_gap(int64_t until);
  void add_data(int64_t n, bson::View chunk);
  int64_t expected_bytes(int64_t n) const;
  void problem(bool FileVerdict::*about, const std::string& what);

  Findings& findings_;
  Place place_;
  FileVerdict verdict_;
  std::optional<gridfs::FilesDocument> file_;  // none: its document is unusable
  std::optional<gridfs::Md5> md5_;             // while the content read so far is whole
  Garbage garbage_;
  std::optional<std::string> stored_chunks_;  // metadata.storedChunks of a sparse file, as JSON
  uint64_t garbage_chunks_ = 0;
  int64_t next_n_ = 0;
  uint64_t bytes_ = 0;  // in all chunks
  uint64_t chunks_without_file_ = 0;
  Chunks missing_;
  Chunks wrong_size_;
  Chunks duplicate_;
  Chunks beyond_end_;
  Chunks unreadable_;
};

}  // namespace gridmount::tools
