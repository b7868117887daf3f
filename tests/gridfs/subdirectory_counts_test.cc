// Goal: a directory has a link count of 2 plus the number of its subdirectories, or 1, and never
// another one. Directories made since the bucket was opened have the exact count as long as nobody
// else implies any subdirectories.
// Method: each change alone, then random changes compared with the listing. Changes by others are
// documents, reported as the mount reports them.

#include "gridfs/namespace/subdirectory_counts.h"

#include <gmock/gmock.h>

#include "tests/gridfs/bucket_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

constexpr Creator kCreator{1, 2, 0};

class SubdirectoryCountsTest : public BucketFixture {
 protected:
  SubdirectoryCountsTest() { mount(); }
  ~SubdirectoryCountsTest() override { EXPECT_TRUE(namespace_->close()); }

  void mount() {
    if (namespace_) must(namespace_->close());
    namespace_ =
        must(PathNamespace::open(store(), store().database("test"), bucket().options(), {}, {}));
  }
  PathNamespace& paths() { return *namespace_; }

  void make(const std::string& folder, const std::string& name) {
    must(paths().mkdir(folder, name, 0755, kCreator));
  }
  void move(const std::string& from, const std::string& name, const std::string& to,
            const std::string& new_name, RenameMode mode = RenameMode::kReplace) {
    must(paths().rename(from, name, to, new_name, mode));
  }
  uint32_t links(const std::string& path) {
    return must(paths().get_directory(path)).attributes.nlink;
  }
  uint32_t listed(const std::string& path) {
    uint32_t folders = 0;
    const auto listing = must(paths().list(path));
    while (const auto entry = must(listing->next())) {
      folders += entry->node.kind == NodeKind::kDirectory ? 1 : 0;
      if (entry->node.kind == NodeKind::kDirectory) {
        EXPECT_EQ(entry->node.attributes.nlink, links(entry->node.path)) << entry->node.path;
      }
    }
    return folders;
  }
  // Uploads like a driver, and reports the change like the mount.
  bson::Value upload_beside(const std::string& filename) {
    const bson::Value id = upload(filename, "");
    paths().name_changed_externally(filename);
    return id;
  }

 private:
  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(SubdirectoryCountsTest, MakingAndRemoving) {
  make("", "a");
  EXPECT_EQ(links("a"), 2U);
  make("a", "b");
  make("a", "c");
  EXPECT_EQ(links("a"), 4U);
  must(paths().create_file("a", "file", 0644, kCreator));
  EXPECT_EQ(links("a"), 4U);
  must(paths().rmdir("a", "b"));
  EXPECT_EQ(links("a"), 3U);
  EXPECT_EQ(links(""), 1U) << "it was there before";
}

TEST_F(SubdirectoryCountsTest, Moving_ChangesBothParents) {
  for (const char* name : {"a", "b"}) make("", name);
  make("a", "x");
  move("a", "x", "b", "y");
  EXPECT_EQ(links("a"), 2U);
  EXPECT_EQ(links("b"), 3U);
  EXPECT_EQ(links("b/y"), 2U);
  // Moves a directory over an empty one, and within a directory.
  make("a", "z");
  move("b", "y", "a", "z");
  EXPECT_EQ(links("a"), 3U);
  EXPECT_EQ(links("b"), 2U);
  move("a", "z", "a", "w");
  EXPECT_EQ(links("a"), 3U);
}

TEST_F(SubdirectoryCountsTest, Exchanging_AFolderAndAFile) {
  for (const char* name : {"a", "b"}) make("", name);
  make("a", "x");
  must(paths().create_file("b", "f", 0644, kCreator));
  move("a", "x", "b", "f", RenameMode::kExchange);
  EXPECT_EQ(links("a"), 2U);
  EXPECT_EQ(links("b"), 3U);
  make("a", "g");
  move("a", "g", "b", "f", RenameMode::kExchange);
  EXPECT_EQ(links("a"), 3U);
  EXPECT_EQ(links("b"), 3U);
}

TEST_F(SubdirectoryCountsTest, MovedWithWhatIsInIt_Stays) {
  make("", "a");
  make("a", "b");
  move("", "a", "", "c");
  EXPECT_EQ(links("c"), 3U);
  EXPECT_EQ(links("c/b"), 2U);
}

TEST_F(SubdirectoryCountsTest, FolderOfBefore_IsNotCounted) {
  make("", "a");
  mount();
  EXPECT_EQ(links("a"), 1U);
  make("a", "b");
  EXPECT_EQ(links("a"), 1U);
  EXPECT_EQ(links("a/b"), 2U);
}

TEST_F(SubdirectoryCountsTest, Failure_ChangesNothing) {
  make("", "a");
  make("a", "b");
  make("a/b", "c");
  EXPECT_EQ(code_of(paths().mkdir("a", "b", 0755, kCreator)), kEntryExists);
  EXPECT_EQ(code_of(paths().rmdir("a", "b")), kDirectoryNotEmpty);
  EXPECT_EQ(code_of(paths().rename("", "a", "a/b", "x", RenameMode::kReplace)), kMoveIntoItself);
  EXPECT_EQ(links("a"), 3U);
  EXPECT_EQ(links("a/b"), 3U);
}

TEST_F(SubdirectoryCountsTest, NameOfOthers_InAFolderThatIsThere_ImpliesNothing) {
  make("", "a");
  upload_beside("a/file");
  upload_beside("top");
  EXPECT_EQ(links("a"), 2U);
}

TEST_F(SubdirectoryCountsTest, FolderThatOthersImply_IsNotCounted) {
  make("", "a");
  make("a", "b");
  upload_beside("a/implied/deep/file");
  EXPECT_EQ(links("a"), 1U);
  EXPECT_EQ(links("a/implied"), 1U);
  // When `a/implied` becomes explicit, `a` is still not counted, because its number of
  // subdirectories is no longer known.
  must(paths().create_file("a/implied", "file", 0644, kCreator));
  EXPECT_EQ(links("a"), 1U);
}

TEST_F(SubdirectoryCountsTest, FolderThatOthersImply_MadeExplicitBeforeWeAreTold) {
  make("", "a");
  upload("a/implied/file", "");
  must(paths().create_file("a/implied", "other", 0644, kCreator));
  paths().name_changed_externally("a/implied/file");
  EXPECT_EQ(links("a"), 1U);
}

TEST_F(SubdirectoryCountsTest, ImpliedFolder_MovedIntoACountedOne) {
  upload("implied/file", "");
  make("", "a");
  move("", "implied", "a", "b");
  EXPECT_EQ(links("a"), 1U);
}

TEST_F(SubdirectoryCountsTest, DocumentsOfFoldersWithoutTheirOwn_AreNotOverlooked) {
  change([&](engine::Transaction& transaction) {
    bson::Builder stray;
    stray.append("_id", bson::ObjectId::generate()).append("parent", "a").append("name", "b");
    must(bucket().directories().insert(transaction, std::move(stray).finish()));
  });
  make("", "a");
  EXPECT_EQ(listed("a"), 1U);
  EXPECT_EQ(links("a"), 1U);
}

TEST_F(SubdirectoryCountsTest, RandomChanges_AreCountedOrNot) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  const std::vector<std::string> names = {"a", "b", "c"};
  const auto name = [&] { return names[below(names.size())]; };
  // This includes directories that do not exist.
  const auto folder = [&] {
    std::string path;
    for (size_t depth = below(3); depth > 0; --depth) path += (path.empty() ? "" : "/") + name();
    return path;
  };
  std::vector<std::string> all = names;
  for (const std::string& outer : names) {
    for (const std::string& inner : names) all.push_back(outer + "/" + inner);
  }
  int counted = 0;
  for (int round = 0; round < random_rounds(4000); ++round) {
    const std::string in = folder();
    switch (below(round % 200 < 150 ? 7 : 9)) {
      case 0:
      case 1:
        (void)paths().mkdir(in, name(), 0755, kCreator);
        break;
      case 2:
        (void)paths().create_file(in, name(), 0644, kCreator);
        break;
      case 3:
        (void)paths().rmdir(in, name());
        break;
      case 4:
        (void)paths().unlink(in, name());
        break;
      case 5:
        (void)paths().rename(in, name(), folder(), name(), RenameMode::kReplace);
        break;
      case 6:
        (void)paths().rename(in, name(), folder(), name(), RenameMode::kExchange);
        break;
      case 7:
        upload_beside((in.empty() ? "" : in + "/") + name());
        break;
      default:
        if (below(4) == 0) mount();
    }
    for (const std::string& path : all) {
      if (!paths().get_directory(path) || links(path) == 1) continue;
      ++counted;
      ASSERT_EQ(links(path), 2 + listed(path)) << "'" << path << "', round " << round;
    }
  }
  EXPECT_GT(counted, random_rounds(1000));
}

}  // namespace
}  // namespace gridmount::gridfs
