// Goal: a file exists as long as one of its names does, whatever drivers do to its documents.
// Method: links made by the mount, and direct changes to the documents. Afterwards names, link
// counts and documents are checked.

#include "gridfs/namespace/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gridfs/bucket/chunk_document.h"
#include "gridfs/namespace/volume.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LinksTest : public BucketFixture {
 protected:
  LinksTest() { mount({}); }
  ~LinksTest() override { EXPECT_TRUE(volume_->close()); }

  void mount(const VolumeOptions& options) {
    if (volume_) must(volume_->close());
    volume_ =
        must(Volume::open(store(), store().database("test"), bucket().options(), options, {}));
  }
  Node make(const std::string& name, const std::vector<std::string>& links) {
    const Node file = must(volume_->create_file("", name, 0644, {}));
    for (const std::string& link : links) must(volume_->link(file.id, "", link));
    return file;
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    const auto listing = must(volume_->list(""));
    while (const auto entry = must(listing->next())) all.push_back(entry->name);
    return all;
  }
  uint32_t count_of(const std::string& name) {
    return must(volume_->lookup("", name)).attributes.nlink;
  }
  void update(bson::ValueView id, const char* field, const bson::Value& value) {
    change([&](engine::Transaction& transaction) {
      bson::Builder update;
      update.open_document("$set").append(field, value).close();
      must(bucket().files().update(transaction, equals("_id", id), std::move(update).finish()));
    });
  }

  std::unique_ptr<Volume> volume_;
};

TEST_F(LinksTest, RemovedOneByOne_LeaveTheFileToTheLast) {
  const Node file = make("a", {"b", "c"});
  EXPECT_EQ(count_of("a"), 3U);
  must(volume_->unlink("", "a"));
  EXPECT_THAT(names(), ElementsAre("b", "c"));
  EXPECT_EQ(count_of("c"), 2U);
  must(volume_->rename("", "b", "", "d", RenameMode::kReplace));
  must(volume_->rename("", "c", "", "e", RenameMode::kReplace));
  EXPECT_THAT(names(), ElementsAre("d", "e"));
  EXPECT_THAT(problems(), IsEmpty());
  must(volume_->unlink("", "e"));
  EXPECT_EQ(must(volume_->lookup("", "d")).id, file.id);
  EXPECT_EQ(this->file(file.id).filename, "d");
  EXPECT_EQ(count_of("d"), 1U);
  must(volume_->unlink("", "d"));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(count(bucket().files()), 0);
  EXPECT_EQ(count(bucket().links()), 0);
}

TEST_F(LinksTest, NumberThatADriverHasLost_TakesNoNameAway) {
  const Node file = make("a", {"b", "c"});
  update(file.id, "metadata", bson::Value(bson::View()));
  must(volume_->unlink("", "a"));
  EXPECT_THAT(names(), ElementsAre("b", "c"));
  EXPECT_EQ(count_of("b"), 2U) << "counted anew";
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LinksTest, MetadataThatIsNoDocument_IsCountedByTheNames) {
  const Node file = make("a", {"b"});
  update(file.id, "metadata", bson::Value("theirs"));
  EXPECT_EQ(count_of("a"), 2U);
  must(volume_->unlink("", "a"));
  EXPECT_THAT(names(), ElementsAre("b"));
  EXPECT_EQ(count_of("b"), 1U);
}

TEST_F(LinksTest, FileThatADriverHasDeleted_HasNoNames_AndTheyCanBeTakenAgain) {
  const Node file = make("a", {"b", "d"});
  must(volume_->create_directory("", "c", 0755, {}));
  must(volume_->link(file.id, "c", "e"));
  change([&](engine::Transaction& transaction) {
    must(bucket().files().remove(transaction, equals("_id", file.id), false));
  });
  EXPECT_THAT(names(), ElementsAre("c"));
  EXPECT_EQ(code_of(volume_->lookup("", "b")), kNoSuchEntry);
  must(volume_->remove_directory("", "c"));
  const Node other = make("a", {"b"});
  EXPECT_EQ(must(volume_->lookup("", "b")).id, other.id);
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
  must(volume_->create_directory("", "d", 0755, {}));
  for (int i = 0; i < 1100; ++i) must(volume_->link(file.id, "d", std::to_string(i)));
  must(volume_->rename("", "d", "", "e", RenameMode::kReplace));
  EXPECT_EQ(code_of(volume_->lookup("d", "7")), kNoSuchEntry);
  EXPECT_EQ(must(volume_->lookup("e", "1099")).id, file.id);
  EXPECT_EQ(count_of("a"), 1101U);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LinksTest, NewContentWithRevisions_HasAllNames) {
  VolumeOptions options;
  options.revisions = 2;
  mount(options);
  const Node node = make("a", {"b"});
  must(write(*must(volume_->open_file(node.id)), 0, "one"));
  must(must(volume_->open_file(node.id))->flush());
  const std::optional<bson::Value> next = must(volume_->start_revision(node.id));
  ASSERT_TRUE(next);
  EXPECT_EQ(must(volume_->lookup("", "a")).id, *next);
  EXPECT_EQ(must(volume_->lookup("", "b")).id, *next);
  EXPECT_EQ(count_of("b"), 2U);
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace gridmount::gridfs
