// Goal: the control directory finds and lists only what it has.
// Method: a namespace over a real store. tests/mount/revisions_test.py tests the same on a mount.
#include "fuse/tree/control_directory.h"

#include <gmock/gmock.h>

#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::fuse {
namespace {

using gridfs::code_of;
using testing::ElementsAre;

class ControlDirectoryTest : public gridfs::BucketFixture {
 protected:
  ControlDirectoryTest()
      : paths_(must(gridfs::PathNamespace::open(store(), store().database("test"),
                                                bucket().options(), {}, {}))) {}
  ~ControlDirectoryTest() override { EXPECT_TRUE(paths_->close()); }

  auto list(const std::string& path) { return control_.list(paths_, path); }
  std::vector<std::string> names(const std::string& path) {
    std::vector<std::string> found;
    const auto listing = must(list(path));
    while (const auto entry = must(listing->next())) found.push_back(entry->name);
    return found;
  }

 private:
  std::shared_ptr<gridfs::PathNamespace> paths_;
  ControlDirectory control_;
};

TEST_F(ControlDirectoryTest, Listing_OfAFile_HasItsRevisions) {
  upload("folder/file", "first");
  upload("folder/file", "second");
  EXPECT_THAT(names("revisions/folder/file"), ElementsAre("0", "1"));
}

TEST_F(ControlDirectoryTest, Listing_OfARevision_IsNoDirectory) {
  upload("folder/file", "content");
  EXPECT_EQ(code_of(list("revisions/folder/file/0")), gridfs::kNotADirectory);
  EXPECT_EQ(code_of(list("revisions/folder/file/1")), gridfs::kNoSuchEntry);
  EXPECT_EQ(code_of(list("revisions/folder/file/0/below")), gridfs::kNoSuchEntry);
}

}  // namespace
}  // namespace gridmount::fuse
