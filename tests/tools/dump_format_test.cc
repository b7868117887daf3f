// Goal: the formats of dumps below the commands: archives as mongodump writes them, truncated at
// each byte and with each bit flipped; file names; patterns of namespaces; metadata.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "tests/tools/dump_fixture.h"
#include "tests/tools/mongodump_archive.h"
#include "tests/tools/store_test.h"
#include "tools/gridstore/compact_json.h"
#include "tools/gridstore/dump/archive_reader.h"
#include "tools/gridstore/dump/crc64.h"
#include "tools/gridstore/dump/dump_file_name.h"
#include "tools/gridstore/dump/metadata_file.h"
#include "tools/gridstore/dump/namespace_pattern.h"

namespace gridmount::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;
using tools::ArchiveReader;
using Kind = ArchiveReader::Event::Kind;

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Returns everything that a restore reads from an archive, as lines.
Result<std::vector<std::string>> read_archive(const std::string& bytes) {
  std::vector<std::string> lines;
  GM_ASSIGN(auto file, tools::InputFile::of_bytes(bytes_of(bytes), false));
  GM_ASSIGN(const auto reader, ArchiveReader::open(std::move(file)));
  for (const tools::ArchivedCollection& collection : reader->collections()) {
    lines.push_back(collection.ns.full() + " " + collection.type + " " + collection.metadata);
  }
  while (true) {
    GM_ASSIGN(const auto event, reader->next());
    if (!event) return lines;
    const std::string ns = event->ns.full();
    switch (event->kind) {
      case Kind::kBegins:
        lines.push_back(ns + " begins");
        break;
      case Kind::kDocument:
        lines.push_back(ns + " " + bson::to_json(event->document, bson::JsonForm::kRelaxed));
        break;
      case Kind::kEnds:
        lines.push_back(ns + " ends");
        break;
    }
  }
}

TEST(Archive, OfMongodump_IsReadAsItIs) {
  const auto lines = must(read_archive(mongodump_archive()));
  EXPECT_THAT(lines,
              ElementsAre(std::string("test.log \"1\" collection ") + kMongodumpLogMetadata,
                          std::string("test.worst view ") + kMongodumpWorstMetadata,
                          "test.log \"1\" begins", R"(test.log "1" { "_id" : 1, "level" : 2 })",
                          R"(test.log "1" { "_id" : 2, "level" : 3 })", "test.log \"1\" ends",
                          "test.worst begins", "test.worst ends"));
}

TEST(Archive, CutOffAnywhere_IsAnErrorThatNamesTheByte) {
  const std::string whole = mongodump_archive();
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto read = read_archive(whole.substr(0, size));
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code(), ErrorCode::kFailedToParse);
    EXPECT_THAT(read.error().message(), StartsWith("the input, byte ")) << size;
  }
}

TEST(Archive, WithABitFlipped_IsAnErrorOrHasTheSameDocuments) {
  const std::string whole = mongodump_archive();
  const auto is_document = [](const std::string& line) {
    return line.find("_id\" :") != line.npos;
  };
  const auto documents_of = [&](const std::vector<std::string>& lines) {
    std::vector<std::string> documents;
    for (const std::string& line : lines) {
      if (is_document(line)) documents.push_back(line.substr(line.find('{')));
    }
    return documents;
  };
  const auto right = documents_of(must(read_archive(whole)));
  ASSERT_THAT(right, SizeIs(2));
  size_t errors = 0;
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    const auto read = read_archive(damaged);
    if (read) {
      EXPECT_EQ(documents_of(*read), right) << "bit " << bit;
    } else {
      ++errors;
      EXPECT_EQ(read.error().code(), ErrorCode::kFailedToParse);
    }
  }
  // The metadata, which are most of the archive, have no checksum.
  EXPECT_GT(errors, whole.size());
}

TEST(Archive, OfSomethingElse_IsAnError) {
  const auto expect_refused = [](const std::string& bytes, const std::string& word) {
    const auto read = read_archive(bytes);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message(), HasSubstr(word));
  };
  expect_refused("{\"a\": 1}", "not an archive");
  expect_refused("\x1f\x8b\x08", "--gzip");
  std::string newer = mongodump_archive();
  newer.replace(newer.find("0.1"), 3, "9.1");
  expect_refused(newer, "9.1");
  std::string wrong = mongodump_archive();
  wrong[wrong.find("level\0\2", 0, 7) + 6] = 5;
  expect_refused(wrong, "checksum");
}

TEST(Archive, BlocksThatAlternate_AreToldApart) {
  // Two blocks of the first collection, with the end of the second one between them.
  const std::string whole = mongodump_archive();
  const size_t first = whole.find("\xFF\xFF\xFF\xFF") + 4;
  const size_t header = 0x3D;
  const size_t document = 0x19;
  const std::string mark = whole.substr(first - 4, 4);
  const size_t first_end = first + header + 2 * document + 4;
  const size_t second = first_end + header + 4;
  const std::string alternating = whole.substr(0, first + header + document) + mark +
                                  whole.substr(second) + whole.substr(first, header) +
                                  whole.substr(first + header + document, document) + mark +
                                  whole.substr(first_end, header + 4);
  const auto lines = must(read_archive(alternating));
  ASSERT_THAT(lines, SizeIs(8));
  EXPECT_EQ(lines[3], R"(test.log "1" { "_id" : 1, "level" : 2 })");
  EXPECT_EQ(lines[5], "test.worst ends");
  EXPECT_EQ(lines[6], R"(test.log "1" { "_id" : 2, "level" : 3 })");
  EXPECT_EQ(lines[7], "test.log \"1\" ends");
}

TEST(Crc64, IsThatOfTheCatalogues) {
  tools::Crc64 crc;
  EXPECT_EQ(crc.value(), 0U);
  crc.add(bytes_of("123456789"));
  EXPECT_EQ(crc.value(), 0x995DC9BBDF1939FAU);
  tools::Crc64 in_parts;
  const std::string text = pattern_bytes(1000);
  for (size_t at = 0; at < text.size();) {
    const size_t size = std::min(at % 23 + 1, text.size() - at);
    in_parts.add(bytes_of(text).subspan(at, size));
    at += size;
  }
  tools::Crc64 at_once;
  at_once.add(bytes_of(text));
  EXPECT_EQ(in_parts.value(), at_once.value());
}

// The expected names are file names that mongodump made.
TEST(DumpFileName, IsMongodumps) {
  const std::pair<std::string, std::string> kNames[] = {
      {"plain", "plain"},
      {"with space", "with+space"},
      {"per%cent", "per%25cent"},
      {"sl/ash", "sl%2Fash"},
      {"plus+", "plus%2B"},
      {"\xC3\xBCn\xC3\xAF"
       "code",
       "%C3%BCn%C3%AFcode"},
      {"dot.dot.x", "dot.dot.x"},
      {"x&=?;:@", "x%26%3D%3F%3B%3A%40"},
      {"tilde~star*!()'\"<>", "tilde~star%2A%21%28%29%27%22%3C%3E"},
  };
  for (const auto& [collection, file] : kNames) {
    EXPECT_EQ(must(tools::dump_file_name(collection)), file);
    EXPECT_EQ(tools::collection_of_stem(file), collection);
    EXPECT_FALSE(tools::is_cut_name(file));
  }
  std::string name;
  std::string kept;
  for (int i = 0; i < 60; ++i) name += "\xC3\xA9";
  for (int i = 0; i < 10; ++i) name += "long";
  for (int i = 0; i < 34; ++i) kept += "%C3%A9";
  const std::string file = must(tools::dump_file_name(name));
  EXPECT_EQ(file, kept + "%C3%%24veZkpVPMbowXN-6gOvrFfLZK1xc");
  EXPECT_TRUE(tools::is_cut_name(file));
  for (const char* const wrong : {"%", "a%1", "%zz", "%%24"}) {
    EXPECT_FALSE(tools::collection_of_stem(wrong)) << wrong;
  }
}

// The examples of mongorestore's manual, and what its own tests require of variables and escapes.
TEST(NamespacePattern, Matches) {
  const auto fits = [](const std::string& pattern, const std::string& ns) {
    const std::vector<std::string> patterns = {pattern};
    return must(tools::NamespaceMatcher::parse(patterns)).matches(ns);
  };
  EXPECT_TRUE(fits("*", "a.b"));
  EXPECT_TRUE(fits("test.*", "test.a.b"));
  EXPECT_FALSE(fits("test.*", "testa.b"));
  EXPECT_TRUE(fits("*.users*", "db.users_2"));
  EXPECT_TRUE(fits("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(fits("a*b*c", "ac"));
  EXPECT_FALSE(fits("ab*ba", "aba"));
  EXPECT_TRUE(fits("db.star\\*", "db.star*"));
  EXPECT_FALSE(fits("db.star\\*", "db.start"));
  EXPECT_TRUE(fits("db.back\\\\*", "db.back\\slash"));
  EXPECT_TRUE(fits(tools::escaped_pattern("d.*\\"), "d.*\\"));
  const std::vector<std::string> with_dollar = {"a.$b$"};
  EXPECT_FALSE(tools::NamespaceMatcher::parse(with_dollar));
}

TEST(NamespacePattern, Renames) {
  const auto renamed = [](const std::string& from, const std::string& to, const std::string& ns) {
    const std::vector<std::string> froms = {from};
    const std::vector<std::string> tos = {to};
    return must(tools::NamespaceRenamer::parse(froms, tos)).renamed(ns);
  };
  EXPECT_EQ(renamed("data.*", "copy.*", "data.a.b"), "copy.a.b");
  EXPECT_EQ(renamed("data.*", "copy.*", "date.a"), "date.a");
  EXPECT_EQ(renamed("$db$.user$$", "$$.$db$", "x.users"), "s.x");
  EXPECT_EQ(renamed("$prod$.$name$_$kind$", "$kind$.$prod$-$name$", "p.a_b_c"), "b_c.p-a");
  const auto refused = [](const std::string& from, const std::string& to) {
    const std::vector<std::string> froms = {from};
    const std::vector<std::string> tos = {to};
    return !tools::NamespaceRenamer::parse(froms, tos);
  };
  EXPECT_TRUE(refused("a.*", "b.c"));
  EXPECT_TRUE(refused("a.$b", "b.$b$"));
  EXPECT_TRUE(refused("a.$b$", "b.$c$"));
  EXPECT_TRUE(refused("$a$.$a$", "b.c"));
  const std::vector<std::string> one = {"a.b"};
  EXPECT_FALSE(tools::NamespaceRenamer::parse(one, {}));
}

TEST(Metadata, OfOldDumps_IsRead) {
  const auto metadata = must(tools::Metadata::parse(
      R"({"options":{"create":"a","autoIndexId":true},"indexes":[{"v":1,"key":{"a":1.0},)"
      R"("ns":"test.a","name":"a_1"}],"uuid":"00112233445566778899aabbccddeeff"})"));
  EXPECT_FALSE(metadata.options.find("create"));
  EXPECT_TRUE(metadata.options.find("autoIndexId"));
  ASSERT_THAT(metadata.indexes, SizeIs(1));
  EXPECT_EQ(metadata.type, "");
  for (const char* const wrong : {"", "[]", R"({"indexes":{}})", R"({"options":1})",
                                  R"({"indexes":[1]})", R"({"collectionName":7})"}) {
    EXPECT_FALSE(tools::Metadata::parse(wrong)) << wrong;
  }
  EXPECT_TRUE(tools::Metadata::parse(R"({"options":null,"indexes":null})"));
}

TEST(CompactJson, KeepsSpacesWithinTexts) {
  EXPECT_EQ(tools::compacted(R"({ "a b" : "c \" d\\" , "e" : [ 1, "\\" ] })"),
            R"({"a b":"c \" d\\","e":[1,"\\"]})");
}

TEST(CompactJson, ShortensDoublesAndNothingElse) {
  const bson::Document document = parsed(
      R"({"a": 0.1, "b": [1.0, -0.0, 1e300, -2.5e-7], "c": 0.30000000000000004, "i": 10, "n": 9007199254740993,
          "s": "0.10000000000000000555", "nan": {"$numberDouble": "NaN"}, "d": {"$numberDecimal": "1.10"}})");
  EXPECT_EQ(
      tools::compact_json(document, bson::JsonForm::kRelaxed),
      R"({"a":0.1,"b":[1.0,-0.0,1e+300,-2.5e-07],"c":0.30000000000000004,"i":10,"n":9007199254740993,"s":"0.10000000000000000555","nan":{"$numberDouble":"NaN"},"d":{"$numberDecimal":"1.10"}})");
  EXPECT_EQ(tools::compact_json(*document.view().find("a"), bson::JsonForm::kCanonical),
            R"({"$numberDouble":"0.1"})");
  EXPECT_EQ(tools::compacted(R"({ "a" : "$numberDouble", "b" : "0.10" })"),
            R"({"a":"$numberDouble","b":"0.10"})");
}

}  // namespace
}  // namespace gridmount::tests
