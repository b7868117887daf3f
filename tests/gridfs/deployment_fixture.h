// A bucket of a FakeDeployment, and a table of its open files with a cache of chunks. bucket() is
// the same bucket in the local store behind the deployment. Through it, tests act as another
// process.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "gridfs/content/chunk_cache.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/gridfs/fake_deployment.h"

namespace gridmount::gridfs {

class DeploymentFixture : public BucketFixture {
 protected:
  explicit DeploymentFixture(int32_t chunk_bytes)
      : deployment_(store()), chunk_bytes_(chunk_bytes) {}

  void make_files(const ChunkCacheOptions& options) {
    shared_bucket_ =
        std::make_unique<Bucket>(deployment_, deployment_.database("test"), BucketOptions());
    cache_ = std::make_shared<ChunkCache>(deployment_, options);
    FileTableOptions table;
    table.chunk_cache = cache_;
    table.md5 = false;
    files_ = FileTable::create(*shared_bucket_, table);
  }
  // Uploads a file with that many chunks, of which the last is not full. content_ becomes its
  // random content.
  bson::Value upload_chunks(int count) {
    content_ = random_bytes(random_, static_cast<size_t>(count * chunk_bytes_ - 100));
    UploadOptions options;
    options.chunk_bytes = chunk_bytes_;
    return upload("file", content_, options);
  }
  // Changes content_ and writes it to the file, as another mount does, without telling files_.
  void replace_content(const bson::Value& id) {
    const auto others = FileTable::create(bucket(), {});
    const auto file = must(others->open(id));
    content_ = random_bytes(random_, content_.size());
    must(write(*file, 0, content_));
    must(file->flush());
    must(others->close(std::chrono::milliseconds(0)));
  }
  // Returns the number of snapshots that `work` takes. Each of them is a command of a deployment.
  int snapshots_of(const std::function<void()>& work) const {
    const int before = deployment_.snapshots();
    work();
    return deployment_.snapshots() - before;
  }

  FakeDeployment deployment_;
  std::mt19937_64 random_{test_seed()};
  std::unique_ptr<Bucket> shared_bucket_;
  std::shared_ptr<ChunkCache> cache_;
  std::unique_ptr<FileTable> files_;
  std::string content_;

 private:
  const int32_t chunk_bytes_;
};

}  // namespace gridmount::gridfs
