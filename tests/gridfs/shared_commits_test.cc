// Goal: changes of names and commits of small files share LMDB commits, also if there are look-ups
// between them. Every look-up sees the changes at once.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

class SharedCommitsTest : public BucketFixture {
 protected:
  SharedCommitsTest() { open_namespace(); }
  ~SharedCommitsTest() override { EXPECT_TRUE(namespace_->close()); }

  void open_namespace() {
    namespace_ =
        must(PathNamespace::open(store(), store().database("test"), bucket().options(), {}, {}));
  }
  // The number of LMDB's commits, because each gets the next version. Ends a batch.
  uint64_t commits() { return *must(store().snapshot())->version(); }

  Status write_file(const std::string& directory, const std::string& name,
                    const std::string& content) {
    GM_ASSIGN(const PathNamespace::OpenedFile made,
              namespace_->create_open_file(directory, name, 0644, {}));
    GM_TRY(made.file->write(0, bytes_of(content), TimeUpdate::kNow));
    return made.file->flush();
  }

  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(SharedCommitsTest, SmallFiles_WithLookUpsBetween) {
  constexpr int kFiles = 200;
  must(namespace_->close());
  namespace_.reset();
  keep_batches_open();
  open_namespace();
  must(namespace_->mkdir("", "d", 0755, {}));
  const uint64_t before = commits();
  for (int i = 0; i < kFiles; ++i) {
    const std::string name = "f" + std::to_string(i);
    EXPECT_FALSE(namespace_->lookup("d", name));
    ASSERT_TRUE(write_file("d", name, name));
    EXPECT_EQ(must(namespace_->lookup("d", name)).attributes.size,
              static_cast<int64_t>(name.size()));
    EXPECT_EQ(must(namespace_->get_directory("d")).kind, NodeKind::kDirectory);
  }
  // Each file has two transactions, or one for its removal.
  const uint64_t written = commits();
  EXPECT_LT(written, before + kFiles / 10);
  for (int i = 0; i < kFiles; ++i) {
    ASSERT_TRUE(namespace_->unlink("d", "f" + std::to_string(i)));
    EXPECT_FALSE(namespace_->lookup("d", "f" + std::to_string(i)));
  }
  EXPECT_LT(commits(), written + kFiles / 10);
}

// The lock of an open file is held over reads, so nothing that reads may wait for it (S6). If it
// did, this test would not end.
TEST_F(SharedCommitsTest, ReadersOfOpenFiles_BesideChangesOfTheirNames) {
  constexpr int kRounds = 100;
  const std::string content(600'000, 'x');
  ASSERT_TRUE(write_file("", "a", content));
  const std::shared_ptr<File> file =
      must(namespace_->open_file(must(namespace_->lookup("", "a")).id));
  std::atomic<bool> done = false;
  std::atomic<int> failed = 0;
  std::vector<std::thread> others;
  others.emplace_back([&] {
    for (int64_t at = 0; !done; at = (at + 100'000) % 500'000) {
      const Result<ReadResult> read = file->read(at, 4096);
      if (!read) ++failed;
    }
  });
  others.emplace_back([&] {
    while (!done) {
      if (!namespace_->file(file->id())) ++failed;
      const Result<Node> found = namespace_->lookup("", "a");
      if (found && found->attributes.size < 600'000) ++failed;
    }
  });
  others.emplace_back([&] {
    while (!done) {
      if (!file->write(5, bytes_of("y"), TimeUpdate::kNow) || !file->flush()) ++failed;
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_TRUE(namespace_->rename("", "a", "", "b", RenameMode::kReplace));
    EXPECT_TRUE(write_file("", "c", "1"));
    EXPECT_TRUE(namespace_->rename("", "c", "", "d", RenameMode::kReplace));
    EXPECT_TRUE(namespace_->rename("", "b", "", "a", RenameMode::kReplace));
    EXPECT_TRUE(namespace_->unlink("", "d"));
  }
  done = true;
  for (std::thread& other : others) other.join();
  EXPECT_EQ(failed, 0);
}

// Several threads change one directory while others read its attributes. At the end the directory
// shows what the store has.
TEST_F(SharedCommitsTest, ChangesOfOneDirectory_LeaveNoOldAttributesInMemory) {
  constexpr int kRounds = 200;
  NamespaceOptions options;
  options.changes_by_others = std::make_shared<ChangesByOthers>();
  options.access_times = AccessTimeMode::kAll;
  options.strict_access_times = true;
  const auto caching =
      must(PathNamespace::open(store(), store().database("test"), bucket().options(), options, {}));
  must(caching->mkdir("", "d", 0755, {}));
  std::atomic<int> failed = 0;
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      if (!caching->get_directory("d")) ++failed;
      caching->record_read("d");
    }
  });
  std::vector<std::thread> writers;
  for (const char* const name : {"a", "b"}) {
    writers.emplace_back([&, name] {
      for (int round = 0; round < kRounds; ++round) {
        if (!caching->create_file("d", name, 0644, {}) || !caching->unlink("d", name)) ++failed;
      }
    });
  }
  for (uint32_t round = 0; round < kRounds; ++round) {
    AttributeChanges changes;
    changes.permissions = 0700 + round % 8;
    const Result<Node> changed = caching->setattr_directory("d", changes);
    const Result<Node> shown = caching->get_directory("d");
    if (!changed || !shown || shown->attributes.mode != changed->attributes.mode) ++failed;
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  reader.join();
  EXPECT_EQ(failed, 0);
  const Attributes shown = must(caching->get_directory("d")).attributes;
  const Attributes stored = must(namespace_->get_directory("d")).attributes;
  EXPECT_EQ(shown.mode, stored.mode);
  EXPECT_EQ(shown.mtime.tv_sec, stored.mtime.tv_sec);
  EXPECT_EQ(shown.mtime.tv_nsec, stored.mtime.tv_nsec);
  EXPECT_TRUE(caching->close());
}

TEST_F(SharedCommitsTest, ReplacedOpenFile_ShowsItsUncommittedState) {
  const PathNamespace::OpenedFile open = must(namespace_->create_open_file("", "old", 0640, {}));
  const std::vector<uint8_t> bytes(1000, 'x');
  ASSERT_TRUE(open.file->write(0, bytes, TimeUpdate::kNow));
  ASSERT_TRUE(write_file("", "new", "1"));
  const std::optional<RemovedName> replaced =
      must(namespace_->rename("", "new", "", "old", RenameMode::kReplace));
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->node.attributes.size, 1000);
  EXPECT_EQ(replaced->node.attributes.nlink, 0U);
  EXPECT_EQ(replaced->node.attributes.mode & 07777, 0640U);
  const RemovedName removed = must(namespace_->unlink("", "old"));
  EXPECT_EQ(removed.node.attributes.size, 1);
  EXPECT_EQ(removed.node.attributes.nlink, 0U);
}

}  // namespace
}  // namespace gridmount::gridfs
