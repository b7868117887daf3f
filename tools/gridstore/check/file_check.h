// Checks one file against its chunks. The caller passes the files document and then the chunks in
// the order of n.
//
// Source of the rules: GridFS specification. Chunks n = 0, 1, ... hold chunkSize bytes each, and
// the last one holds the rest of the length. In a file marked as sparse (metadata.sparse) a missing
// chunk stands for zeros, and metadata.storedChunks, if present, is the number of existing chunks.
// If md5 is present, it is the digest of the content. It is not checked if a file that is not
// sparse lacks a chunk, if a chunk has no data of the right size, if the holes of a sparse file are
// too large, or if OpenSSL refuses MD5.
//
// Not thread-safe.
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

// Chunks with from <= n < to that remain of a truncated file until they are reclaimed (see
// gridfs/bucket/bucket.h on `detached`).
struct Garbage {
  int64_t from = 0;
  int64_t to = 0;
};

// What is wrong with a file, for a repair. A bool is true if the part of the file that it names is
// wrong.
struct FileVerdict {
  bool content = false;      // the chunks, the length, or the document as a whole
  bool upload_date = false;  // uploadDate is missing or not a date
  bool md5 = false;          // md5 differs from the content's digest, or is not a digest
  // metadata.storedChunks is wrong. `chunks` is the correct value.
  bool stored_chunks = false;
  int64_t chunks = 0;  // number of chunks within the length
  std::vector<std::string> problems;

  bool sound() const { return problems.empty(); }
};

class FileCheck {
 public:
  // `place` names the bucket. The constructor adds the file's _id and name to it, and reports the
  // problems of the document. `findings` must outlive this object, but `document` need not.
  FileCheck(Findings& findings, Location place, bson::View document, Garbage garbage);

  // Adds a chunk of this file. Chunks whose n is not a whole number may come in any order.
  void add_chunk(bson::View chunk);

  // Must be called after the last chunk. Reports each kind of problem in one line, however many
  // chunks have it.
  void finish();

  // Valid after finish().
  const FileVerdict& verdict() const { return verdict_; }
  const Location& place() const { return place_; }

 private:
  // The chunks that have one kind of problem: descriptions of the first few and the number of the
  // others.
  class ChunkProblem {
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
  // Hashes a hole of a sparse file as zeros. If the holes are too large, gives a notice and does
  // not check the md5.
  void hash_hole(int64_t bytes);
  void add_data(int64_t n, bson::View chunk);
  int64_t expected_bytes(int64_t n) const;
  void problem(bool FileVerdict::*about, const std::string& what);

  Findings& findings_;
  Location place_;
  FileVerdict verdict_;
  std::optional<gridfs::FilesDocument> file_;  // empty if the document is unusable
  std::optional<gridfs::Md5> md5_;             // set as long as the content read so far is complete
  Garbage garbage_;
  std::optional<std::string> stored_chunks_;  // metadata.storedChunks of a sparse file, as JSON
  uint64_t garbage_chunks_ = 0;
  int64_t next_n_ = 0;
  uint64_t bytes_ = 0;  // in the chunks, without duplicates and garbage
  int64_t hashed_hole_bytes_ = 0;
  uint64_t chunks_without_file_ = 0;
  ChunkProblem missing_;
  ChunkProblem wrong_size_;
  ChunkProblem duplicate_;
  ChunkProblem beyond_end_;
  ChunkProblem unreadable_;
};

}  // namespace gridmount::tools
