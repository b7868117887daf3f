// Goal: the input of gridstore import is split into documents with their lines, a malformed piece
// costs no more than itself, and records of CSV become documents as in mongoimport.
#include "tools/gridstore/documents/document_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/bson/json.h"
#include "tests/must.h"
#include "tests/sanitized.h"
#include "tests/tools/dump_fixture.h"
#include "tools/gridstore/compact_json.h"
#include "tools/gridstore/documents/csv_columns.h"
#include "tools/gridstore/documents/csv_record.h"

namespace gridmount::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tools::InputFile;
using tools::InputText;

std::unique_ptr<InputFile> file_of(const std::string& text) {
  return must(
      InputFile::of_bytes({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, false));
}

// Returns a line "LINE: JSON" or "LINE: ! message" for each document, and "! message" for an error
// that ends the input.
std::vector<std::string> all_of(tools::DocumentInput& input) {
  std::vector<std::string> found;
  while (true) {
    const auto next = input.next();
    if (!next) {
      found.push_back("! " + next.error().message());
      return found;
    }
    if (!*next) return found;
    const tools::ReadDocument& read = **next;
    found.push_back(std::to_string(read.line) + ": " +
                    (read.document ? tools::compact_json(*read.document, bson::JsonForm::kRelaxed)
                                   : "! " + read.document.error().message()));
  }
}

std::vector<std::string> json_of(const std::string& text, bool is_array = false) {
  const auto file = file_of(text);
  InputText input(*file);
  return all_of(*tools::json_input(input, is_array));
}

std::vector<std::string> csv_of(const std::string& text, const std::vector<std::string>& names = {},
                                bool ignore_blanks = false) {
  const auto file = file_of(text);
  InputText input(*file);
  auto opened = tools::csv_input(input, names, ignore_blanks);
  if (!opened) return {"! " + opened.error().message()};
  return all_of(**opened);
}

TEST(JsonInput, Documents_AreFoundWithTheirLines) {
  EXPECT_THAT(
      json_of("\xEF\xBB\xBF{\"a\":1}\n\n{\"b\":\n {\"c\": \"}{\\\"\"}} {\"d\":[{},{}]}{}\n"),
      ElementsAre("1: {\"a\":1}", "3: {\"b\":{\"c\":\"}{\\\"\"}}", "4: {\"d\":[{},{}]}", "4: {}"));
  EXPECT_THAT(json_of(""), ElementsAre());
  EXPECT_THAT(json_of(" \r\n "), ElementsAre());
}

TEST(JsonInput, MalformedPiece_CostsNoMoreThanItself) {
  EXPECT_THAT(json_of("{\"a\":1}\n{\"a\" 1}\n{\"a\":2}\n"),
              ElementsAre("1: {\"a\":1}", "2: ! invalid JSON at byte 5: a colon is missing",
                          "3: {\"a\":2}"));
  // An object without its end, a string without its end, and no object at all.
  EXPECT_THAT(json_of("{\"a\": 1\n{\"a\":2}\n"),
              ElementsAre(StartsWith("1: ! invalid JSON at byte 8: "), "2: {\"a\":2}"));
  EXPECT_THAT(json_of("{\"a: 1}\n{\"a\":2}\n"),
              ElementsAre(StartsWith("1: ! invalid JSON at byte 7: "), "2: {\"a\":2}"));
  EXPECT_THAT(json_of("{\"a\": \"x\\\n{\"a\":2}\n"),
              ElementsAre(StartsWith("1: ! "), "2: {\"a\":2}"));
  EXPECT_THAT(
      json_of("}x {\n{\"a\":2}"),
      ElementsAre("1: ! a document was expected here; the line is skipped", "2: {\"a\":2}"));
  EXPECT_THAT(
      json_of("{\"a\":1},\n{\"a\":2}"),
      ElementsAre("1: {\"a\":1}", StartsWith("1: ! a document was expected"), "2: {\"a\":2}"));
  EXPECT_THAT(json_of("{\"a\":1"), ElementsAre(StartsWith("1: ! invalid JSON at byte 6: ")));
  EXPECT_THAT(json_of("{\"a\":\"\\"), ElementsAre(StartsWith("1: ! invalid JSON at byte ")));
}

TEST(JsonInput, Array_IsReadUpToItsEnd) {
  EXPECT_THAT(json_of(" [ {\"a\":1}\n,{\"a\":2}] \n", true),
              ElementsAre("1: {\"a\":1}", "2: {\"a\":2}"));
  EXPECT_THAT(json_of("[]", true), ElementsAre());
  EXPECT_THAT(json_of("{}", true), ElementsAre(HasSubstr("an array was expected here")));
  EXPECT_THAT(json_of("", true), ElementsAre(HasSubstr("an array was expected here")));
  EXPECT_THAT(json_of("[{}\n{}]", true),
              ElementsAre("1: {}", "! the input, line 2: a comma or ']' is missing"));
  EXPECT_THAT(json_of("[{},1]", true),
              ElementsAre("1: {}", "! the input, line 1: a document was expected here"));
  EXPECT_THAT(json_of("[{}", true), ElementsAre("1: {}", HasSubstr("the array does not end")));
  EXPECT_THAT(json_of("[{}, ", true), ElementsAre("1: {}", HasSubstr("the array does not end")));
  EXPECT_THAT(json_of("[{}] {}", true), ElementsAre("1: {}", HasSubstr("text after the array")));
  EXPECT_THAT(json_of("[{}]"), ElementsAre(HasSubstr("use --json-array")));
}

TEST(JsonInput, TextBeyondItsLimit_EndsTheInput) {
  if (kSanitized) GTEST_SKIP() << "takes long under sanitizers";
  const std::string text = "{\"a\": \"" + std::string(tools::kDocumentTextBytesMax, 'x') + "\"}";
  EXPECT_THAT(
      json_of(text),
      ElementsAre(HasSubstr("the document that begins here has more than 134217728 bytes")));
}

TEST(CsvInput, RecordBeyondItsLimit_EndsTheInput) {
  if (kSanitized) GTEST_SKIP() << "takes long under sanitizers";
  EXPECT_THAT(csv_of("1,2\n3," + std::string(tools::kCsvRecordBytesMax, 'x'), {"a", "b"}),
              ElementsAre("1: {\"a\":1,\"b\":2}",
                          HasSubstr("the record that begins here has more than 67108864 bytes")));
}

TEST(CsvInput, Records_AreThoseOfTheRfc) {
  EXPECT_THAT(csv_of("\xEF\xBB\xBF"
                     "a,b\r\n1,x\r\n\r\n\"2\",\"y, \"\"z\"\"\n w\"\n 3 ,\n4"),
              ElementsAre("2: {\"a\":1,\"b\":\"x\"}", R"(4: {"a":2,"b":"y, \"z\"\n w"})",
                          "6: {\"a\":\"3 \",\"b\":\"\"}", "7: {\"a\":4}"));
  EXPECT_THAT(csv_of("1\n", {"a"}), ElementsAre("1: {\"a\":1}"));
  EXPECT_THAT(csv_of("a,b\n,2\n", {}, true), ElementsAre("2: {\"b\":2}"));
  EXPECT_THAT(csv_of("a\n1,2,x\n"), ElementsAre("2: {\"a\":1,\"field1\":2,\"field2\":\"x\"}"));
}

TEST(CsvInput, MalformedRecord_CostsItsLine) {
  EXPECT_THAT(csv_of("a,b\n1,x\"y\n2,\n\"3\"x,4\n5,6"),
              ElementsAre("2: ! a field has a quotation mark, but does not begin with one",
                          "3: {\"a\":2,\"b\":\"\"}", "4: ! text follows a field in quotation marks",
                          "5: {\"a\":5,\"b\":6}"));
  EXPECT_THAT(csv_of("a\n1\n\"x\ny"),
              ElementsAre("2: {\"a\":1}",
                          "! the input, line 3: the field in quotation marks that begins here does "
                          "not end"));
  EXPECT_THAT(csv_of("field1\n1,2\n"),
              ElementsAre(HasSubstr("a column already has the name `field1`")));
}

TEST(CsvInput, Header_IsChecked) {
  EXPECT_THAT(csv_of(""),
              ElementsAre("! the input, line 1: there is no header with the names of the "
                          "columns"));
  EXPECT_THAT(csv_of("a,a\n"), ElementsAre("! column 2, `a`: another column has the same name"));
  EXPECT_THAT(csv_of("a,a.b\n"),
              ElementsAre("! column 2, `a.b`: another column has the beginning of its path"));
  EXPECT_THAT(csv_of("a.b,a\n"),
              ElementsAre("! column 2, `a`: its name is the beginning of another column's path"));
  for (const char* const wrong : {"a,\n", "a,.b\n", "a,b.\n", "a,b..c\n", "a,$b\n"}) {
    EXPECT_THAT(csv_of(wrong), ElementsAre(StartsWith("! column 2, "))) << wrong;
  }
}

TEST(CsvInput, NamesWithDots_ArePaths) {
  EXPECT_THAT(csv_of("a.b,c,a.d.e\n1,2,3\n4\n,5\n", {}, false),
              ElementsAre("2: {\"a\":{\"b\":1,\"d\":{\"e\":3}},\"c\":2}", "3: {\"a\":{\"b\":4}}",
                          "4: {\"a\":{\"b\":\"\"},\"c\":5}"));
}

TEST(CsvInput, TypesAreGuessedAsMongoimportDoes) {
  const auto guessed = [](const std::string& text) {
    return tools::compact_json(tools::guessed_value(text), bson::JsonForm::kCanonical);
  };
  EXPECT_EQ(guessed("12"), R"({"$numberInt":"12"})");
  EXPECT_EQ(guessed("+7"), R"({"$numberInt":"7"})");
  EXPECT_EQ(guessed("-2147483649"), R"({"$numberLong":"-2147483649"})");
  EXPECT_EQ(guessed("9223372036854775808"), R"({"$numberDouble":"9223372036854775808.0"})");
  EXPECT_EQ(guessed("1.50"), R"({"$numberDouble":"1.5"})");
  EXPECT_EQ(guessed("1e3"), R"({"$numberDouble":"1000.0"})");
  EXPECT_EQ(guessed("NaN"), R"({"$numberDouble":"NaN"})");
  for (const std::string text : {"", "x", "1 ", "0x10", "1,5", "--1", "+-1", "+", "true"}) {
    EXPECT_EQ(guessed(text), '"' + text + '"');
  }
}

TEST(CsvText, OfEachType_IsMongoexports) {
  const auto text = [](const std::string& json) {
    const bson::Document document = parsed("{\"v\": " + json + "}");
    return tools::csv_text(*document.view().find("v"));
  };
  EXPECT_EQ(text("null"), "");
  EXPECT_EQ(text("\"a b\""), "a b");
  EXPECT_EQ(text("5"), "5");
  EXPECT_EQ(text("0.1"), "0.1");
  EXPECT_EQ(text("true"), "true");
  EXPECT_EQ(text(R"({"$numberDouble": "NaN"})"), "NaN");
  EXPECT_EQ(text(R"({"$numberDecimal": "1.10"})"), "1.10");
  EXPECT_EQ(text(R"({"$oid": "65a000000000000000000001"})"), "ObjectId(65a000000000000000000001)");
  EXPECT_EQ(text(R"({"$date": "2020-01-02T03:04:05.006Z"})"), "2020-01-02T03:04:05.006Z");
  EXPECT_EQ(text(R"({"$date": {"$numberLong": "-1"}})"), R"({"$date":{"$numberLong":"-1"}})");
  EXPECT_EQ(text(R"({"a": [1, "x"]})"), R"({"a":[1,"x"]})");
}

TEST(CsvRecord, FieldsAreQuotedWhereNeeded) {
  std::string out;
  tools::append_csv_record(out,
                           std::vector<std::string>{"a", "b,c", "d\"e", "f\ng", " h", "", "i j"});
  EXPECT_EQ(out, "a,\"b,c\",\"d\"\"e\",\"f\ng\",\" h\",,i j\n");
  out.clear();
  tools::append_csv_record(out, std::vector<std::string>{""});
  EXPECT_EQ(out, "\"\"\n");
}

}  // namespace
}  // namespace gridmount::tests
