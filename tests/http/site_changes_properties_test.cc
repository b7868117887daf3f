// Goal: PROPPATCH sets the modification time, and reports that every other property was not
// changed.
#include "http/resource_properties.h"
#include "tests/http/dav_site.h"

namespace gridmount::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Method = Request::Method;

class SitePropPatchTest : public DavSite {
 protected:
  void SetUp() override {
    DavSite::SetUp();
    allow_changes();
    upload("dir/file", "content");
  }
  DavReply patch(const std::string& path, const std::string& instructions, FieldList fields = {}) {
    return ask(Method::kPatchProperties, path, std::move(fields),
               "<D:propertyupdate xmlns:D=\"DAV:\" xmlns:Z=\"urn:schemas-microsoft-com:\">" +
                   instructions + "</D:propertyupdate>");
  }
  static std::string set(const std::string& properties) {
    return "<D:set><D:prop>" + properties + "</D:prop></D:set>";
  }
  bool has_mtime(const std::string& path, const std::string& date) {
    return propfind(path).body.find("<D:getlastmodified>" + date + "</D:getlastmodified>") !=
           std::string::npos;
  }

  const std::string kDate = "Sun, 06 Nov 1994 08:49:37 GMT";
  const std::string kOther = "Mon, 07 Nov 1994 08:49:37 GMT";
};

TEST_F(SitePropPatchTest, Mtime_IsSet) {
  for (const char* path : {"first", "dir", "dir/file", "dir/"}) {
    const std::string tag = ask(Method::kHead, path).field("ETag");
    const DavReply reply = patch(path, set("<D:getlastmodified>" + kDate + "</D:getlastmodified>"));
    EXPECT_EQ(reply.status, 207);
    EXPECT_THAT(reply.body, HasSubstr("<D:propstat><D:prop><D:getlastmodified/></D:prop><D:status>"
                                      "HTTP/1.1 200 OK</D:status></D:propstat>"));
    EXPECT_TRUE(has_mtime(path, kDate)) << path;
    EXPECT_EQ(ask(Method::kHead, path).field("ETag"), tag);
    EXPECT_EQ(
        patch(path, set("<Z:Win32LastModifiedTime> " + kOther + " </Z:Win32LastModifiedTime>"))
            .status,
        207);
    EXPECT_TRUE(has_mtime(path, kOther)) << path;
  }
  EXPECT_EQ(ask(Method::kHead, "first").field("Last-Modified"), kOther);
  EXPECT_THAT(problems(), testing::IsEmpty());
}

TEST_F(SitePropPatchTest, ConditionsAndWhiteSpace_AreHeeded) {
  const std::string mtime = set("<D:getlastmodified>\n  " + kDate + "\n</D:getlastmodified>");
  EXPECT_EQ(patch("first", mtime, {{"If-Match", "\"wrong\""}}).status, 412);
  EXPECT_FALSE(has_mtime("first", kDate));
  EXPECT_EQ(patch("first", mtime, {{"If-Match", ask(Method::kHead, "first").field("ETag")}}).status,
            207);
  EXPECT_TRUE(has_mtime("first", kDate));
}

TEST_F(SitePropPatchTest, OtherProperties_AreRefused_AndThenNothingIsSet) {
  const std::string mtime = "<D:getlastmodified>" + kDate + "</D:getlastmodified>";
  for (const std::string& other :
       {std::string("<D:getetag>x</D:getetag>"), std::string("<own xmlns=\"urn:x\">y</own>"),
        std::string("<Z:Win32FileAttributes>20</Z:Win32FileAttributes>")}) {
    const DavReply reply = patch("first", set(mtime + other));
    EXPECT_EQ(reply.status, 207);
    EXPECT_THAT(reply.body, HasSubstr("HTTP/1.1 403 Forbidden"));
    EXPECT_THAT(reply.body, HasSubstr("HTTP/1.1 424 Failed Dependency"));
    EXPECT_THAT(reply.body, Not(HasSubstr("200 OK")));
  }
  EXPECT_THAT(patch("first", "<D:remove><D:prop><D:getlastmodified/></D:prop></D:remove>").body,
              HasSubstr("403 Forbidden"));
  EXPECT_THAT(patch("first", set("<D:getlastmodified>1994</D:getlastmodified>")).body,
              HasSubstr("409 Conflict"));
  EXPECT_FALSE(has_mtime("first", kDate));
}

TEST_F(SitePropPatchTest, BadRequests_PropPatchRefusesThem) {
  const std::string mtime = set("<D:getlastmodified>" + kDate + "</D:getlastmodified>");
  EXPECT_EQ(ask(Method::kPatchProperties, "first").status, 400);
  EXPECT_EQ(patch("first", "").status, 400);
  EXPECT_EQ(patch("first", "<D:set/>").status, 400);
  EXPECT_EQ(patch("first", set("")).status, 400);
  EXPECT_EQ(ask(Method::kPatchProperties, "first", {}, "<a/>").status, 400);
  EXPECT_EQ(patch("absent", mtime).status, 404);
  EXPECT_EQ(patch("first/", mtime).status, 404);
  EXPECT_EQ(patch("", mtime).status, 405);
  EXPECT_EQ(patch("first", mtime, {{"If", "(<urn:x>)"}}).status, 412);
  EXPECT_EQ(patch("first", mtime, {{"Origin", "http://example.com"}}).status, 403);
  std::string many;
  for (size_t i = 0; i <= kPropertyNamesMax; ++i) many += "<Z:a/>";
  EXPECT_EQ(patch("first", set(many)).status, 413);
  EXPECT_FALSE(has_mtime("first", kDate));
  const DavReply locked = ask(Method::kLock, "first", {},
                              "<lockinfo xmlns=\"DAV:\"><lockscope><exclusive/></lockscope>"
                              "<locktype><write/></locktype></lockinfo>");
  EXPECT_EQ(patch("first", mtime).status, 423);
  EXPECT_EQ(patch("first", mtime, {{"If", "(" + locked.field("Lock-Token") + ")"}}).status, 207);
  EXPECT_TRUE(has_mtime("first", kDate));
  options_.write.reset();
  restart();
  EXPECT_EQ(patch("first", mtime).status, 405);
}

}  // namespace
}  // namespace gridmount::http
