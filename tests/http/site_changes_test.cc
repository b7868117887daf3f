// Goal: PUT, DELETE and MKCOL change files as they should, refuse what they must, and leave nothing
// of an incomplete upload.
// Method: a store on disk and Site::answer(), without a socket. The path namespace shows the
// result.
#include "http/site_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/origin.h"
#include "http/site.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::http {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Method = Request::Method;
using Headers = std::vector<std::pair<std::string, std::string>>;

class SiteChangesTest : public gridfs::BucketFixture {
 protected:
  void SetUp() override {
    options_.database = bucket().database().name();
    base_ = "/" + bucket().options().name + "/";
    options_.write.emplace();
    upload("first", "so that the bucket exists");
  }

  Request request(Method method, const std::string& path, Headers headers = {}) const {
    Request request;
    request.method = method;
    request.target = base_ + path;
    request.has_body = method == Method::kPut;
    request.fields = std::move(headers);
    request.fields.emplace_back("Host", "localhost");
    return request;
  }
  // Answers a request with this body, which arrives in two pieces.
  static Reply ask(const Site& site, Request request, const std::string& body) {
    request.has_body = !body.empty();
    request.body_bytes = body.size();
    Answer answer = site.answer(request);
    if (auto* const reply = std::get_if<Reply>(&answer)) return std::move(*reply);
    const auto receiver = std::move(std::get<std::unique_ptr<BodyReceiver>>(answer));
    for (const std::string& piece :
         {body.substr(0, body.size() / 2), body.substr(body.size() / 2)}) {
      if (auto failed = receiver->take(gridfs::bytes_of(piece))) return *std::move(failed);
    }
    return receiver->finish();
  }
  Reply put(const std::string& path, const std::string& body, Headers headers = {}) {
    return ask(Site(store(), options_), request(Method::kPut, path, std::move(headers)), body);
  }
  int status_of_put(const std::string& path, Headers headers = {}) {
    return put(path, "new", std::move(headers)).status;
  }
  int status_of(Method method, const std::string& path, Headers headers = {}) {
    return ask(Site(store(), options_), request(method, path, std::move(headers)), "").status;
  }
  static std::string field(const Reply& reply, const std::string& name) {
    for (const auto& [key, value] : reply.fields) {
      if (key == name) return value;
    }
    return "";
  }
  std::string tag(const std::string& path) {
    return field(ask(Site(store(), options_), request(Method::kHead, path), ""), "ETag");
  }
  std::string text(const std::string& path) {
    Reply reply = ask(Site(store(), options_), request(Method::kGet, path), "");
    EXPECT_EQ(reply.status, 200) << path;
    std::string text;
    while (reply.body) {
      const std::string_view piece = must(reply.body->next());
      if (piece.empty()) break;
      text += piece;
    }
    return text;
  }
  std::shared_ptr<gridfs::PathNamespace> tree() {
    gridfs::BucketOptions name;
    name.name = bucket().options().name;
    return must(
        gridfs::PathNamespace::open(store(), store().database(options_.database), name, {}, {}));
  }

  SiteOptions options_;
  std::string base_;
};

TEST_F(SiteChangesTest, Put_MakesOrReplacesAFile) {
  const Reply made = put("file", "content", {{"Content-Type", "text/x-own"}});
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(field(made, "ETag"), tag("file"));
  EXPECT_EQ(text("file"), "content");
  Reply head = ask(Site(store(), options_), request(Method::kHead, "file"), "");
  EXPECT_EQ(field(head, "Content-Type"), "text/x-own");

  const Reply replaced = put("file", "");
  EXPECT_EQ(replaced.status, 204);
  EXPECT_FALSE(replaced.length);
  EXPECT_NE(field(replaced, "ETag"), field(made, "ETag"));
  EXPECT_EQ(text("file"), "");
  EXPECT_EQ(count(bucket().files()), 2);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteChangesTest, Put_LargeFiles_LeaveNothingOfTheOldOne) {
  const std::string large(20'000'000, 'x');
  EXPECT_EQ(put("file", large).status, 201);
  EXPECT_EQ(text("file"), large);
  EXPECT_EQ(put("file", large + "y").status, 204);
  EXPECT_EQ(put("file", "small").status, 204);
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteChangesTest, Put_ThatBreaksOff_LeavesNothing) {
  const Site site(store(), options_);
  const std::string large(10'000'000, 'x');
  put("file", "before");
  {
    Answer answer = site.answer(request(Method::kPut, "file"));
    auto& receiver = std::get<std::unique_ptr<BodyReceiver>>(answer);
    EXPECT_FALSE(receiver->take(gridfs::bytes_of(large)));
    EXPECT_EQ(count(bucket().detached()), 1);
    EXPECT_EQ(text("file"), "before");
  }
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_EQ(text("file"), "before");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteChangesTest, Put_Twice_TheLaterOneStays_AndConditionsHoldAtTheEnd) {
  const Site site(store(), options_);
  Answer first = site.answer(request(Method::kPut, "file"));
  Answer second = site.answer(request(Method::kPut, "file"));
  Answer only_new = site.answer(request(Method::kPut, "file", {{"If-None-Match", "*"}}));
  auto& a = std::get<std::unique_ptr<BodyReceiver>>(first);
  auto& b = std::get<std::unique_ptr<BodyReceiver>>(second);
  auto& c = std::get<std::unique_ptr<BodyReceiver>>(only_new);
  EXPECT_FALSE(a->take(gridfs::bytes_of("of the first")));
  EXPECT_FALSE(b->take(gridfs::bytes_of("of the second")));
  EXPECT_EQ(b->finish().status, 201);
  EXPECT_EQ(a->finish().status, 204);
  EXPECT_EQ(c->finish().status, 412);
  EXPECT_EQ(text("file"), "of the first");
  EXPECT_EQ(count(bucket().files()), 2);
}

TEST_F(SiteChangesTest, Put_Conditions) {
  EXPECT_EQ(status_of_put("file", {{"If-Match", "*"}}), 412);
  EXPECT_EQ(status_of_put("file", {{"If-None-Match", "*"}}), 201);
  EXPECT_EQ(status_of_put("file", {{"If-None-Match", "*"}}), 412);
  const std::string old = tag("file");
  EXPECT_EQ(status_of_put("file", {{"If-Match", old}}), 204);
  EXPECT_EQ(status_of_put("file", {{"If-Match", old}}), 412);
  EXPECT_EQ(status_of_put("file", {{"If-Match", "\"x\", " + tag("file")}}), 204);
}

TEST_F(SiteChangesTest, Put_WhatCannotBe_IsRefused) {
  EXPECT_EQ(status_of(Method::kMakeCollection, "folder"), 201);
  EXPECT_EQ(status_of_put("folder"), 405);
  EXPECT_EQ(status_of_put("folder/"), 405);
  EXPECT_EQ(status_of_put("absent/file"), 409);
  EXPECT_EQ(status_of_put("first/file"), 409);
  EXPECT_EQ(status_of_put("absent/"), 409);
  EXPECT_EQ(status_of_put("first/"), 409);
  EXPECT_EQ(status_of_put(""), 405);
  EXPECT_EQ(status_of_put(".gridfs"), 403);
  EXPECT_EQ(status_of_put("%25gridfs:long:x:0123"), 403);
  EXPECT_EQ(status_of_put(std::string(300, 'x')), 414);
  EXPECT_EQ(status_of_put("file", {{"Content-Range", "bytes 0-2/3"}}), 400);
  EXPECT_EQ(status_of_put("file", {{"Content-Encoding", "gzip"}}), 415);
  EXPECT_EQ(status_of_put("file", {{"Content-Type", "t\x80"}}), 400);
  Request without_length = request(Method::kPut, "first");
  without_length.has_body = false;
  EXPECT_EQ(std::get<Reply>(Site(store(), options_).answer(without_length)).status, 411);
  base_ = "/absent/";
  EXPECT_EQ(status_of_put("file"), 404);
  base_ = "/.id/" + bucket().options().name + "/";
  EXPECT_EQ(status_of_put("5"), 405);
  EXPECT_EQ(count(bucket().files()), 1);
}

TEST_F(SiteChangesTest, Put_OverOtherKinds_IsRefused) {
  {
    const auto paths = tree();
    must(paths->symlink("", "link", "first", {}));
    const auto file = must(paths->create_file("", "named", 0644, {}));
    must(paths->link(file.id, "", "named twice"));
    must(paths->close());
  }
  EXPECT_EQ(status_of_put("link"), 403);
  EXPECT_EQ(status_of_put("named"), 409);
  EXPECT_EQ(status_of_put("named%20twice"), 409);
  EXPECT_EQ(status_of(Method::kDelete, "named"), 409);
  EXPECT_EQ(status_of(Method::kDelete, "named%20twice"), 409);
  EXPECT_EQ(status_of(Method::kDelete, "link"), 403);
}

TEST_F(SiteChangesTest, Put_KeepsTheAttributes_ButNotTheSetIdBits) {
  {
    const auto paths = tree();
    must(paths->create_file("", "private", 04700, {.uid = 5, .gid = 6}));
    must(paths->close());
  }
  EXPECT_EQ(status_of_put("private"), 204);
  const auto paths = tree();
  const gridfs::Node node = must(paths->lookup("", "private"));
  EXPECT_EQ(node.attributes.mode & 07777, 0700U);
  EXPECT_EQ(node.attributes.uid, 5U);
  EXPECT_EQ(node.attributes.gid, 6U);
  must(paths->close());
}

TEST_F(SiteChangesTest, Put_KeepsRevisions_IfAsked) {
  options_.write->paths.revisions = 2;
  for (const char* content : {"1", "2", "3", "4"}) put("file", content);
  const auto paths = tree();
  EXPECT_EQ(must(paths->revisions("", "file")).size(), 3U);
  must(paths->close());
  EXPECT_EQ(text("file"), "4");
  EXPECT_EQ(status_of(Method::kDelete, "file"), 204);
  EXPECT_EQ(status_of(Method::kGet, "file"), 404);
}

TEST_F(SiteChangesTest, Put_BeyondTheLimits_IsRefused) {
  options_.write->upload_bytes_max = 10;
  EXPECT_EQ(put("file", "0123456789").status, 201);
  EXPECT_EQ(put("file", "0123456789a").status, 413);
  const Site site(store(), options_);
  // The head of this request does not have the length of the body.
  Answer answer = site.answer(request(Method::kPut, "file"));
  auto& receiver = std::get<std::unique_ptr<BodyReceiver>>(answer);
  EXPECT_FALSE(receiver->take(gridfs::bytes_of("0123456789")));
  const auto failed = receiver->take(gridfs::bytes_of("a"));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->status, 413);
  receiver.reset();
  EXPECT_EQ(text("file"), "0123456789");

  options_.write->uploads_max = 1;
  const Site narrow(store(), options_);
  Answer one = narrow.answer(request(Method::kPut, "file"));
  EXPECT_EQ(std::get<Reply>(narrow.answer(request(Method::kPut, "file"))).status, 503);
  one = Reply();
  EXPECT_EQ(ask(narrow, request(Method::kPut, "file"), "x").status, 204);
}

TEST_F(SiteChangesTest, Put_IntoAFullStore_IsRefused) {
  limit(8 << 20);
  EXPECT_EQ(put("file", std::string(20'000'000, 'x')).status, 507);
  EXPECT_EQ(count(bucket().detached()), 0);
}

TEST_F(SiteChangesTest, Delete_RemovesFilesAndDirectories) {
  EXPECT_EQ(status_of(Method::kDelete, "absent"), 404);
  EXPECT_EQ(status_of(Method::kDelete, "absent/file"), 404);
  put("file", "x");
  EXPECT_EQ(status_of(Method::kDelete, "file", {{"If-Match", "\"other\""}}), 412);
  EXPECT_EQ(status_of(Method::kDelete, "file/"), 404);
  EXPECT_EQ(status_of(Method::kDelete, "file", {{"If-Match", tag("file")}}), 204);
  EXPECT_EQ(status_of(Method::kDelete, "file"), 404);
  EXPECT_EQ(status_of(Method::kMakeCollection, "folder/"), 201);
  put("folder/file", "x");
  EXPECT_EQ(status_of(Method::kDelete, "folder", {{"Depth", "0"}}), 400);
  EXPECT_EQ(status_of(Method::kDelete, "folder/file"), 204);
  EXPECT_EQ(status_of(Method::kDelete, "folder/"), 204);
  EXPECT_EQ(status_of(Method::kDelete, "folder"), 404);
  EXPECT_EQ(status_of(Method::kDelete, ""), 405);
  EXPECT_EQ(count(bucket().chunks()), 1);
}

TEST_F(SiteChangesTest, MakeCollection_MakesADirectory) {
  EXPECT_EQ(status_of(Method::kMakeCollection, "a"), 201);
  EXPECT_EQ(status_of(Method::kMakeCollection, "a"), 405);
  EXPECT_EQ(status_of(Method::kMakeCollection, "first"), 405);
  EXPECT_EQ(status_of(Method::kMakeCollection, "absent/b"), 409);
  EXPECT_EQ(status_of(Method::kMakeCollection, ".gridfs"), 403);
  EXPECT_EQ(ask(Site(store(), options_), request(Method::kMakeCollection, "b"), "x").status, 415);
  const auto paths = tree();
  EXPECT_EQ(must(paths->lookup("", "a")).kind, gridfs::NodeKind::kDirectory);
  must(paths->close());
}

// V2 of path_namespace.h.
TEST_F(SiteChangesTest, ImpliedDirectories_StayAfterAChangeInThem) {
  upload("a/b/file", "x");
  EXPECT_EQ(status_of(Method::kDelete, "a/b/file"), 204);
  EXPECT_EQ(status_of(Method::kGet, "a/b/"), 200);
  upload("c/d/file", "x");
  EXPECT_EQ(status_of(Method::kMakeCollection, "c/d/e"), 201);
  EXPECT_EQ(status_of(Method::kDelete, "c/d/file"), 204);
  EXPECT_EQ(status_of(Method::kGet, "c/d/e/"), 200);
}

TEST_F(SiteChangesTest, PagesOfOtherSites_CannotWrite) {
  for (const Headers& foreign :
       {Headers{{"Origin", "http://example.com"}}, Headers{{"Origin", "null"}},
        Headers{{"Origin", "https://localhost"}}, Headers{{"Origin", "http://localhost:1"}},
        Headers{{"Sec-Fetch-Site", "cross-site"}}, Headers{{"Sec-Fetch-Site", "same-site"}}}) {
    EXPECT_EQ(status_of_put("file", foreign), 403);
    EXPECT_EQ(status_of(Method::kDelete, "first", foreign), 403);
    EXPECT_EQ(status_of(Method::kMakeCollection, "folder", foreign), 403);
  }
  EXPECT_EQ(status_of_put("file", {{"Origin", "http://localhost"}}), 201);
  EXPECT_EQ(status_of_put("file", {{"Sec-Fetch-Site", "same-origin"}}), 204);
}

TEST_F(SiteChangesTest, WithoutTheOption_NothingCanBeChanged) {
  options_.write.reset();
  EXPECT_EQ(status_of_put("file"), 405);
  EXPECT_EQ(status_of(Method::kDelete, "first"), 405);
  EXPECT_EQ(status_of(Method::kMakeCollection, "folder"), 405);
  EXPECT_EQ(count(bucket().files()), 1);
}

}  // namespace
}  // namespace gridmount::http
