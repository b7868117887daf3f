// Goal: requests get the files and listings of a store, whole or in ranges, and never a mixture of
// two contents.
// Method: a store on disk and Site::answer(), without a socket.
#include "http/site.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/bson/json.h"
#include "http/file_content.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::http {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using Fields = std::vector<std::pair<std::string, std::string>>;

class HttpSiteTest : public gridfs::BucketFixture {
 protected:
  void SetUp() override {
    options_.database = bucket().database().name();
    options_.bucket = bucket().options().name;
    base_ = "/" + bucket().options().name + "/";
  }

  Reply answer(const std::string& target, Fields fields = {},
               Request::Method method = Request::Method::kGet) {
    Request request;
    request.method = method;
    request.target = target;
    request.fields = std::move(fields);
    request.fields.emplace_back("Host", "localhost");
    return std::get<Reply>(Site(store(), options_).answer(request));
  }
  Reply get(const std::string& path, Fields fields = {}) {
    return answer(base_ + path, std::move(fields));
  }
  static std::string field(const Reply& reply, const std::string& name) {
    for (const auto& [key, value] : reply.fields) {
      if (key == name) return value;
    }
    return "";
  }
  static std::string body(Reply& reply) {
    std::string text;
    while (reply.body) {
      const std::string_view piece = must(reply.body->next());
      EXPECT_LE(piece.size(), kPieceBytesMax);
      if (piece.empty()) break;
      text += piece;
    }
    return text;
  }
  static std::string id_path(const bson::Value& id) {
    return percent_encoded(bson::to_json(id, bson::JsonForm::kCanonical));
  }

  SiteOptions options_;
  std::string base_;
};

TEST_F(HttpSiteTest, Files_AreReadByPathAndById) {
  std::mt19937_64 random(1);
  for (const size_t size : {0UL, 1UL, 1000UL, 700'001UL}) {
    const std::string content = gridfs::random_bytes(random, size);
    const bson::Value id = upload("dir/a b.txt", content);
    Reply reply = get("dir/a%20b.txt");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.length, size);
    EXPECT_EQ(body(reply), content);
    EXPECT_EQ(field(reply, "Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(field(reply, "Accept-Ranges"), "bytes");
    EXPECT_EQ(field(reply, "X-Content-Type-Options"), "nosniff");
    for (const std::string& text : {id.view().as_object_id().hex(), id_path(id)}) {
      Reply by_id = answer("/.id" + base_ + text);
      EXPECT_EQ(by_id.status, 200) << text;
      EXPECT_EQ(field(by_id, "ETag"), field(reply, "ETag"));
      EXPECT_EQ(body(by_id), content);
    }
  }
}

// A path and an _id lead to the same file, so they find the same type, whatever the mode is.
TEST_F(HttpSiteTest, Files_HaveOneTypeByPathAndById) {
  const auto upload_with = [&](const std::string& name, const std::string& metadata) {
    const bson::Document document = must(bson::document_from_json(metadata));
    gridfs::UploadOptions how;
    how.metadata = document;
    return upload(name, "content", how);
  };
  const auto status_by_id = [&](const bson::Value& id) {
    return answer("/.id" + base_ + id_path(id)).status;
  };
  // No file can have the type of a directory, 0040000, so this file counts as a regular one.
  const bson::Value odd = upload_with("odd", R"({"posix": {"mode": 16877}})");
  EXPECT_EQ(get("odd").status, 200);
  EXPECT_EQ(status_by_id(odd), 200);
  const bson::Value link = upload_with("link", R"({"posix": {"symlinkTarget": "target"}})");
  EXPECT_EQ(get("link").status, 403);
  EXPECT_EQ(status_by_id(link), 403);
}

TEST_F(HttpSiteTest, OtherIds_AreJson) {
  for (const bson::Value& id : {bson::Value("text"), bson::Value(int32_t{5}), bson::Value(2.5),
                                bson::Value(bson::Date{5}), bson::Value(true)}) {
    gridfs::UploadOptions how;
    how.id = id;
    upload("file", "content", how);
    Reply reply = answer("/.id" + base_ + id_path(id));
    EXPECT_EQ(reply.status, 200) << id_path(id);
    EXPECT_EQ(body(reply), "content");
  }
  EXPECT_EQ(answer("/.id" + base_ + "text").status, 400);
  EXPECT_EQ(answer("/.id" + base_ + "%22absent%22").status, 404);
  EXPECT_EQ(answer("/.id" + base_ + std::string(24, '0')).status, 404);
  EXPECT_EQ(answer("/.id" + base_).status, 404);
  EXPECT_EQ(answer("/.id/nobucket/5").status, 404);
}

TEST_F(HttpSiteTest, Head_HasTheFieldsOfGet) {
  upload("file", "content");
  Reply reply = answer(base_ + "file", {}, Request::Method::kHead);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.length, 7U);
  EXPECT_EQ(reply.body, nullptr);
  EXPECT_EQ(answer(base_ + "file", {{"Range", "bytes=0-0"}}, Request::Method::kHead).status, 200);
  EXPECT_EQ(answer(base_ + "absent", {}, Request::Method::kHead).body, nullptr);
  EXPECT_EQ(answer("/", {}, Request::Method::kHead).body, nullptr);
}

TEST_F(HttpSiteTest, WhatIsNotThere_IsNotFound) {
  upload("dir/file", "content");
  for (const char* path : {"absent", "dir/absent", "dir/file/", "dir/file/below", "Dir/file",
                           "%25gridfs%3Aid%3A5", "a%25gridfs%3Ab", "%FF"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
  EXPECT_EQ(get(std::string(300, 'x')).status, 404);
  for (const char* path : {"/nobucket/file", "/$bad/file", "/system/", "/%20/x"}) {
    EXPECT_EQ(answer(path).status, 404) << path;
  }
}

TEST_F(HttpSiteTest, BadRequests_AreRefused) {
  upload("file", "content");
  for (const char* path : {"..", "../file", "%2e%2e/file", "dir/..%2ffile", "file%", "a//b", "."}) {
    EXPECT_EQ(get(path).status, 400) << path;
  }
  const Reply post = answer(base_ + "file", {}, Request::Method::kOther);
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(field(post, "Allow"), "OPTIONS, GET, HEAD, PROPFIND");
  EXPECT_EQ(answer("http://example.com" + base_ + "file").status, 421);
  EXPECT_EQ(answer("http://localhost" + base_ + "file").status, 200);
  Request request;
  request.target = base_ + "file";
  EXPECT_EQ(std::get<Reply>(Site(store(), options_).answer(request)).status, 400);
  request.fields = {{"Host", "example.com"}};
  EXPECT_EQ(std::get<Reply>(Site(store(), options_).answer(request)).status, 421);
}

TEST_F(HttpSiteTest, Ranges_AreParts) {
  std::mt19937_64 random(2);
  const std::string content = gridfs::random_bytes(random, 600'000);
  upload("file", content);
  Reply one = get("file", {{"Range", "bytes=262143-262144"}});
  EXPECT_EQ(one.status, 206);
  EXPECT_EQ(field(one, "Content-Range"), "bytes 262143-262144/600000");
  EXPECT_EQ(body(one), content.substr(262143, 2));
  Reply suffix = get("file", {{"Range", "bytes=-300000"}});
  EXPECT_EQ(suffix.status, 206);
  EXPECT_EQ(suffix.length, 300'000U);
  EXPECT_EQ(body(suffix), content.substr(300'000));
  const Reply beyond = get("file", {{"Range", "bytes=600000-"}});
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(field(beyond, "Content-Range"), "bytes */600000");
}

TEST_F(HttpSiteTest, SeveralRanges_AreMultipart) {
  upload("file.txt", "0123456789");
  Reply reply = get("file.txt", {{"Range", "bytes=0-1,-3"}});
  EXPECT_EQ(reply.status, 206);
  const std::string type = field(reply, "Content-Type");
  const std::string lead = "multipart/byteranges; boundary=";
  ASSERT_THAT(type, StartsWith(lead));
  const std::string boundary = type.substr(lead.size());
  const std::string text = body(reply);
  EXPECT_EQ(reply.length, text.size());
  EXPECT_EQ(text, "--" + boundary +
                      "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes 0-1/10"
                      "\r\n\r\n01\r\n--" +
                      boundary +
                      "\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Range: bytes 7-9/10"
                      "\r\n\r\n789\r\n--" +
                      boundary + "--\r\n");
}

TEST_F(HttpSiteTest, Conditions_AreHeeded) {
  upload("file", "content");
  const Reply reply = get("file");
  const std::string tag = field(reply, "ETag");
  const std::string date = field(reply, "Last-Modified");
  Reply same = get("file", {{"If-None-Match", tag}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, nullptr);
  EXPECT_EQ(field(same, "ETag"), tag);
  EXPECT_EQ(get("file", {{"If-Modified-Since", date}}).status, 304);
  EXPECT_EQ(get("file", {{"If-Match", "\"x\""}}).status, 412);
  EXPECT_EQ(get("file", {{"If-Range", tag}, {"Range", "bytes=0-0"}}).status, 206);
  EXPECT_EQ(get("file", {{"If-Range", "\"x\""}, {"Range", "bytes=0-0"}}).status, 200);
  upload("file", "another");
  EXPECT_EQ(get("file", {{"If-None-Match", tag}}).status, 200);
  EXPECT_EQ(get("file", {{"If-Range", tag}, {"Range", "bytes=0-0"}}).status, 200);
}

TEST_F(HttpSiteTest, TypesAndDownloads) {
  gridfs::UploadOptions how;
  how.content_type = "text/html";
  upload("page", "<p>", how);
  const Reply page = get("page");
  EXPECT_EQ(field(page, "Content-Type"), "text/html");
  EXPECT_EQ(field(page, "Content-Security-Policy"), "sandbox");
  upload("d/\xC3\xA9 \"x\".pdf", "%PDF");
  const Reply download = get("d/%C3%A9%20%22x%22.pdf?download");
  EXPECT_EQ(field(download, "Content-Disposition"),
            "attachment; filename=\"__ _x_.pdf\"; filename*=UTF-8''%C3%A9%20%22x%22.pdf");
  EXPECT_EQ(field(get("page"), "Content-Disposition"), "");
}

TEST_F(HttpSiteTest, Listings_HaveWhatIsThere) {
  upload("dir/b", "22");
  upload("dir/<a>", "1");
  upload("dir/sub/x", "");
  Reply html = get("dir/");
  EXPECT_EQ(html.status, 200);
  EXPECT_EQ(field(html, "Content-Type"), "text/html; charset=utf-8");
  EXPECT_EQ(html.length, std::nullopt);
  EXPECT_THAT(body(html), HasSubstr("&lt;a&gt;</a>"));
  for (const Fields& fields : {Fields{}, Fields{{"Accept", "application/json"}}}) {
    Reply json = get(fields.empty() ? "dir?format=json" : "dir", fields);
    EXPECT_EQ(field(json, "Content-Type"), "application/json");
    const bson::Document parsed = must(bson::document_from_json(body(json)));
    const std::string text = bson::to_json(parsed, bson::JsonForm::kRelaxed);
    for (const char* part : {"\"<a>\"", "\"b\"", "\"sub\"", "\"directory\"", "\"size\" : 2"}) {
      EXPECT_THAT(text, HasSubstr(part));
    }
  }
  EXPECT_EQ(get("dir?format=xml").status, 400);
  Reply buckets = answer("/?format=json");
  EXPECT_THAT(body(buckets), HasSubstr("\"href\": \"" + base_ + "\""));
}

TEST_F(HttpSiteTest, ListingOfManyNames_HasEachOnce) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  constexpr int kNames = 3000;
  change([&](engine::Transaction& transaction) {
    for (int i = 0; i < kNames; ++i) {
      bson::Builder builder;
      builder.append("_id", int32_t{i})
          .append("length", int32_t{0})
          .append("chunkSize", int32_t{1024});
      builder.append("uploadDate", bson::Date{1}).append("filename", "many/" + std::to_string(i));
      must(bucket().files().insert(transaction, std::move(builder).finish()));
    }
  });
  Reply reply = get("many/?format=json");
  const std::string text = body(reply);
  for (int i = 0; i < kNames; ++i) {
    const std::string name = "{\"name\": \"" + std::to_string(i) + "\"";
    const size_t at = text.find(name);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_EQ(text.find(name, at + 1), std::string::npos) << name;
  }
}

TEST_F(HttpSiteTest, ReplacedDuringTheReply_IsCutOff) {
  std::mt19937_64 random(3);
  const std::string content = gridfs::random_bytes(random, 1'000'000);
  const bson::Value id = upload("file", content);
  Reply reply = get("file");
  const std::string first(must(reply.body->next()));
  EXPECT_EQ(first, content.substr(0, first.size()));
  must(bucket().remove(id));
  upload("file", gridfs::random_bytes(random, 1'000'000));
  const auto next = reply.body->next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code(), gridfs::kFileNotFound);
}

TEST_F(HttpSiteTest, ChangedDuringTheReply_IsCutOff) {
  std::mt19937_64 random(4);
  for (const int64_t length : {int64_t{1'000'000}, int64_t{300'000}}) {
    upload("file", gridfs::random_bytes(random, 1'000'000));
    Reply reply = get("file");
    must(reply.body->next());
    // Changes the document as a mount does that writes to the file: another date, perhaps another
    // length.
    change([&](engine::Transaction& transaction) {
      bson::Builder update;
      update.open_document("$set").append("uploadDate", bson::Date{1}).append("length", length);
      must(bucket().files().update(transaction, {}, std::move(update.close()).finish()));
    });
    const auto next = reply.body->next();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code(), gridfs::kFileChanged);
    must(bucket().remove_by_name("file"));
  }
}

TEST_F(HttpSiteTest, MissingChunk_IsAnError) {
  const bson::Value id = upload("file", std::string(600'000, 'x'));
  change([&](engine::Transaction& transaction) {
    bson::Builder filter;
    filter.append("files_id", id.view()).append("n", int32_t{1});
    must(bucket().chunks().remove(transaction, std::move(filter).finish(), false));
  });
  Reply reply = get("file");
  must(reply.body->next());
  const auto next = reply.body->next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code(), gridfs::kChunkIsMissing);
}

TEST_F(HttpSiteTest, EarlierTime_HidesWhatIsNewer) {
  const bson::Value id = upload("file", "content");
  options_.at = bson::Date{0};
  EXPECT_EQ(get("file").status, 404);
  EXPECT_EQ(answer("/.id" + base_ + id_path(id)).status, 404);
}

TEST_F(HttpSiteTest, OtherBuckets_AreHidden) {
  upload("file", "content");
  options_.bucket = "other";
  EXPECT_EQ(get("file").status, 404);
  Reply reply = answer("/?format=json");
  EXPECT_EQ(body(reply), "{\"path\": \"/\", \"entries\": [\n]}\n");
}

}  // namespace
}  // namespace gridmount::http
