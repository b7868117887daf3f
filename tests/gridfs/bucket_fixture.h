// A store on disk with its own bucket for each test, and the verbs that the tests of gridfs/ share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/local/open_store.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "gridfs/bucket/chunk_size.h"
#include "gridfs/bucket/error.h"
#include "gridfs/content/file.h"
#include "tests/must.h"

namespace gridmount::gridfs {

// Returns the error's code, or nothing.
template <typename T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  if (result) return std::nullopt;
  return result.error().code();
}

std::span<const uint8_t> bytes_of(const std::string& text);
std::string text_of(const ReadResult& read);
std::string random_bytes(std::mt19937_64& random, size_t size);
// Computes the digest with OpenSSL itself, and not with the code under test.
std::string md5_of(const std::string& bytes);

// Returns the seed of a random test: GRIDMOUNT_TEST_SEED, or a new one. The caller prints the seed
// when the test fails.
uint64_t test_seed();

class BucketFixture : public ::testing::Test {
 protected:
  BucketFixture();
  ~BucketFixture() override;

  engine::Store& store() { return *store_; }
  const Bucket& bucket() { return *bucket_; }
  // Closes the store, as a program does at its end, and opens it again.
  void reopen(const BucketOptions& options = {});
  // Opens the store again with this size limit.
  void limit(uint64_t bytes);
  // Opens the store again. A batch of transactions then ends when it is full, and not with time.
  void keep_batches_open();

  // Runs `work` in a transaction and commits it.
  template <typename Work>
  void change(const Work& work) {
    const auto transaction = must(store().begin());
    work(*transaction);
    must(transaction->commit());
  }

  // --- Changes that drivers make.
  bson::Value upload(const std::string& name, const std::string& bytes,
                     const UploadOptions& options = {});
  Result<std::string> download(bson::ValueView id, std::optional<ByteRange> range = {});
  // Inserts documents as given, without checks.
  void insert_file(const bson::Document& files_document);
  // Makes the index that earlier versions made with a bucket's first link. Must be called before a
  // namespace is opened.
  void make_index_of_aliases();
  void insert_chunk(bson::ValueView files_id, int32_t n, const std::string& bytes);

  // --- The contents of the store.
  std::optional<bson::Document> files_document(bson::ValueView id);
  FilesDocument file(bson::ValueView id);
  int64_t count(engine::Collection& collection);
  // Returns everything that contradicts the specification or our own invariants, one line each.
  // Reads documents directly. A null `snapshot` means a new one.
  std::vector<std::string> problems(engine::Snapshot* snapshot = nullptr);
  // Returns the content that the documents have. Missing chunks are zeros.
  std::string content(engine::Snapshot& snapshot, bson::ValueView id);

  // --- Files.
  // Inserts a files document of length 0, as the path namespace does, and returns its _id.
  bson::Value create(const std::string& name, int32_t chunk_bytes = kDefaultChunkBytes);
  static std::string read_all(File& file);
  static Status write(File& file, int64_t offset, const std::string& bytes) {
    return file.write(offset, bytes_of(bytes), TimeUpdate::kNow);
  }
  // Waits up to ten seconds for the store to show an md5 of the file.
  std::optional<std::string> await_md5(bson::ValueView id);

 private:
  void find_wrong_links(engine::Snapshot& snapshot, std::vector<std::string>& found);
  void open(bool create, const BucketOptions& options);

  std::filesystem::path folder_;
  uint64_t size_limit_ = 0;
  bool keeps_batches_open_ = false;
  std::unique_ptr<engine::Store> store_;
  std::unique_ptr<Bucket> bucket_;
};

}  // namespace gridmount::gridfs
