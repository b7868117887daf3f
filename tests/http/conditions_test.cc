// Goal: tags identify contents, and conditions are evaluated as RFC 9110 says.
// Method: tables of fields, for a file with a known tag and date.
#include <gtest/gtest.h>

#include "http/entity_tag.h"
#include "http/http_date.h"
#include "http/preconditions.h"

namespace gridmount::http {
namespace {

gridfs::FilesDocument file_with(bson::Value id, int64_t date, int64_t length) {
  gridfs::FilesDocument file;
  file.id = std::move(id);
  file.upload_date = bson::Date{date};
  file.length = length;
  return file;
}

TEST(EntityTagTest, DifferentContents_HaveDifferentTags) {
  const bson::Value id(bson::ObjectId::generate());
  const std::string tag = entity_tag(file_with(id, 1000, 5));
  EXPECT_EQ(tag, entity_tag(file_with(id, 1000, 5)));
  EXPECT_NE(tag, entity_tag(file_with(id, 1001, 5)));
  EXPECT_NE(tag, entity_tag(file_with(id, 1000, 6)));
  EXPECT_NE(tag, entity_tag(file_with(bson::Value(bson::ObjectId::generate()), 1000, 5)));
  // Values of different types with the same bytes.
  EXPECT_NE(entity_tag(file_with(bson::Value(int64_t{7}), 1, 1)),
            entity_tag(file_with(bson::Value(bson::Date{7}), 1, 1)));
}

TEST(EntityTagTest, Attributes_DoNotMatter) {
  gridfs::FilesDocument file = file_with(bson::Value("a"), 1000, 5);
  const std::string tag = entity_tag(file);
  file.md5 = "d41d8cd98f00b204e9800998ecf8427e";
  file.filename = "other";
  file.posix.mtime = timespec{5, 6};
  EXPECT_EQ(entity_tag(file), tag);
}

TEST(EntityTagTest, Tags_HaveTheirSyntax) {
  for (const bson::Value& id :
       {bson::Value(bson::ObjectId::generate()), bson::Value("\"\r\n, x"), bson::Value()}) {
    const std::string tag = entity_tag(file_with(id, -5, 0));
    EXPECT_EQ(tag.front(), '"');
    EXPECT_EQ(tag.find_first_not_of("0123456789abcdef-", 1), tag.size() - 1) << tag;
  }
}

TEST(EntityTagTest, Lists) {
  const auto strong = [](std::string_view list) {
    return has_tag(list, "\"a\"", TagComparison::kStrong);
  };
  const auto weak = [](std::string_view list) {
    return has_tag(list, "\"a\"", TagComparison::kWeak);
  };
  for (const char* list :
       {"\"a\"", "*", " * ", "\"b\", \"a\"", "\"b\",\"a\"", "\"x,y\" ,\"a\"", "W/\"b\", \"a\""}) {
    EXPECT_TRUE(strong(list)) << list;
    EXPECT_TRUE(weak(list)) << list;
  }
  EXPECT_FALSE(strong("W/\"a\""));
  EXPECT_TRUE(weak("W/\"a\""));
  for (const char* list : {"", "a", "\"b\"", "\"a", "\"a\"b", ",", "W/", "\"b\" x \"a\""}) {
    if (std::string_view(list) == "\"a\"b") continue;  // the tag comes before the mistake
    EXPECT_FALSE(strong(list)) << list;
    EXPECT_FALSE(weak(list)) << list;
  }
}

TEST(HttpDateTest, Dates_AreWrittenAndParsed) {
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777);
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 -0:49:37 GMT"), std::nullopt);
  EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(http_date(-1), "Wed, 31 Dec 1969 23:59:59 GMT");
  for (const int64_t seconds : {-62135596800LL, -1LL, 951782399LL, 1709164800LL, 253402300799LL}) {
    EXPECT_EQ(parse_http_date(http_date(seconds)), seconds);
  }
  EXPECT_EQ(http_date(INT64_MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(http_date(INT64_MIN), "Mon, 01 Jan 0001 00:00:00 GMT");
}

TEST(HttpDateTest, ObsoleteForms_AreParsed) {
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), 784111777);
  EXPECT_EQ(parse_http_date("Wed Nov 16 08:49:37 1994"), 784111777 + 10 * 86400);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), 784111777);
  EXPECT_EQ(parse_http_date("Wednesday, 16-Nov-94 08:49:37 GMT"), 784111777 + 10 * 86400);
  EXPECT_EQ(parse_http_date("Saturday, 28-Nov-26 00:00:00 GMT"), 1795824000);
}

TEST(HttpDateTest, Others_AreNoDates) {
  for (const char* text :
       {"", "now", "Sun,", "Sunday, 06-Nov-94 08:49:37", "Sunday, 06-Xxx-94 08:49:37 GMT",
        "Funday, 06-Nov-94 08:49:37 GMT", "Sunday, 31-Feb-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 94", "Sun Nov 31 08:49:37 1994", "Sun Nov 6  08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
        "Xxx, 06 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
  }
}

const Validators kFile{"\"now\"", 784111777};
constexpr const char* kBefore = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr const char* kThen = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr const char* kAfter = "Sun, 06 Nov 1994 08:49:38 GMT";

Request request_with(std::vector<std::pair<std::string, std::string>> fields) {
  Request request;
  request.fields = std::move(fields);
  return request;
}

Verdict verdict(std::vector<std::pair<std::string, std::string>> fields) {
  return evaluate_conditions(request_with(std::move(fields)), kFile);
}

TEST(PreconditionsTest, SingleConditions) {
  EXPECT_EQ(verdict({}), Verdict::kPerform);
  EXPECT_EQ(verdict({{"If-Match", "\"now\""}}), Verdict::kPerform);
  EXPECT_EQ(verdict({{"If-Match", "*"}}), Verdict::kPerform);
  EXPECT_EQ(verdict({{"If-Match", "\"old\""}}), Verdict::kFailed);
  EXPECT_EQ(verdict({{"If-Match", "W/\"now\""}}), Verdict::kFailed);
  EXPECT_EQ(verdict({{"if-none-match", "\"now\""}}), Verdict::kNotModified);
  EXPECT_EQ(verdict({{"If-None-Match", "W/\"now\""}}), Verdict::kNotModified);
  EXPECT_EQ(verdict({{"If-None-Match", "\"old\""}, {"If-None-Match", "\"now\""}}),
            Verdict::kNotModified);
  EXPECT_EQ(verdict({{"If-None-Match", "\"old\""}}), Verdict::kPerform);
  EXPECT_EQ(verdict({{"If-Modified-Since", kBefore}}), Verdict::kPerform);
  EXPECT_EQ(verdict({{"If-Modified-Since", kThen}}), Verdict::kNotModified);
  EXPECT_EQ(verdict({{"If-Modified-Since", kAfter}}), Verdict::kNotModified);
  EXPECT_EQ(verdict({{"If-Unmodified-Since", kBefore}}), Verdict::kFailed);
  EXPECT_EQ(verdict({{"If-Unmodified-Since", kThen}}), Verdict::kPerform);
  EXPECT_EQ(verdict({{"If-Modified-Since", "yesterday"}}), Verdict::kPerform);
  EXPECT_EQ(verdict({{"If-Unmodified-Since", "yesterday"}}), Verdict::kPerform);
}

TEST(PreconditionsTest, Tags_ComeBeforeDates) {
  EXPECT_EQ(verdict({{"If-Match", "\"now\""}, {"If-Unmodified-Since", kBefore}}),
            Verdict::kPerform);
  EXPECT_EQ(verdict({{"If-None-Match", "\"old\""}, {"If-Modified-Since", kAfter}}),
            Verdict::kPerform);
  EXPECT_EQ(verdict({{"If-Match", "\"old\""}, {"If-None-Match", "\"now\""}}), Verdict::kFailed);
}

TEST(PreconditionsTest, IfRange_TakesStrongTagsAlone) {
  EXPECT_TRUE(is_range_wanted(request_with({}), kFile));
  EXPECT_TRUE(is_range_wanted(request_with({{"If-Range", "\"now\""}}), kFile));
  for (const char* value : {"\"old\"", "W/\"now\"", kThen, "*"}) {
    EXPECT_FALSE(is_range_wanted(request_with({{"If-Range", value}}), kFile)) << value;
  }
}

}  // namespace
}  // namespace gridmount::http
