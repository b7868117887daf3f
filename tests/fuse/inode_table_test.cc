// Goal: inos stay with their nodes, lookup counts are exact, and paths follow renames. No store is
// needed, because the table only compares bucket pointers.
#include "fuse/tree/inode_table.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace gridmount::fuse {
namespace {

class InodeTableTest : public testing::Test {
 protected:
  // Returns a pointer that is only compared, never dereferenced.
  static std::shared_ptr<MountedBucket> bucket(int which) {
    static char places[4];
    auto owner = std::make_shared<int>(0);
    return {owner, reinterpret_cast<MountedBucket*>(&places[which])};
  }
  bson::Value id(int ino) { return bson::Value(int32_t{ino}); }

  std::string path_of(uint64_t ino) {
    auto node = table_.resolve(ino);
    return node ? node->path : "<unknown>";
  }

  std::shared_ptr<MountedBucket> fs_ = bucket(0);
  InodeTable table_{fs_};
};

TEST_F(InodeTableTest, Root_IsTheBucketAndNeverForgotten) {
  table_.forget(kRootNode, 1000);
  auto root = table_.resolve(kRootNode);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->kind, InodeKind::kBucketRoot);
  EXPECT_EQ(root->bucket, fs_);
  EXPECT_EQ(root->path, "");
  EXPECT_EQ(root->parent, kRootNode);
}

TEST_F(InodeTableTest, RootOfBuckets_HasNoBucket) {
  InodeTable table(nullptr);
  EXPECT_EQ(table.resolve(kRootNode)->kind, InodeKind::kMountRoot);
  auto other = bucket(1);
  const uint64_t ino = table.acquire_bucket("other", other, 77);
  EXPECT_EQ(ino, 77U);
  EXPECT_EQ(table.resolve(ino)->kind, InodeKind::kBucketRoot);
  EXPECT_EQ(table.resolve(ino)->bucket, other);
  const uint64_t directory = table.acquire_directory(ino, "a", "a", 78);
  EXPECT_EQ(table.resolve(directory)->bucket, other);
  EXPECT_EQ(table.resolve(directory)->path, "a");
}

TEST_F(InodeTableTest, ReplacedFile_KeepsItsNumber) {
  const uint64_t ino = table_.acquire_file(fs_, id(5), 50);
  table_.replace_file(ino, id(6));
  EXPECT_EQ(table_.resolve(ino)->id, id(6));
  EXPECT_EQ(table_.acquire_file(fs_, id(6), 99), ino);
  EXPECT_NE(table_.acquire_file(fs_, id(5), 77), ino);
}

TEST_F(InodeTableTest, ReplacedFile_ThatWasRenewed_GoesOnUnderBothNumbers) {
  const uint64_t first = table_.acquire_file(fs_, id(5), 50);
  table_.renew_file(fs_.get(), id(5));
  const uint64_t second = table_.acquire_file(fs_, id(5), 51);
  ASSERT_NE(first, second);
  table_.replace_file(first, id(6));
  EXPECT_EQ(table_.resolve(first)->id, id(6));
  EXPECT_EQ(table_.resolve(second)->id, id(6));
  EXPECT_EQ(table_.acquire_file(fs_, id(6), 99), second);
  // The file is renewed but not looked up again, so there is no newer node.
  table_.renew_file(fs_.get(), id(6));
  table_.replace_file(first, id(7));
  EXPECT_EQ(table_.resolve(first)->id, id(7));
  table_.forget(first, 1);
  table_.forget(second, 2);
  EXPECT_EQ(table_.size(), 1U);
}

TEST_F(InodeTableTest, File_IsFoundAgainByItsId) {
  const uint64_t ino = table_.acquire_file(fs_, id(5), 50);
  EXPECT_EQ(table_.acquire_file(fs_, id(5), 99), ino);
  EXPECT_EQ(table_.resolve(ino)->id, id(5));
  table_.forget(ino, 1);
  EXPECT_TRUE(table_.resolve(ino));
  table_.forget(ino, 1);
  EXPECT_FALSE(table_.resolve(ino));
  EXPECT_EQ(table_.size(), 1U);
}

TEST_F(InodeTableTest, SameIdInAnotherBucket_IsAnotherFile) {
  const uint64_t here = table_.acquire_file(fs_, id(5), 50);
  const uint64_t there = table_.acquire_file(bucket(1), id(5), 50);
  EXPECT_NE(here, there);
}

TEST_F(InodeTableTest, SameBytesOfAnotherType_IsAnotherFile) {
  const uint64_t text = table_.acquire_file(fs_, bson::Value("x"), 50);
  const uint64_t code = table_.acquire_file(
      fs_, bson::ValueView(bson::Type::kSymbol, bson::Value("x").view().data(), 6), 51);
  EXPECT_NE(text, code);
}

TEST_F(InodeTableTest, CollidingNumbers_AreResolved) {
  const uint64_t first = table_.acquire_file(fs_, id(1), 50);
  const uint64_t second = table_.acquire_file(fs_, id(2), 50);
  const uint64_t root_like = table_.acquire_file(fs_, id(3), kRootNode);
  const uint64_t zero_like = table_.acquire_file(fs_, id(4), 0);
  EXPECT_EQ(first, 50U);
  EXPECT_NE(second, first);
  EXPECT_NE(root_like, kRootNode);
  EXPECT_NE(zero_like, 0U);
  EXPECT_EQ(table_.resolve(second)->id, id(2));
  // The file is found under the ino that it got, not under the one that it requested.
  EXPECT_EQ(table_.ino_of_file(fs_.get(), id(2), 50), second);
}

TEST_F(InodeTableTest, DirectoryPaths_AreMadeByWalkingUp) {
  const uint64_t a = table_.acquire_directory(kRootNode, "a", "a", 10);
  const uint64_t b = table_.acquire_directory(a, "b", "a/b", 11);
  const uint64_t c = table_.acquire_directory(b, "c", "a/b/c", 12);
  EXPECT_EQ(path_of(c), "a/b/c");
  EXPECT_EQ(table_.resolve(c)->parent, b);
}

TEST_F(InodeTableTest, DirectoryPath_MayDifferFromTheShownName) {
  const uint64_t a = table_.acquire_directory(kRootNode, "%gridfs:esc:%2E", ".", 10);
  const uint64_t b = table_.acquire_directory(a, "%gridfs:esc:", "./", 11);
  EXPECT_EQ(path_of(b), "./");
  const uint64_t c = table_.acquire_directory(b, "x", ".//x", 12);
  EXPECT_EQ(path_of(c), ".//x");
}

TEST_F(InodeTableTest, UnknownParent_GivesNoNumber) {
  EXPECT_EQ(table_.acquire_directory(4711, "a", "a", 10), 0U);
}

TEST_F(InodeTableTest, RenamedDirectory_TakesEverythingBelowAlong) {
  const uint64_t a = table_.acquire_directory(kRootNode, "a", "a", 10);
  const uint64_t b = table_.acquire_directory(a, "b", "a/b", 11);
  const uint64_t c = table_.acquire_directory(b, "c", "a/b/c", 12);
  const uint64_t z = table_.acquire_directory(kRootNode, "z", "z", 13);
  table_.move_directory(a, "b", z, "new", "z/new");
  EXPECT_EQ(path_of(b), "z/new");
  EXPECT_EQ(path_of(c), "z/new/c");
  EXPECT_FALSE(table_.find_directory(a, "b"));
  EXPECT_EQ(table_.find_directory(z, "new"), b);
  // A move into the root, where the path has no slash before it.
  table_.move_directory(z, "new", kRootNode, "top", "top");
  EXPECT_EQ(path_of(c), "top/c");
}

TEST_F(InodeTableTest, MovedOutOfForgottenParent_FreesTheParent) {
  const uint64_t a = table_.acquire_directory(kRootNode, "a", "a", 10);
  const uint64_t b = table_.acquire_directory(a, "b", "a/b", 11);
  table_.forget(a, 1);
  EXPECT_TRUE(table_.resolve(a)) << "held by its child";
  table_.move_directory(a, "b", kRootNode, "b", "b");
  EXPECT_FALSE(table_.resolve(a));
  EXPECT_EQ(path_of(b), "b");
}

TEST_F(InodeTableTest, ForgottenInAnyOrder_LeavesNothing) {
  const uint64_t a = table_.acquire_directory(kRootNode, "a", "a", 10);
  const uint64_t b = table_.acquire_directory(a, "b", "a/b", 11);
  const uint64_t c = table_.acquire_directory(b, "c", "a/b/c", 12);
  table_.forget(a, 1);
  table_.forget(b, 1);
  EXPECT_EQ(path_of(c), "a/b/c");
  table_.forget(c, 1);
  EXPECT_EQ(table_.size(), 1U);
  EXPECT_FALSE(table_.find_directory(kRootNode, "a"));
}

TEST_F(InodeTableTest, RemovedDirectory_KeepsItsNumberButNotItsName) {
  const uint64_t old = table_.acquire_directory(kRootNode, "a", "a", 10);
  UnlinkedNode last;
  last.attributes.mode = S_IFDIR | 0700;
  table_.remove_directory(kRootNode, "a", last);
  ASSERT_TRUE(table_.resolve(old));
  ASSERT_TRUE(table_.resolve(old)->removed);
  EXPECT_EQ(table_.resolve(old)->removed->attributes.mode, S_IFDIR | 0700U);
  EXPECT_EQ(table_.resolve(old)->removed->attributes.nlink, 0U);
  const uint64_t made_again = table_.acquire_directory(kRootNode, "a", "a", 10);
  EXPECT_NE(made_again, old);
  EXPECT_FALSE(table_.resolve(made_again)->removed);
  table_.forget(old, 1);
  EXPECT_EQ(table_.find_directory(kRootNode, "a"), made_again);
}

TEST_F(InodeTableTest, RandomTree_EqualsAModel) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  struct ModelDirectory {
    uint64_t ino;
    uint64_t parent;
    std::string name;
  };
  std::vector<ModelDirectory> model;
  auto model_path = [&](uint64_t ino) {
    std::string path;
    while (ino != kRootNode) {
      for (const ModelDirectory& directory : model) {
        if (directory.ino != ino) continue;
        path = path.empty() ? directory.name : directory.name + "/" + path;
        ino = directory.parent;
        break;
      }
    }
    return path;
  };
  auto is_below = [&](uint64_t ino, uint64_t above) {
    while (ino != kRootNode) {
      if (ino == above) return true;
      for (const ModelDirectory& directory : model) {
        if (directory.ino == ino) {
          ino = directory.parent;
          break;
        }
      }
    }
    return above == kRootNode;
  };
  for (int step = 0; step < 400; ++step) {
    const uint64_t parent =
        model.empty() || random() % 4 == 0 ? kRootNode : model[random() % model.size()].ino;
    const std::string name = "n" + std::to_string(step);
    const std::string parent_path = model_path(parent);
    const std::string path = parent_path.empty() ? name : parent_path + "/" + name;
    if (model.empty() || random() % 2 == 0) {
      model.push_back(
          {table_.acquire_directory(parent, name, path, 10 + random() % 50), parent, name});
    } else {
      ModelDirectory& moved = model[random() % model.size()];
      if (is_below(parent, moved.ino)) continue;
      table_.move_directory(moved.parent, moved.name, parent, name, path);
      moved.parent = parent;
      moved.name = name;
    }
    for (const ModelDirectory& directory : model) {
      ASSERT_EQ(path_of(directory.ino), model_path(directory.ino));
    }
  }
  for (const ModelDirectory& directory : model) table_.forget(directory.ino, 1);
  EXPECT_EQ(table_.size(), 1U);
}

TEST_F(InodeTableTest, LookupsRacingForgets_LoseNoNode) {
  // Each thread looks up the same files and forgets them. While it holds a lookup, the ino must
  // lead to its file.
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        const bson::Value file = id(i % 3);
        const uint64_t ino = table_.acquire_file(fs_, file, 50);
        auto node = table_.resolve(ino);
        if (!node || !(node->id == file)) ++wrong;
        table_.forget(ino, 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(table_.size(), 1U);
}

}  // namespace
}  // namespace gridmount::fuse
