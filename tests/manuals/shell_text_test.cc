// Goal: the notation of the examples is read as the shell reads it.
#include "tests/manuals/shell_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;

TEST(ShellText, BecomesJson) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"{ }", "{}"},
      {"{ a: 1, 'b c' : -1.5, $d : [ ], }", R"({"a":1,"b c":-1.5,"$d":[]})"},
      {"{ a: 'say \"no\"', b: \"it's\" }", R"({"a":"say \"no\"","b":"it's"})"},
      {"{ a: true, // a comment\n b: null }", R"({"a":true,"b":null})"},
      {R"({ a: /^x\.\/"\\/im })",
       R"({"a":{"$regularExpression":{"pattern":"^x\\.\\/\"\\\\","options":"im"}}})"},
      {R"({ a: new ObjectId( "47cc67093475061e3d95369d" ) })",
       R"({"a":{"$oid":"47cc67093475061e3d95369d"}})"},
      {R"({ a: ISODate("2012-10-15"), b: ISODate("2012-10-15T01:02:03Z") })",
       R"({"a":{"$date":"2012-10-15T00:00:00Z"},"b":{"$date":"2012-10-15T01:02:03Z"}})"},
      {"{ a: NumberLong(5), b: NumberInt(\"6\"), c: Timestamp(1, 2), d: MinKey, e: MaxKey() }",
       R"({"a":{"$numberLong":"5"},"b":{"$numberInt":"6"},)"
       R"("c":{"$timestamp":{"t":1,"i":2}},"d":{"$minKey":1},"e":{"$maxKey":1}})"},
  };
  for (const auto& [text, expected] : kCases) {
    EXPECT_THAT(json_of_shell(text), ElementsAre(expected));
  }
}

TEST(ShellText, HoldsSeveralDocuments) {
  EXPECT_THAT(json_of_shell("{ a: 1 }, { b: 2 }\n { c: 3 }"),
              ElementsAre(R"({"a":1})", R"({"b":2})", R"({"c":3})"));
}

}  // namespace
}  // namespace gridmount::manuals
