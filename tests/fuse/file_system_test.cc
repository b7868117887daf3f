// Goal: the file system finds out what clients' changes make wrong in the kernel's cache, whatever
// can be read of them, and reports nothing after its end.
// Method: a FileSystem without a kernel. The test makes the kernel's requests, and tells the file
// system of changes as a WatchedStore does.
#include "fuse/tree/file_system.h"

#include <gmock/gmock.h>

#include <atomic>

#include "tests/forwarding_store.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::fuse {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

class UnreadableStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::unique_ptr<engine::Snapshot>> snapshot() override {
    if (fails_) return fail(ErrorCode::kIoError, "the disk fails");
    return inner().snapshot();
  }
  void fail_snapshots(bool fails) { fails_ = fails; }

 private:
  std::atomic<bool> fails_ = false;
};

// Records what the kernel is told.
class RecordedCache final : public KernelCache {
 public:
  void invalidate_inode(uint64_t ino) override { nodes.insert(ino); }
  void invalidate_entry(uint64_t parent, const std::string& name) override {
    names.emplace(parent, name);
  }
  void expire_entry(uint64_t parent, const std::string& name) override {
    invalidate_entry(parent, name);
  }

  std::set<uint64_t> nodes;
  std::set<std::pair<uint64_t, std::string>> names;
};

class FileSystemTest : public gridfs::BucketFixture {
 protected:
  FileSystemTest() : unreadable_(store()), buckets_(unreadable_, settings()) {}
  ~FileSystemTest() override {
    if (is_closed_) return;
    EXPECT_TRUE(close());
  }

  static BucketSettings settings() {
    BucketSettings settings;
    settings.database = "test";
    return settings;
  }
  // Shows the bucket at the root of the mount, or the root of buckets.
  FileSystem& mount(bool bucket_is_root) {
    file_system_ = std::make_unique<FileSystem>(
        buckets_, bucket_is_root ? must(buckets_.find("fs")) : nullptr);
    return *file_system_;
  }
  // Reports the changes of one transaction in the bucket.
  RecordedCache report(BucketChanges changes) {
    RecordedCache cache;
    file_system_->changed_externally({{"fs", std::move(changes)}}).invalidate(cache);
    return cache;
  }
  static BucketChanges everything() {
    BucketChanges changes;
    changes.everything = true;
    return changes;
  }
  Status close() {
    is_closed_ = true;
    return file_system_->close();
  }
  UnreadableStore& unreadable() { return unreadable_; }
  Buckets& buckets() { return buckets_; }

 private:
  UnreadableStore unreadable_;
  Buckets buckets_;
  std::unique_ptr<FileSystem> file_system_;
  bool is_closed_ = false;
};

TEST_F(FileSystemTest, ManyChanges_InABucketAtTheRoot_InvalidateNamesThatHaveGone) {
  const bson::Value id = upload("gone", "content");
  upload("renamed", "content");
  FileSystem& file_system = mount(true);
  must(file_system.lookup(kRootNode, "gone"));
  must(file_system.lookup(kRootNode, "renamed"));
  must(file_system.rename(kRootNode, "renamed", kRootNode, "again", {}, {}));
  must(bucket().remove(id));
  must(bucket().remove_by_name("again"));
  EXPECT_FALSE(file_system.lookup(kRootNode, "absent"));
  upload("absent", "content");
  const RecordedCache cache = report(everything());
  for (const char* name : {"gone", "again", "absent"}) {
    EXPECT_THAT(cache.names, Contains(Pair(kRootNode, name)));
  }
}

TEST_F(FileSystemTest, ManyChanges_InABucketFolder_InvalidateItsName) {
  upload("file", "content");
  FileSystem& file_system = mount(false);
  const EntryReply folder = must(file_system.lookup(kRootNode, "fs"));
  must(file_system.lookup(folder.ino, "file"));
  EXPECT_THAT(report(everything()).names, Contains(Pair(kRootNode, "fs")));
}

TEST_F(FileSystemTest, ChangedContent_WhoseLinksCannotBeRead_InvalidatesEveryName) {
  const bson::Value id = upload("file", "content");
  FileSystem& file_system = mount(true);
  const EntryReply file = must(file_system.lookup(kRootNode, "file"));
  must(file_system.link(file.ino, kRootNode, "link"));
  BucketChanges changes;
  changes.content.push_back(id);
  unreadable().fail_snapshots(true);
  const RecordedCache cache = report(changes);
  unreadable().fail_snapshots(false);
  EXPECT_THAT(cache.names, Contains(Pair(kRootNode, "link")));
}

TEST_F(FileSystemTest, Closed_ReportsNothing_AndOpensNoBucket) {
  upload("file", "content");
  FileSystem& file_system = mount(true);
  must(file_system.lookup(kRootNode, "file"));
  EXPECT_THAT(report(everything()).nodes, Not(IsEmpty()));
  must(close());
  const RecordedCache cache = report(everything());
  EXPECT_THAT(cache.nodes, IsEmpty());
  EXPECT_THAT(cache.names, IsEmpty());
  EXPECT_EQ(buckets().find_opened("fs"), nullptr);
}

}  // namespace
}  // namespace gridmount::fuse
