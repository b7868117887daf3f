// Goal: PROPFIND describes files, directories and buckets as RFC 4918 says, in bounded memory, and
// OPTIONS says what the site can do.
#include "http/site_properties.h"

#include "engine/bson/json.h"
#include "http/http_date.h"
#include "http/resource_properties.h"
#include "tests/http/dav_site.h"

namespace gridmount::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Method = Request::Method;

class SitePropertiesTest : public DavSite {
 protected:
  // Returns the elements `response` of a reply, by their href.
  static std::vector<std::pair<std::string, XmlElement>> responses(const DavReply& reply) {
    std::vector<std::pair<std::string, XmlElement>> all;
    const XmlElement root = must(parse_xml(reply.body));
    EXPECT_TRUE(root.name.is_dav("multistatus"));
    for (const XmlElement& response : root.children) {
      all.emplace_back(response.child("href")->text, response);
    }
    return all;
  }
  static std::vector<std::string> hrefs(const DavReply& reply) {
    std::vector<std::string> all;
    for (const auto& [href, response] : responses(reply)) all.push_back(href);
    return all;
  }
  // Returns the names of the first resource's properties that have this status.
  static std::vector<std::string> names_with(const DavReply& reply, const std::string& status) {
    std::vector<std::string> names;
    const XmlElement response = responses(reply).at(0).second;
    for (const XmlElement& child : response.children) {
      if (!child.name.is_dav("propstat") || child.child("status")->text != status) continue;
      for (const XmlElement& property : child.child("prop")->children) {
        names.push_back(property.name.space + property.name.name);
      }
    }
    return names;
  }
  static std::string value(const DavReply& reply, const std::string& name) {
    const XmlElement response = responses(reply).at(0).second;
    const XmlElement* const property = response.child("propstat")->child("prop")->child(name);
    return property == nullptr ? "absent" : property->text;
  }

  const std::string kOk = "HTTP/1.1 200 OK";
  const std::string kNotFound = "HTTP/1.1 404 Not Found";
};

TEST_F(SitePropertiesTest, File_HasThePropertiesOfGet) {
  upload("dir/a b&.txt", "content");
  const DavReply head = ask(Method::kHead, "dir/a%20b%26.txt");
  const DavReply reply = propfind("dir/a%20b%26.txt");
  EXPECT_EQ(reply.status, 207);
  EXPECT_EQ(reply.field("Content-Type"), "application/xml; charset=utf-8");
  EXPECT_THAT(hrefs(reply), testing::ElementsAre(base_ + "dir/a%20b%26.txt"));
  EXPECT_EQ(value(reply, "getetag"), head.field("ETag"));
  EXPECT_EQ(value(reply, "getlastmodified"), head.field("Last-Modified"));
  EXPECT_EQ(value(reply, "getcontenttype"), head.field("Content-Type"));
  EXPECT_EQ(value(reply, "getcontentlength"), "7");
  EXPECT_EQ(value(reply, "displayname"), "a b&.txt");
  EXPECT_EQ(value(reply, "resourcetype"), "");
  EXPECT_EQ(value(reply, "creationdate").substr(0, 2), "20");
  EXPECT_EQ(value(reply, "quota-used-bytes"), "absent");
  EXPECT_THAT(names_with(reply, kNotFound), testing::IsEmpty());
}

TEST_F(SitePropertiesTest, Directory_HasItsChildren_AtDepthOne) {
  upload("dir/file", "content");
  upload("dir/below/deep", "content");
  const DavReply alone = propfind("dir");
  EXPECT_THAT(hrefs(alone), testing::ElementsAre(base_ + "dir/"));
  EXPECT_THAT(alone.body, HasSubstr("<D:resourcetype><D:collection/></D:resourcetype>"));
  EXPECT_EQ(value(alone, "getcontentlength"), "absent");
  for (const char* path : {"dir", "dir/"}) {
    EXPECT_THAT(hrefs(propfind(path, "", "1")),
                testing::ElementsAre(base_ + "dir/", base_ + "dir/below/", base_ + "dir/file"));
  }
  EXPECT_THAT(hrefs(propfind("", "", "1")),
              testing::ElementsAre(base_, base_ + "dir/", base_ + "first"));
  EXPECT_THAT(hrefs(propfind("/", "", "1")), testing::ElementsAre("/", base_));
  EXPECT_THAT(hrefs(propfind("/")), testing::ElementsAre("/"));
  EXPECT_THAT(hrefs(propfind("first", "", "1")), testing::ElementsAre(base_ + "first"));
}

TEST_F(SitePropertiesTest, Depth_MustBeFinite) {
  upload("dir/file", "content");
  for (const char* path : {"dir", "", "/"}) {
    const DavReply reply = propfind(path, "", "infinity");
    EXPECT_EQ(reply.status, 403);
    EXPECT_THAT(reply.body, HasSubstr("<D:propfind-finite-depth/>"));
  }
  EXPECT_EQ(ask(Method::kFindProperties, "dir").status, 403);
  // A file is a tree of one resource.
  EXPECT_EQ(propfind("dir/file", "", "infinity").status, 207);
  EXPECT_EQ(ask(Method::kFindProperties, "dir/file").status, 207);
  for (const char* depth : {"2", "-1", "", "1,noroot"}) {
    EXPECT_EQ(propfind("dir", "", depth).status, 400) << depth;
  }
}

TEST_F(SitePropertiesTest, SelectedProperties_AreFoundOrNot) {
  const DavReply reply = propfind(
      "first", asking_for("<getcontentlength/><x:own xmlns:x=\"urn:a&amp;b\"/><none xmlns=\"\"/>"
                          "<unknown/><getcontentlength/>"));
  EXPECT_THAT(names_with(reply, kOk), testing::ElementsAre("DAV:getcontentlength"));
  EXPECT_THAT(names_with(reply, kNotFound),
              testing::ElementsAre("urn:a&bown", "none", "DAV:unknown"));
  // A request for no property is valid, too.
  EXPECT_THAT(propfind("first", asking_for("")).body, HasSubstr(kOk));
  // Only files have an ETag.
  EXPECT_THAT(names_with(propfind("", asking_for("<getetag/><resourcetype/>")), kNotFound),
              testing::ElementsAre("DAV:getetag"));
}

TEST_F(SitePropertiesTest, Quotas_AreOfDirectories_AndOnlyForThoseWhoAsk) {
  const std::string quotas = asking_for("<quota-available-bytes/><quota-used-bytes/>");
  const DavReply reply = propfind("", quotas);
  EXPECT_GT(std::stoll(value(reply, "quota-available-bytes")), 0);
  EXPECT_GT(std::stoll(value(reply, "quota-used-bytes")), 0);
  EXPECT_THAT(names_with(propfind("first", quotas), kOk), testing::IsEmpty());
  EXPECT_THAT(propfind("").body, Not(HasSubstr("quota")));
  const DavReply with = propfind(
      "", "<propfind xmlns=\"DAV:\"><allprop/><include><quota-used-bytes/></include></propfind>");
  EXPECT_NE(value(with, "quota-used-bytes"), "absent");
  EXPECT_NE(value(with, "displayname"), "absent");
}

TEST_F(SitePropertiesTest, Names_HaveNoValues) {
  const DavReply reply = propfind("first", "<propfind xmlns=\"DAV:\"><propname/></propfind>");
  EXPECT_THAT(names_with(reply, kOk),
              testing::ElementsAre("DAV:creationdate", "DAV:displayname", "DAV:getcontentlength",
                                   "DAV:getcontenttype", "DAV:getetag", "DAV:getlastmodified",
                                   "DAV:resourcetype"));
  EXPECT_EQ(value(reply, "getcontentlength"), "");
  EXPECT_EQ(
      value(propfind("", "<propfind xmlns=\"DAV:\"><propname/></propfind>"), "quota-used-bytes"),
      "");
}

TEST_F(SitePropertiesTest, BadBodies_AreRefused) {
  for (const char* body :
       {"x", "<propfind/>", "<propfind xmlns=\"DAV:\"/>", "<prop xmlns=\"DAV:\"/>",
        "<propfind xmlns=\"DAV:\"><allprop/><propname/></propfind>",
        "<!DOCTYPE propfind [<!ENTITY a \"b\">]><propfind xmlns=\"DAV:\"><allprop/></propfind>"}) {
    EXPECT_EQ(propfind("first", body).status, 400) << body;
  }
  EXPECT_EQ(propfind("absent").status, 404);
  EXPECT_EQ(propfind("first/").status, 404);
  EXPECT_EQ(propfind("/nobucket/").status, 404);
  EXPECT_EQ(propfind("/.id" + base_).status, 405);
  EXPECT_EQ(propfind("../x").status, 400);
}

TEST_F(SitePropertiesTest, LargeBodies_AreRefused) {
  EXPECT_EQ(propfind("first", std::string(kXmlBytesMax + 1, ' ')).status, 413);
  Request request;
  request.method = Method::kFindProperties;
  request.target = base_ + "first";
  request.has_body = true;  // of unknown length
  request.fields = {{"Host", "localhost"}, {"Depth", "0"}};
  Answer answer = Site(store(), options_).answer(request);
  const auto receiver = std::move(std::get<std::unique_ptr<BodyReceiver>>(answer));
  EXPECT_FALSE(receiver->take(gridfs::bytes_of(std::string(kXmlBytesMax, ' '))));
  const auto refused = receiver->take(gridfs::bytes_of(" "));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 413);
}

TEST_F(SitePropertiesTest, PropertiesBeyondTheLimits_AreRefused) {
  const auto asked = [](size_t count, const std::string& space) {
    std::string names = "<propfind xmlns=\"DAV:\"><prop xmlns:x=\"" + space + "\">";
    for (size_t i = 0; i < count; ++i) names += "<x:n" + std::to_string(i) + "/>";
    return names + "</prop></propfind>";
  };
  EXPECT_EQ(propfind("first", asked(kPropertyNamesMax, "urn:x")).status, 207);
  EXPECT_EQ(propfind("first", asked(kPropertyNamesMax + 1, "urn:x")).status, 413);
  // A long namespace would be repeated for each name of each file.
  EXPECT_EQ(propfind("first", asked(100, "urn:" + std::string(1000, 'x'))).status, 413);
}

TEST_F(SitePropertiesTest, NamesThatAreNotUtf8_KeepTheirLinks) {
  const auto tree = must(gridfs::PathNamespace::open(store(), store().database(options_.database),
                                                     bucket().options(), {}, {}));
  must(tree->create_file("", "\xFF\x01", 0644, {}));
  must(tree->symlink("", "link", "first", {}));
  const DavReply reply = propfind("", "", "1");
  EXPECT_THAT(hrefs(reply),
              testing::ElementsAre(base_, base_ + "%FF%01", base_ + "first", base_ + "link"));
  EXPECT_THAT(reply.body, HasSubstr("\uFFFD\uFFFD"));
  EXPECT_EQ(value(propfind("%FF%01"), "getcontentlength"), "0");
  // Symbolic links are shown, as in listings, and have no content.
  EXPECT_EQ(value(propfind("link"), "getcontentlength"), "absent");
  EXPECT_EQ(value(propfind("link"), "resourcetype"), "");
}

TEST_F(SitePropertiesTest, ManyNames_NeedBoundedMemory) {
  constexpr int kFiles = 3000;
  change([&](engine::Transaction& transaction) {
    for (int i = 0; i < kFiles; ++i) {
      must(bucket().files().insert(
          transaction,
          must(bson::document_from_json(
              "{\"length\": {\"$numberLong\": \"0\"}, \"chunkSize\": 261120, \"uploadDate\": "
              "{\"$date\": \"2026-01-01T00:00:00Z\"}, \"filename\": \"many/" +
              std::to_string(i) + "\"}"))));
    }
  });
  largest_piece_ = 0;
  const DavReply reply = propfind("many", "", "1");
  size_t count = 0;
  for (size_t at = 0; (at = reply.body.find("<D:response>", at)) != std::string::npos; ++at)
    ++count;
  EXPECT_EQ(count, kFiles + 1);
  EXPECT_LT(largest_piece_, size_t{64} * 1024);
}

TEST_F(SitePropertiesTest, Options_SayWhatTheSiteCanDo) {
  const std::string reading = "OPTIONS, GET, HEAD, PROPFIND";
  for (const char* target : {"*", "/", "first", "absent", ""}) {
    const DavReply reply = ask(Method::kOptions, target);
    EXPECT_EQ(reply.status, 200) << target;
    EXPECT_EQ(reply.field("Allow"), reading) << target;
    EXPECT_EQ(reply.field("DAV"), "1") << target;
    EXPECT_EQ(reply.field("MS-Author-Via"), "DAV") << target;
  }
  EXPECT_EQ(ask(Method::kOptions, "/.id/").field("Allow"), "OPTIONS, GET, HEAD");
  EXPECT_EQ(ask(Method::kOptions, "/.id/").field("DAV"), "");
  allow_changes();
  restart();
  EXPECT_THAT(ask(Method::kOptions, "first").field("Allow"), HasSubstr("PUT"));
  EXPECT_THAT(ask(Method::kOptions, "*").field("Allow"), HasSubstr("PUT"));
  EXPECT_EQ(ask(Method::kOptions, "").field("Allow"), reading);
  EXPECT_EQ(ask(Method::kGet, "*").status, 400);
}

TEST_F(SitePropertiesTest, OtherHosts_AreRefused) {
  Request request;
  request.target = base_;
  request.fields = {{"Host", "example.com"}};
  for (const Method method : {Method::kOptions, Method::kFindProperties}) {
    request.method = method;
    EXPECT_EQ(std::get<Reply>(Site(store(), options_).answer(request)).status, 421);
  }
}

}  // namespace
}  // namespace gridmount::http
