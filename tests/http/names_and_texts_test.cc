// Goal: names and types that others chose do no harm in fields, pages and JSON, and only loopback
// names lead to the server.
// Method: tables of good and bad texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/host_names.h"
#include "http/listing.h"
#include "http/media_type.h"

namespace gridmount::http {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HostNamesTest, LoopbackNames_AreAllowed) {
  const HostNames names({"Media.internal"});
  for (const char* host :
       {"localhost", "LOCALHOST:8080", "localhost.", "a.localhost", "127.0.0.1", "127.0.0.1:80",
        "127.1.2.3", "[::1]", "[::1]:8080", "localhost:", "media.internal", "media.internal:80"}) {
    EXPECT_TRUE(names.allows(host)) << host;
  }
}

TEST(HostNamesTest, OtherNames_AreRefused) {
  const HostNames names({});
  for (const char* host : {"",
                           "example.com",
                           "example.com:80",
                           "localhost.example.com",
                           "127.0.0.1.example.com",
                           "notlocalhost",
                           ".localhost",
                           "128.0.0.1",
                           "0.0.0.0",
                           "10.0.0.1",
                           "[::2]",
                           "[::1",
                           "::1",
                           "[127.0.0.1]",
                           "localhost:x",
                           "localhost, example.com",
                           "localhost:80:80",
                           "media.internal",
                           "user@localhost",
                           "localhost/"}) {
    EXPECT_FALSE(names.allows(host)) << host;
  }
}

TEST(MediaTypeTest, RecordedType_ComesFirst) {
  EXPECT_EQ(media_type_of("image/png", "a.txt"), "image/png");
  EXPECT_EQ(media_type_of("text/plain; charset=latin1", "a"), "text/plain; charset=latin1");
  EXPECT_EQ(media_type_of(std::nullopt, "a.TXT"), "text/plain; charset=utf-8");
  EXPECT_EQ(media_type_of(std::nullopt, "a.tar.gz"), "application/gzip");
  for (const char* name : {"a", ".png", "a.", "a.unknown", "", "png"}) {
    EXPECT_EQ(media_type_of(std::nullopt, name), "application/octet-stream") << name;
  }
}

TEST(MediaTypeTest, WhatIsNoType_IsNotSent) {
  for (const char* type : {"", "png", "a/b\r\nSet-Cookie: x", "a/b\n", "/", "a/", "/b", "a/b/c",
                           "a b/c", "\xC3\xA9/b", "a/b;\x7F"}) {
    EXPECT_EQ(media_type_of(type, "a.png"), "image/png") << type;
  }
  EXPECT_EQ(media_type_of("a/" + std::string(300, 'b'), "a.png"), "image/png");
}

TEST(MediaTypeTest, Scripts) {
  for (const char* type : {"text/html", "TEXT/HTML; charset=utf-8", "image/svg+xml",
                           "application/xhtml+xml", "text/xml", "application/xml;x=y"}) {
    EXPECT_TRUE(may_have_scripts(type)) << type;
  }
  for (const char* type : {"text/plain", "application/pdf", "image/png", "x"}) {
    EXPECT_FALSE(may_have_scripts(type)) << type;
  }
}

TEST(ListingTest, Texts_AreEscaped) {
  EXPECT_EQ(html_text("<a href='x\">&"), "&lt;a href=&#39;x&quot;&gt;&amp;");
  EXPECT_EQ(json_text("a\"b\\c\n\x01/"), "\"a\\\"b\\\\c\\u000a\\u0001/\"");
  EXPECT_EQ(json_text("\xC3\xA9\xF0\x9F\x98\x80"), "\"\xC3\xA9\xF0\x9F\x98\x80\"");
}

TEST(ListingTest, WhatIsNotUtf8_IsReplaced) {
  const std::string replaced = "\xEF\xBF\xBD";
  for (const char* bytes : {"\xFF", "\xC3", "\x80", "\xE2\x82", "\xC0\xAF", "\xED\xA0\x80",
                            "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80"}) {
    EXPECT_THAT(html_text(bytes), HasSubstr(replaced));
    EXPECT_THAT(html_text(bytes), Not(HasSubstr(bytes)));
  }
  EXPECT_EQ(html_text("\xE2\x82z"), replaced + replaced + "z");
}

std::string listing_of(ListingForm form, std::vector<ListedEntry> entries) {
  Listing listing(form, {"fs", "<d>"},
                  [&, i = size_t{0}]() mutable -> Result<std::optional<ListedEntry>> {
                    if (i == entries.size()) return std::optional<ListedEntry>();
                    return std::optional(entries[i++]);
                  });
  std::string text;
  for (;;) {
    const Result<std::string_view> piece = listing.next();
    if (!piece || piece->empty()) return text;
    EXPECT_LE(piece->size(), kPieceBytesMax);
    text += *piece;
  }
}

TEST(ListingTest, Html_HasLinksAndNothingOfTheNames) {
  const std::string page =
      listing_of(ListingForm::kHtml, {{"<script>\"", ListedEntry::Kind::kFile, 12, 1000, "1"},
                                      {"sub", ListedEntry::Kind::kDirectory},
                                      {"link", ListedEntry::Kind::kSymlink}});
  EXPECT_THAT(page, HasSubstr("<title>/fs/&lt;d&gt;/</title>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"/fs/\">..</a>"));
  EXPECT_THAT(page,
              HasSubstr("<a href=\"/fs/%3Cd%3E/%3Cscript%3E%22\">&lt;script&gt;&quot;</a></td>"
                        "<td class=\"n\">12</td><td>1970-01-01 00:00:01</td>"));
  EXPECT_THAT(page, HasSubstr("<a href=\"/fs/%3Cd%3E/sub/\">sub/</a>"));
  EXPECT_THAT(page, HasSubstr("<td>link (symlink)</td>"));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
}

TEST(ListingTest, Json_HasOneObjectForEachEntry) {
  EXPECT_EQ(listing_of(ListingForm::kJson, {}), "{\"path\": \"/fs/<d>/\", \"entries\": [\n]}\n");
  EXPECT_EQ(
      listing_of(ListingForm::kJson,
                 {{"a", ListedEntry::Kind::kFile, 12, 1001, "{\"$oid\": \"0\"}"},
                  {"b", ListedEntry::Kind::kDirectory}}),
      "{\"path\": \"/fs/<d>/\", \"entries\": [\n"
      "{\"name\": \"a\", \"type\": \"file\", \"size\": 12, \"modified\": "
      "\"1970-01-01T00:00:01.001Z\", \"id\": {\"$oid\": \"0\"}, \"href\": \"/fs/%3Cd%3E/a\"},\n"
      "{\"name\": \"b\", \"type\": \"directory\", \"href\": \"/fs/%3Cd%3E/b/\"}\n]}\n");
}

}  // namespace
}  // namespace gridmount::http
