// Goal: a file exists as long as one of its names does, whatever drivers do to its documents.
// Method: links made by the mount, and direct changes to the documents. Afterwards names, link
// counts and documents are checked.

#include "gridfs/namespace/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LinksTest : public BucketFixture {
 protected:
  LinksTest() { mount({}); }
  ~LinksTest() override { EXPECT_TRUE(namespace_->close()); }

  void mount(const NamespaceOptions& options) {
    if (namespace_) must(namespace_->close());
    namespace_ = must(
        PathNamespace::open(store(), store().database("test"), bucket().options(), options, {}));
  }
  Node make(const std::string& name, const std::vector<std::string>& links) {
    const Node file = must(namespace_->create_file("", name, 0644, {}));
    for (const std::string& link : links) must(namespace_->link(file.id, "", link));
    return file;
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    const auto listing = must(namespace_->list(""));
    while (const auto entry = must(listing->next())) all.push_back(entry->name);
    return all;
  }
  uint32_t count_of(const std::string& name) {
    return must(namespace_->lookup("", name)).attributes.nlink;
  }
  void update(bson::ValueView id, const char* field, const bson::Value& value) {
    change([&](engine::Transaction& transaction) {
      bson::Builder update;
      update.open_document("$set").append(field, value).close();
      must(bucket().files().update(transaction, equals("_id", id), std::move(update).finish()));
    });
  }

  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(LinksTest, RemovedOneByOne_LeaveTheFileToTheLast) {
  const Node file = make("a", {"b", "c"});
  EXPECT_EQ(count_of("a"), 3U);
  must(namespace_->unlink("", "a"));
  EXPECT_THAT(names(), ElementsAre("b", "c"));
  EXPECT_EQ(count_of("c"), 2U);
  must(namespace_->rename("", "b", "", "d", RenameMode::kReplace));
  must(namespace_->rename("", "c", "", "e", RenameMode::kReplace));
  EXPECT_THAT(names(), ElementsAre("d", "e"));
  EXPECT_THAT(problems(), IsEmpty());
  must(namespace_->unlink("", "e"));
  EXPECT_EQ(must(namespace_->lookup("", "d")).id, file.id);
  EXPECT_EQ(this->file(file.id).filename, "d");
  EXPECT_EQ(count_of("d"), 1U);
  must(namespace_->unlink("", "d"));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(count(bucket().files()), 0);
  EXPECT_EQ(count(bucket().links()), 0);
}

TEST_F(LinksTest, NumberThatADriverHasLost_TakesNoNameAway) {
  const Node file = make("a", {"b", "c"});
  update(file.id, "metadata", bson::Value(bson::View()));
  must(namespace_->unlink("", "a"));
  EXPECT_THAT(names(), ElementsAre("b", "c"));
  EXPECT_EQ(count_of("b"), 2U) << "counted anew";
  EXPECT_THAT(problems(), IsEmpty());
}

// If no name is left, the mount treats the file as removed.
TEST_F(LinksTest, NumberThatADriverHasChanged_DoesNotSayWhatIsLeft) {
  const Node many = make("a", {"b"});
  const Node one = make("c", {});
  update(many.id, "metadata.posix.links", bson::Value(int64_t{0}));
  update(one.id, "metadata.posix.links", bson::Value(int64_t{7}));
  EXPECT_EQ(must(namespace_->unlink("", "a")).node.attributes.nlink, 1U);
  EXPECT_EQ(must(namespace_->unlink("", "b")).node.attributes.nlink, 0U);
  EXPECT_EQ(must(namespace_->unlink("", "c")).node.attributes.nlink, 0U);
}

TEST_F(LinksTest, MetadataThatIsNoDocument_IsCountedByTheNames) {
  const Node file = make("a", {"b"});
  update(file.id, "metadata", bson::Value("theirs"));
  EXPECT_EQ(count_of("a"), 2U);
  must(namespace_->unlink("", "a"));
  EXPECT_THAT(names(), ElementsAre("b"));
  EXPECT_EQ(count_of("b"), 1U);
}

TEST_F(LinksTest, FileThatADriverHasDeleted_HasNoNames_AndTheyCanBeTakenAgain) {
  const Node file = make("a", {"b", "d"});
  must(namespace_->mkdir("", "c", 0755, {}));
  must(namespace_->link(file.id, "c", "e"));
  change([&](engine::Transaction& transaction) {
    must(bucket().files().remove(transaction, equals("_id", file.id), false));
  });
  EXPECT_THAT(names(), ElementsAre("c"));
  EXPECT_EQ(code_of(namespace_->lookup("", "b")), kNoSuchEntry);
  must(namespace_->rmdir("", "c"));
  const Node other = make("a", {"b"});
  EXPECT_EQ(must(namespace_->lookup("", "b")).id, other.id);
  make("d", {});
  EXPECT_EQ(count_of("d"), 1U);
  EXPECT_THAT(names(), ElementsAre("a", "b", "d"));
}

TEST_F(LinksTest, FileRemovedByItsId_TakesItsNamesAlong) {
  const Node file = make("a", {"b"});
  must(bucket().remove(file.id));
  EXPECT_EQ(count(bucket().links()), 0);
}

TEST_F(LinksTest, FolderRenamed_TakesManyNamesAlong) {
  const Node file = make("a", {});
  must(namespace_->mkdir("", "d", 0755, {}));
  for (int i = 0; i < 1100; ++i) must(namespace_->link(file.id, "d", std::to_string(i)));
  must(namespace_->rename("", "d", "", "e", RenameMode::kReplace));
  EXPECT_EQ(code_of(namespace_->lookup("d", "7")), kNoSuchEntry);
  EXPECT_EQ(must(namespace_->lookup("e", "1099")).id, file.id);
  EXPECT_EQ(count_of("a"), 1101U);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LinksTest, NewContentWithRevisions_HasAllNames) {
  NamespaceOptions options;
  options.revisions = 2;
  mount(options);
  const Node node = make("a", {"b"});
  must(write(*must(namespace_->open_file(node.id)), 0, "one"));
  must(must(namespace_->open_file(node.id))->flush());
  const std::optional<bson::Value> next = must(namespace_->start_revision(node.id));
  ASSERT_TRUE(next);
  EXPECT_EQ(must(namespace_->lookup("", "a")).id, *next);
  EXPECT_EQ(must(namespace_->lookup("", "b")).id, *next);
  EXPECT_EQ(count_of("b"), 2U);
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace gridmount::gridfs
