// Goal: a directory is reported to lack a name only if it lacks the name.
// Method: each kind of change, by this process and by others. The tests also count the searches.

#include "gridfs/namespace/complete_directories.h"

#include <gtest/gtest.h>

#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/gridfs/namespace_counting_store.h"

namespace gridmount::gridfs {
namespace {

TEST(CompleteDirectoriesTest, OnlyMadeDirectoriesLackNames) {
  CompleteDirectories known(std::make_shared<ChangesByOthers>());
  EXPECT_FALSE(known.is_absent("d", "x"));
  known.making("d", "x");
  EXPECT_FALSE(known.is_absent("d", "y"));
  known.made("d");
  EXPECT_TRUE(known.is_absent("d", "x"));
  known.making("d", "x");
  EXPECT_FALSE(known.is_absent("d", "x"));
  EXPECT_TRUE(known.is_absent("d", "y"));
  EXPECT_FALSE(known.is_absent("d/y", "x"));
  known.made("d");
  EXPECT_TRUE(known.is_absent("d", "x")) << "removed and made again";
  known.forget_all();
  EXPECT_FALSE(known.is_absent("d", "x"));
}

TEST(CompleteDirectoriesTest, ChangesByOthersEmptyIt) {
  const auto others = std::make_shared<ChangesByOthers>();
  CompleteDirectories known(others);
  known.made("d");
  others->making_name();
  EXPECT_FALSE(known.is_absent("d", "x"));
  known.made("e");
  others->making_name();
  known.made("f");
  EXPECT_FALSE(known.is_absent("e", "x"));
  EXPECT_TRUE(known.is_absent("f", "x"));
}

TEST(CompleteDirectoriesTest, WithoutACountOfOthersNothingIsKnown) {
  CompleteDirectories known(nullptr);
  known.made("d");
  known.making("d", "x");
  EXPECT_FALSE(known.is_absent("d", "y"));
}

TEST(CompleteDirectoriesTest, BeyondItsLimitItBeginsAnew) {
  CompleteDirectories known(std::make_shared<ChangesByOthers>());
  known.made("d");
  for (size_t i = 0; i + 1 < CompleteDirectories::kNamesMax; ++i) {
    known.making("d", std::to_string(i));
  }
  EXPECT_TRUE(known.is_absent("d", "x"));
  known.made("e");
  EXPECT_FALSE(known.is_absent("d", "x"));
  EXPECT_TRUE(known.is_absent("e", "x"));
}

class CompleteDirectoriesOfNamespaceTest : public BucketFixture {
 protected:
  CompleteDirectoriesOfNamespaceTest() {
    database_ = std::make_shared<CountingDatabase>(store().database("test"));
    NamespaceOptions options;
    options.changes_by_others = others_;
    namespace_ = must(PathNamespace::open(store(), database_, bucket().options(), options, {}));
    must(namespace_->mkdir("", "d", 0755, {}));
    database_->take();
  }
  ~CompleteDirectoriesOfNamespaceTest() override { EXPECT_TRUE(namespace_->close()); }

  bool is_there(std::string_view directory, std::string_view name) {
    return namespace_->lookup(directory, name).has_value();
  }

  const std::shared_ptr<ChangesByOthers> others_ = std::make_shared<ChangesByOthers>();
  std::shared_ptr<CountingDatabase> database_;
  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(CompleteDirectoriesOfNamespaceTest, ANewNameIsNotSearchedFor) {
  EXPECT_FALSE(is_there("d", "x"));
  EXPECT_EQ(database_->take().searches, 0);
  must(namespace_->create_file("d", "x", 0644, {}));
  EXPECT_EQ(database_->take().searches, 1) << "for the directory";
  EXPECT_TRUE(is_there("d", "x"));
  EXPECT_EQ(code_of(namespace_->create_file("d", "x", 0644, {})), kEntryExists);
}

TEST_F(CompleteDirectoriesOfNamespaceTest, EveryWayToMakeANameIsNoticed) {
  const Node file = must(namespace_->create_file("d", "file", 0644, {}));
  must(namespace_->mkdir("d", "directory", 0755, {}));
  must(namespace_->symlink("d", "symlink", "file", {}));
  must(namespace_->mknod("d", "fifo", 0010644, 0, {}));
  must(namespace_->link(file.id, "d", "link"));
  const auto tmpfile = must(namespace_->create_tmpfile("d", 0644, {}));
  must(namespace_->link(tmpfile.node.id, "d", "was_tmpfile"));
  must(namespace_->rename("d", "fifo", "d", "renamed", RenameMode::kReplace));
  must(namespace_->rename_leaving_whiteout("d", "symlink", "d", "moved", RenameMode::kReplace, {}));
  for (const char* name :
       {"file", "directory", "symlink", "link", "was_tmpfile", "renamed", "moved"}) {
    EXPECT_TRUE(is_there("d", name)) << name;
  }
  EXPECT_FALSE(is_there("d", "fifo"));
  EXPECT_FALSE(is_there("d", "never"));
}

TEST_F(CompleteDirectoriesOfNamespaceTest, NamesMoveWithTheirDirectory) {
  must(namespace_->mkdir("", "e", 0755, {}));
  must(namespace_->create_file("d", "x", 0644, {}));
  must(namespace_->rename("", "d", "", "e", RenameMode::kReplace));
  EXPECT_TRUE(is_there("e", "x"));
  must(namespace_->mkdir("", "f", 0755, {}));
  must(namespace_->rename("", "e", "", "f", RenameMode::kExchange));
  EXPECT_TRUE(is_there("f", "x"));
  EXPECT_FALSE(is_there("e", "x"));
}

TEST_F(CompleteDirectoriesOfNamespaceTest, ADriversNameIsFound) {
  others_->making_name();
  upload("d/x", "content");
  EXPECT_TRUE(is_there("d", "x"));
  EXPECT_EQ(code_of(namespace_->create_file("d", "x", 0644, {})), kEntryExists);
}

// Searches ignore the first link documents that a driver makes, until the namespace is told of
// them.
TEST_F(CompleteDirectoriesOfNamespaceTest, ADriversFirstLinkIsFoundOnceItIsTold) {
  const Node file = must(namespace_->create_file("d", "file", 0644, {}));
  others_->making_name();
  change([&](engine::Transaction& transaction) {
    bson::Builder link;
    link.append("_id", "new/link").append("file", file.id);
    must(bucket().links().insert(transaction, std::move(link).finish()));
  });
  must(namespace_->mkdir("", "new", 0755, {}));
  namespace_->links_changed_externally();
  EXPECT_TRUE(is_there("new", "link"));
}

}  // namespace
}  // namespace gridmount::gridfs
