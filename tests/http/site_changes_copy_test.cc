// Goal: COPY, MOVE and the removal of directories do what RFC 4918 says, with whole trees, and
// change nothing that was not named.
#include "engine/bson/json.h"
#include "http/site_error.h"
#include "http/target.h"
#include "http/tree_walk.h"
#include "tests/http/dav_site.h"
#include "tests/sanitized.h"

namespace gridmount::http {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Method = Request::Method;

class SiteCopyTest : public DavSite {
 protected:
  void SetUp() override {
    DavSite::SetUp();
    allow_changes();
  }

  DavReply copy(const std::string& from, const std::string& to, FieldList fields = {}) {
    fields.emplace_back("Destination", to.find('/') == 0 ? to : base_ + to);
    return ask(Method::kCopy, from, std::move(fields));
  }
  DavReply move(const std::string& from, const std::string& to, FieldList fields = {}) {
    fields.emplace_back("Destination", to.find('/') == 0 ? to : base_ + to);
    return ask(Method::kMove, from, std::move(fields));
  }
  std::string text(const std::string& path) {
    const DavReply reply = ask(Method::kGet, path);
    return reply.status == 200 ? reply.body : std::to_string(reply.status);
  }
  int put(const std::string& path, const std::string& content) {
    return ask(Method::kPut, path, {{"Content-Type", "text/x-own"}}, content).status;
  }
  std::shared_ptr<gridfs::PathNamespace> tree() {
    return must(gridfs::PathNamespace::open(store(), store().database(options_.database),
                                            bucket().options(), {}, {}));
  }
  // Returns the names in the directory.
  std::vector<std::string> names(const std::string& directory) {
    std::vector<std::string> all;
    const auto paths = tree();
    auto entries = paths->list(directory);
    if (!entries) return {"absent"};
    while (const auto entry = must((*entries)->next())) all.push_back(entry->name);
    return all;
  }
  void make_tree() {
    upload("a/file", "one");
    upload("a/b/file", "two");
    upload("a/b/c/file", "three");
    EXPECT_EQ(ask(Method::kMakeCollection, "a/empty").status, 201);
  }
};

TEST_F(SiteCopyTest, Copy_OfAFile_HasItsContentAndMetadata) {
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(put("file", large), 201);
  gridfs::AttributeChanges changes;
  changes.permissions = 0640;
  must(tree()->setattr_file(must(tree()->lookup("", "file")).id, changes));
  EXPECT_EQ(copy("file", "copy").status, 201);
  EXPECT_EQ(text("copy"), large);
  EXPECT_EQ(text("file"), large);
  EXPECT_EQ(ask(Method::kHead, "copy").field("Content-Type"), "text/x-own");
  EXPECT_EQ(must(tree()->lookup("", "copy")).attributes.mode & 07777, 0640U);
  EXPECT_NE(ask(Method::kHead, "copy").field("ETag"), ask(Method::kHead, "file").field("ETag"));
  EXPECT_EQ(copy("first", "copy", {{"Overwrite", "F"}}).status, 412);
  EXPECT_EQ(text("copy"), large);
  EXPECT_EQ(copy("first", "copy").status, 204);
  EXPECT_EQ(text("copy"), text("first"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteCopyTest, Copy_OfADirectory_HasEverythingBelow) {
  make_tree();
  EXPECT_EQ(copy("a", "new").status, 201);
  EXPECT_THAT(names("new"), ElementsAre("b", "empty", "file"));
  EXPECT_EQ(text("new/b/c/file"), "three");
  EXPECT_EQ(text("a/b/c/file"), "three");
  // The previous content of the destination is gone.
  upload("other/file", "old");
  upload("other/old", "old");
  EXPECT_EQ(copy("a/b/", "other/", {{"Overwrite", "F"}}).status, 412);
  EXPECT_EQ(copy("a/b/", "other/").status, 204);
  EXPECT_THAT(names("other"), ElementsAre("c", "file"));
  EXPECT_EQ(text("other/file"), "two");
  EXPECT_EQ(copy("a", "shallow", {{"Depth", "0"}}).status, 201);
  EXPECT_THAT(names("shallow"), IsEmpty());
  EXPECT_EQ(copy("a", "x", {{"Depth", "1"}}).status, 400);
  // A directory takes the place of a file, and the other way round.
  EXPECT_EQ(copy("a/b", "first").status, 204);
  EXPECT_EQ(text("first/c/file"), "three");
  EXPECT_EQ(copy("a/file", "first/").status, 204);
  EXPECT_EQ(text("first"), "one");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteCopyTest, Copy_IntoAnotherBucket) {
  make_tree();
  gridfs::BucketOptions named;
  named.name = "second";
  gridfs::Bucket second(store(), store().database(options_.database), named);
  must(must(second.open_upload_stream("there"))->close());
  EXPECT_EQ(copy("a", "/second/a").status, 201);
  EXPECT_EQ(text("/second/a/b/file"), "two");
  EXPECT_EQ(copy("a", "/nobucket/a").status, 409);
  EXPECT_EQ(move("a", "/second/b").status, 403);
}

TEST_F(SiteCopyTest, Move_OfAFile_KeepsItsIdAndRevisions) {
  upload("file", "old");
  const bson::Value id = upload("file", "new");
  const std::string tag = ask(Method::kHead, "file").field("ETag");
  EXPECT_EQ(move("file", "moved").status, 201);
  EXPECT_EQ(text("file"), "404");
  EXPECT_EQ(text("moved"), "new");
  EXPECT_EQ(ask(Method::kHead, "moved").field("ETag"), tag);
  EXPECT_EQ(must(tree()->revisions("", "moved")).size(), 2U);
  EXPECT_EQ(move("moved", "first", {{"Overwrite", "F"}}).status, 412);
  EXPECT_EQ(move("moved", "first", {{"If-Match", "\"other\""}}).status, 412);
  EXPECT_EQ(move("moved", "first", {{"If-Match", tag}}).status, 204);
  EXPECT_EQ(text("first"), "new");
  // The replaced content does not become a revision of the moved file.
  EXPECT_EQ(must(tree()->revisions("", "first")).size(), 2U);
  EXPECT_EQ(file(id).filename, "first");
  EXPECT_THAT(names(""), ElementsAre("first"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteCopyTest, Move_OfADirectory_TakesEverything) {
  make_tree();
  must(tree()->symlink("a/b", "link", "file", {}));
  EXPECT_EQ(move("a/", "z/").status, 201);
  EXPECT_THAT(names(""), ElementsAre("first", "z"));
  EXPECT_THAT(names("z"), ElementsAre("b", "empty", "file"));
  EXPECT_THAT(names("z/b"), ElementsAre("c", "file", "link"));
  EXPECT_EQ(text("z/b/c/file"), "three");
  upload("old/file", "old");
  upload("old/b/x/y", "old");
  EXPECT_EQ(move("z", "old", {{"Overwrite", "F"}}).status, 412);
  EXPECT_EQ(move("z", "old").status, 204);
  EXPECT_THAT(names("old"), ElementsAre("b", "empty", "file"));
  EXPECT_THAT(names("old/b"), ElementsAre("c", "file", "link"));
  // The directory above is still there without anything in it.
  EXPECT_EQ(move("old/b", "b").status, 201);
  EXPECT_EQ(move("old/file", "b/c/new").status, 201);
  EXPECT_EQ(move("old/empty", "empty").status, 201);
  EXPECT_THAT(names("old"), IsEmpty());
  EXPECT_EQ(move("b", "first").status, 204);
  EXPECT_EQ(move("first/c/new", "empty/").status, 204);
  EXPECT_EQ(text("empty"), "one");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteCopyTest, PlacesWithinEachOther_AreRefused) {
  make_tree();
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"a", "a"},
                                                        {"a/", "a"},
                                                        {"a", "a/new"},
                                                        {"a", "a/b/new"},
                                                        {"a/b", "a"},
                                                        {"a/file", "a"},
                                                        {"first", "first"}}) {
    EXPECT_EQ(copy(from, to).status, 403) << from << " " << to;
    EXPECT_EQ(move(from, to).status, 403) << from << " " << to;
  }
  EXPECT_EQ(copy("a", "ab").status, 201);
  EXPECT_EQ(move("a", "aa").status, 201);
}

TEST_F(SiteCopyTest, Destinations_AreOfThisServer) {
  EXPECT_EQ(ask(Method::kCopy, "first").status, 400);
  EXPECT_EQ(copy("first", "http://localhost" + base_ + "x").status, 400);  // not a path
  const auto to = [&](const std::string& destination) {
    return ask(Method::kCopy, "first", {{"Destination", destination}}).status;
  };
  EXPECT_EQ(to("http://localhost" + base_ + "x"), 201);
  EXPECT_EQ(to("HTTP://LOCALHOST" + base_ + "x"), 204);
  for (const std::string other : {"http://example.com", "http://localhost:1", "https://localhost",
                                  "http://127.0.0.1", "http://user@localhost", "ftp://localhost"}) {
    EXPECT_EQ(to(other + base_ + "x"), 502) << other;
  }
  for (const std::string path :
       {"..", "../x", "%2e%2e/x", "dir/..%2fx", "a//b", "%00", "x?y", "x#y", "x%"}) {
    EXPECT_EQ(to(base_ + path), 400) << path;
  }
  EXPECT_EQ(to("x"), 400);
  EXPECT_EQ(to(""), 400);
  for (const std::string& path : {std::string("/"), "/.id" + base_ + "x", base_})
    EXPECT_EQ(to(path), 403);
  EXPECT_EQ(to(base_ + "absent/x"), 409);
  EXPECT_EQ(to(base_ + "first/x"), 403);
  EXPECT_EQ(to(base_ + "new/"), 409);
  EXPECT_EQ(to(base_ + std::string(300, 'x')), 414);
  EXPECT_EQ(to(base_ + ".gridfs"), 403);
  EXPECT_EQ(copy("absent", "x").status, 404);
  EXPECT_EQ(move("absent/file", "x").status, 404);
  EXPECT_EQ(copy("first", "x", {{"Overwrite", "maybe"}}).status, 400);
  EXPECT_EQ(ask(Method::kMakeCollection, "d").status, 201);
  EXPECT_EQ(move("d", "x", {{"Depth", "0"}}).status, 400);
  EXPECT_EQ(copy("first", "x", {{"Origin", "http://example.com"}}).status, 403);
  EXPECT_EQ(copy("", "x").status, 405);
  EXPECT_EQ(copy("/.id" + base_ + "x", "x").status, 405);
  options_.write.reset();
  restart();
  EXPECT_EQ(copy("first", "x").status, 405);
  EXPECT_EQ(move("first", "x").status, 405);
}

TEST_F(SiteCopyTest, SpecialFilesAndHardLinks_AreReported) {
  make_tree();
  {
    const auto paths = tree();
    must(paths->symlink("a/b", "link", "file", {}));
    must(paths->link(must(paths->lookup("a", "file")).id, "a/b", "second"));
  }
  EXPECT_EQ(copy("a/b/link", "x").status, 403);
  EXPECT_EQ(move("a/b/link", "x").status, 403);
  EXPECT_EQ(move("a/file", "x").status, 409);
  EXPECT_EQ(copy("a/b/second", "x").status, 201);
  const DavReply copied = copy("a", "new");
  EXPECT_EQ(copied.status, 207);
  EXPECT_THAT(copied.body, HasSubstr("<D:href>" + base_ +
                                     "new/b/link</D:href><D:status>HTTP/1.1 "
                                     "403 Forbidden</D:status>"));
  EXPECT_THAT(names("new/b"), ElementsAre("c", "file", "second"));
  const DavReply removed = ask(Method::kDelete, "a");
  EXPECT_EQ(removed.status, 207);
  EXPECT_THAT(removed.body, HasSubstr(base_ + "a/b/link<"));
  EXPECT_THAT(removed.body, HasSubstr(base_ + "a/b/second<"));
  EXPECT_THAT(names("a/b"), ElementsAre("link", "second"));
  EXPECT_THAT(problems(), IsEmpty());
}

// The destination is removed only if the change can be made.
TEST_F(SiteCopyTest, ChangesThatCannotBeMade_LeaveTheDestination) {
  make_tree();
  const FieldList wrong = {{"If-Match", "\"wrong\""}};
  EXPECT_EQ(move("first", "a", wrong).status, 412);
  EXPECT_EQ(copy("first", "a", wrong).status, 412);
  EXPECT_EQ(text("a/file"), "one");
  must(tree()->symlink("", "link", "first", {}));
  EXPECT_EQ(move("link", "a").status, 403);
  EXPECT_EQ(copy("link", "a").status, 403);
  EXPECT_EQ(text("a/b/c/file"), "three");
}

TEST_F(SiteCopyTest, Delete_RemovesWhatIsBelow) {
  make_tree();
  upload("ab", "stays");
  EXPECT_EQ(ask(Method::kDelete, "a/b").status, 204);
  EXPECT_THAT(names("a"), ElementsAre("empty", "file"));
  EXPECT_EQ(ask(Method::kDelete, "a/").status, 204);
  EXPECT_THAT(names(""), ElementsAre("ab", "first"));
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteCopyTest, TooManyAtATime_AreRefused) {
  make_tree();
  options_.write->tree_changes_max = 0;
  restart();
  EXPECT_EQ(copy("a", "b").status, 503);
  EXPECT_EQ(ask(Method::kDelete, "a").status, 503);
  EXPECT_EQ(move("a", "b").status, 503);
  EXPECT_EQ(move("a/file", "b").status, 201);
  EXPECT_EQ(ask(Method::kDelete, "b").status, 204);
  options_.write->tree_changes_max = 2;
  restart();
  EXPECT_EQ(copy("a", "c").status, 201);
  site_->stop();
  EXPECT_EQ(copy("a", "d").status, 503);
  EXPECT_EQ(ask(Method::kDelete, "a").status, 503);
}

TEST_F(SiteCopyTest, DeepTrees_AreReported) {
  if (kSanitized) GTEST_SKIP() << "takes long under sanitizers";
  std::string path = "deep";
  for (size_t i = 0; i <= kTreeLevelsMax; ++i) path += "/d";
  upload(path + "/file", "x");
  const DavReply removed = ask(Method::kDelete, "deep");
  EXPECT_EQ(removed.status, 207);
  EXPECT_THAT(removed.body, HasSubstr("409 Conflict"));
  EXPECT_EQ(ask(Method::kDelete, "deep/d/d").status, 204);
  EXPECT_EQ(ask(Method::kDelete, "deep").status, 204);
}

TEST_F(SiteCopyTest, ManyFailures_EndTheChange) {
  {
    const auto paths = tree();
    for (size_t i = 0; i < kTreeFailuresMax + 50; ++i) {
      must(paths->symlink("", "link" + std::to_string(i), "x", {}));
    }
    must(paths->mkdir("", "many", 0755, {}));
    for (size_t i = 0; i < kTreeFailuresMax + 50; ++i) {
      must(paths->rename("", "link" + std::to_string(i), "many", std::to_string(i),
                         gridfs::RenameMode::kNoReplace));
    }
  }
  const DavReply removed = ask(Method::kDelete, "many");
  size_t failures = 0;
  for (size_t at = 0; (at = removed.body.find("<D:response>", at)) != std::string::npos; ++at) {
    ++failures;
  }
  EXPECT_EQ(failures, kTreeFailuresMax);
}

}  // namespace
}  // namespace gridmount::http
