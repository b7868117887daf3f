// Goal: LOCK and UNLOCK do what RFC 4918 says, and all changes heed the locks and the field If.
#include "http/site_changes.h"
#include "tests/http/dav_site.h"

namespace gridmount::http {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Method = Request::Method;

class SiteLockTest : public DavSite {
 protected:
  void SetUp() override {
    DavSite::SetUp();
    allow_changes();
    upload("dir/file", "content");
    upload("dir/other", "content");
  }
  static std::string lockinfo(const std::string& scope, const std::string& owner = "") {
    return "<?xml version=\"1.0\"?><D:lockinfo xmlns:D=\"DAV:\"><D:lockscope><D:" + scope +
           "/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>" + owner +
           "</D:owner></D:lockinfo>";
  }
  DavReply try_lock(const std::string& path, FieldList fields = {},
                    const std::string& scope = "exclusive") {
    return ask(Method::kLock, path, std::move(fields), lockinfo(scope));
  }
  // Returns the token with its brackets.
  std::string lock(const std::string& path, FieldList fields = {},
                   const std::string& scope = "exclusive") {
    const DavReply reply = try_lock(path, std::move(fields), scope);
    EXPECT_THAT(reply.status, testing::AnyOf(200, 201)) << reply.body;
    EXPECT_THAT(reply.field("Lock-Token"), StartsWith("<urn:uuid:"));
    return reply.field("Lock-Token");
  }
  int unlock(const std::string& path, const std::string& token) {
    return ask(Method::kUnlock, path, {{"Lock-Token", token}}).status;
  }
  int put(const std::string& path, FieldList fields = {}) {
    return ask(Method::kPut, path, std::move(fields), "new").status;
  }
  int status_of(Method method, const std::string& path, FieldList fields = {}) {
    return ask(method, path, std::move(fields)).status;
  }
  int move_to(Method method, const std::string& from, const std::string& to,
              FieldList fields = {}) {
    fields.emplace_back("Destination", base_ + to);
    return ask(method, from, std::move(fields)).status;
  }
};

TEST_F(SiteLockTest, Lock_IsShown_UntilUnlock) {
  const DavReply reply = ask(Method::kLock, "dir/file", {{"Timeout", "Second-100"}, {"Depth", "0"}},
                             lockinfo("exclusive", "<D:href>mailto:me&amp;you</D:href>"));
  EXPECT_EQ(reply.status, 200);
  const std::string token = reply.field("Lock-Token");
  const std::string plain = token.substr(1, token.size() - 2);
  const std::string active =
      "<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:exclusive/></D:lockscope>"
      "<D:depth>0</D:depth><D:owner><D:href>mailto:me&amp;you</D:href></D:owner>"
      "<D:timeout>Second-100</D:timeout><D:locktoken><D:href>" +
      plain + "</D:href></D:locktoken><D:lockroot><D:href>" + base_ +
      "dir/file</D:href></D:lockroot></D:activelock>";
  EXPECT_THAT(reply.body, HasSubstr("<D:lockdiscovery>" + active + "</D:lockdiscovery>"));
  EXPECT_THAT(propfind("dir/file").body, HasSubstr(active));
  EXPECT_THAT(propfind("dir/file", asking_for("<supportedlock/>")).body,
              HasSubstr("<D:lockscope><D:shared"));
  EXPECT_EQ(put("dir/file"), 423);
  EXPECT_EQ(unlock("dir/other", token), 409);
  EXPECT_EQ(unlock("dir/file", "<urn:uuid:other>"), 409);
  EXPECT_EQ(unlock("dir/file", plain), 400);
  EXPECT_EQ(status_of(Method::kUnlock, "dir/file"), 400);
  EXPECT_EQ(unlock("dir/file", token), 204);
  EXPECT_EQ(unlock("dir/file", token), 409);
  EXPECT_THAT(propfind("dir/file").body, HasSubstr("<D:lockdiscovery/>"));
  EXPECT_EQ(put("dir/file"), 204);
}

TEST_F(SiteLockTest, LockOfAFile_IsHeededByAllChanges) {
  const std::string token = lock("dir/file");
  const FieldList with{{"If", "(" + token + ")"}};
  const DavReply refused = ask(Method::kPut, "dir/file", {}, "new");
  EXPECT_EQ(refused.status, 423);
  EXPECT_THAT(refused.body, HasSubstr("<D:lock-token-submitted><D:href>" + base_ +
                                      "dir/file</D:href></D:lock-token-submitted>"));
  EXPECT_EQ(put("dir/file", with), 204);
  // The first token belongs to no lock, and the second one to the lock of another file.
  EXPECT_EQ(put("dir/file", {{"If", "(<urn:uuid:other>)"}}), 412);
  EXPECT_EQ(put("dir/other", with), 412);
  EXPECT_EQ(put("dir/other", {{"If", "(Not " + token + ")"}}), 204);
  EXPECT_EQ(status_of(Method::kDelete, "dir/file"), 423);
  EXPECT_EQ(status_of(Method::kDelete, "dir"), 423);
  EXPECT_EQ(move_to(Method::kMove, "dir/file", "x"), 423);
  EXPECT_EQ(move_to(Method::kMove, "dir", "x"), 423);
  EXPECT_EQ(move_to(Method::kMove, "first", "dir/file"), 423);
  EXPECT_EQ(move_to(Method::kMove, "first", "dir"), 423);
  EXPECT_EQ(move_to(Method::kCopy, "first", "dir/file"), 423);
  EXPECT_EQ(move_to(Method::kCopy, "first", "dir"), 423);
  EXPECT_EQ(move_to(Method::kCopy, "dir/file", "copied"), 201);
  EXPECT_EQ(move_to(Method::kCopy, "first", "dir/file",
                    {{"If", "<" + base_ + "dir/file> (" + token + ")"}}),
            204);
  // The lock does not move with the file, and ends.
  EXPECT_EQ(move_to(Method::kMove, "dir/file", "moved", with), 201);
  EXPECT_EQ(put("moved"), 204);
  EXPECT_EQ(put("dir/file"), 201);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteLockTest, LockOfADirectory_CoversItsNames) {
  const std::string token = lock("dir", {{"Depth", "0"}});
  const FieldList with{{"If", "<" + base_ + "dir> (" + token + ")"}};
  EXPECT_EQ(put("dir/file"), 204);
  EXPECT_EQ(put("dir/new"), 423);
  EXPECT_EQ(put("dir/new", with), 201);
  EXPECT_EQ(status_of(Method::kMakeCollection, "dir/below"), 423);
  EXPECT_EQ(status_of(Method::kMakeCollection, "dir/below", with), 201);
  EXPECT_EQ(put("dir/below/file"), 201);
  EXPECT_EQ(status_of(Method::kDelete, "dir/new"), 423);
  EXPECT_EQ(move_to(Method::kMove, "dir/new", "x"), 423);
  EXPECT_EQ(move_to(Method::kCopy, "first", "dir/x"), 423);
  EXPECT_EQ(try_lock("dir/locked").status, 423);
  EXPECT_EQ(status_of(Method::kDelete, "dir/new", with), 204);
  EXPECT_EQ(status_of(Method::kDelete, "dir", {{"If", "(" + token + ")"}}), 204);
  EXPECT_EQ(status_of(Method::kMakeCollection, "dir"), 201);
  EXPECT_EQ(put("dir/new"), 201);
}

TEST_F(SiteLockTest, DeepLock_CoversEverythingBelow) {
  const DavReply reply = try_lock("dir");
  EXPECT_THAT(reply.body, HasSubstr("<D:depth>infinity</D:depth>"));
  EXPECT_THAT(reply.body, HasSubstr("<D:href>" + base_ + "dir/</D:href>"));
  const std::string token = reply.field("Lock-Token");
  EXPECT_EQ(put("dir/file"), 423);
  EXPECT_EQ(put("dir/file", {{"If", "(" + token + ")"}}), 204);
  EXPECT_EQ(try_lock("dir/file").status, 423);
  EXPECT_THAT(try_lock("dir/file").body, HasSubstr("<D:no-conflicting-lock>"));
  EXPECT_THAT(propfind("dir/file").body, HasSubstr(token.substr(1, token.size() - 2)));
  EXPECT_EQ(put("first"), 204);
  EXPECT_EQ(unlock("dir/file", token), 204);
  EXPECT_EQ(put("dir/file"), 204);
}

TEST_F(SiteLockTest, SharedLocks_ExcludeOnlyExclusiveOnes) {
  const std::string one = lock("dir/file", {}, "shared");
  const std::string other = lock("dir/file", {}, "shared");
  EXPECT_EQ(try_lock("dir/file").status, 423);
  EXPECT_EQ(try_lock("dir").status, 423);
  EXPECT_EQ(put("dir/file"), 423);
  EXPECT_EQ(put("dir/file", {{"If", "(" + other + ")"}}), 204);
  EXPECT_EQ(unlock("dir/file", one), 204);
  EXPECT_EQ(unlock("dir/file", other), 204);
  lock("dir/file");
  EXPECT_EQ(try_lock("dir/file", {}, "shared").status, 423);
}

TEST_F(SiteLockTest, LockOfANewName_MakesAnEmptyFile) {
  const DavReply reply = try_lock("dir/new");
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(ask(Method::kGet, "dir/new").status, 200);
  EXPECT_EQ(ask(Method::kGet, "dir/new").body, "");
  EXPECT_EQ(put("dir/new"), 423);
  EXPECT_EQ(put("dir/new", {{"If", "(" + reply.field("Lock-Token") + ")"}}), 204);
  EXPECT_EQ(try_lock("absent/new").status, 409);
  EXPECT_EQ(try_lock("dir/new2/").status, 409);
  EXPECT_EQ(try_lock("dir/file/").status, 404);
  EXPECT_EQ(try_lock("").status, 405);
  EXPECT_EQ(try_lock(".gridfs").status, 403);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SiteLockTest, Refresh_NeedsTheToken) {
  const std::string token = lock("dir/file", {{"Timeout", "Second-100"}});
  const DavReply reply =
      ask(Method::kLock, "dir/file", {{"If", "(" + token + ")"}, {"Timeout", "Second-200"}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, HasSubstr("Second-200"));
  EXPECT_EQ(reply.field("Lock-Token"), "");
  EXPECT_EQ(status_of(Method::kLock, "dir/file"), 400);
  EXPECT_EQ(status_of(Method::kLock, "dir/file", {{"If", "(<urn:uuid:other>)"}}), 412);
  EXPECT_EQ(status_of(Method::kLock, "dir/other", {{"If", "(" + token + ")"}}), 412);
}

TEST_F(SiteLockTest, Times_AreLimited) {
  for (const auto& [asked, given] : std::vector<std::pair<std::string, std::string>>{
           {"Infinite, Second-5", "Second-3600"},
           {"Extended, Second-5", "Second-5"},
           {"second-7", "Second-7"},
           {"Second-0", "Second-1"},
           {"Second-4100000000", "Second-3600"},
           {"Second-99999999999999999999999", "Second-3600"},
           {"Second-x", "Second-600"},
           {"", "Second-600"}}) {
    const DavReply reply = try_lock("first", {{"Timeout", asked}});
    EXPECT_THAT(reply.body, HasSubstr(given)) << asked;
    unlock("first", reply.field("Lock-Token"));
  }
}

TEST_F(SiteLockTest, BadRequests_AreRefused) {
  const std::string start = "<lockinfo xmlns=\"DAV:\">";
  for (const std::string& body :
       {std::string("x"), start + "</lockinfo>",
        start + "<lockscope><exclusive/></lockscope></lockinfo>",
        start + "<lockscope/><locktype><write/></locktype></lockinfo>",
        start + "<lockscope><exclusive/><shared></shared></lockscope><locktype><write/></locktype>"
                "</lockinfo>",
        start + "<lockscope><exclusive/></lockscope><locktype><read/></locktype></lockinfo>"}) {
    EXPECT_EQ(ask(Method::kLock, "first", {}, body).status, 400) << body;
  }
  EXPECT_EQ(try_lock("first", {{"Depth", "1"}}).status, 400);
  EXPECT_EQ(try_lock("first", {{"If", "nonsense"}}).status, 400);
  EXPECT_EQ(put("first", {{"If", "nonsense"}}), 400);
  EXPECT_EQ(put("first", {{"If", "<..> (<urn:a>)"}}), 412);
  EXPECT_EQ(ask(Method::kLock, "first", {},
                lockinfo("exclusive", std::string(kLockOwnerBytesMax + 1, 'x')))
                .status,
            413);
  EXPECT_EQ(ask(Method::kLock, "first", {}, std::string(kXmlBytesMax + 1, ' ')).status, 413);
  EXPECT_EQ(try_lock("first", {{"Origin", "http://example.com"}}).status, 403);
  options_.write.reset();
  restart();
  EXPECT_EQ(try_lock("first").status, 405);
  EXPECT_THAT(propfind("first").body, Not(HasSubstr("lock")));
}

TEST_F(SiteLockTest, TooManyLocks_AreRefused) {
  for (size_t i = 0; i < kSharedLocksMax; ++i) lock("first", {}, "shared");
  EXPECT_EQ(try_lock("first", {}, "shared").status, 503);
  for (size_t i = kSharedLocksMax; i < kLocksMax; ++i) lock("file" + std::to_string(i));
  EXPECT_EQ(try_lock("dir/file").status, 503);
  // A file that cannot be locked is not made either.
  EXPECT_EQ(try_lock("dir/new").status, 503);
  EXPECT_EQ(ask(Method::kGet, "dir/new").status, 404);
}

TEST_F(SiteLockTest, LockDuringAnUpload_RefusesItsEnd) {
  Request request;
  request.method = Method::kPut;
  request.target = base_ + "dir/file";
  request.has_body = true;
  request.fields = {{"Host", "localhost"}};
  lock("first");  // makes the site
  Answer answer = site_->answer(request);
  const auto receiver = std::move(std::get<std::unique_ptr<BodyReceiver>>(answer));
  EXPECT_FALSE(receiver->take(gridfs::bytes_of("late")));
  lock("dir/file");
  EXPECT_EQ(receiver->finish().status, 423);
  EXPECT_EQ(ask(Method::kGet, "dir/file").body, "content");
}

TEST_F(SiteLockTest, UrlsOfOtherServers_DoNotMatch) {
  const std::string tag = ask(Method::kHead, "first").field("ETag");
  EXPECT_EQ(put("first", {{"If", "<https://proxy" + base_ + "first> ([" + tag + "]) <" + base_ +
                                     "first> ([" + tag + "])"}}),
            204);
}

TEST_F(SiteLockTest, ConditionsOnTags_AreEvaluated) {
  const std::string tag = ask(Method::kHead, "first").field("ETag");
  EXPECT_EQ(put("first", {{"If", "([\"other\"])"}}), 412);
  EXPECT_EQ(put("dir/file", {{"If", "([" + tag + "])"}}), 412);
  EXPECT_EQ(put("dir/file", {{"If", "<" + base_ + "first> ([" + tag + "])"}}), 204);
  EXPECT_EQ(put("dir/file", {{"If", "<http://localhost" + base_ + "first> ([" + tag + "])"}}), 204);
  EXPECT_EQ(put("dir/file", {{"If", "<http://example.com" + base_ + "first> ([" + tag + "])"}}),
            412);
  EXPECT_EQ(put("dir/file", {{"If", "</absent/first> ([" + tag + "])"}}), 412);
  EXPECT_EQ(put("first", {{"If", "([" + tag + "])"}}), 204);
  EXPECT_EQ(put("first", {{"If", "([" + tag + "])"}}), 412);
}

}  // namespace
}  // namespace gridmount::http
