// Goal: names and filenames are converted into each other without loss.
// Method: the documented examples, and random filenames of unusual bytes.

#include "gridfs/namespace/name_mapping.h"

#include <gtest/gtest.h>

#include <map>

#include "gridfs/bucket/error.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

TEST(PathTest, NamesOfIds) {
  const auto name_of = [](const bson::Value& id) { return id_name(id.view()).value_or("none"); };
  const auto hex = bson::ObjectId::from_hex("65a000000000000000000001");
  ASSERT_TRUE(hex);
  EXPECT_EQ(name_of(bson::Value(*hex)), "65a000000000000000000001");
  // A string of the same digits, and characters that names cannot contain.
  EXPECT_EQ(name_of(bson::Value("65a000000000000000000001")), "\"65a000000000000000000001\"");
  EXPECT_EQ(name_of(bson::Value("a/b%")), "\"a%2Fb%25\"");
  const bson::Value kIds[] = {bson::Value(*hex),         bson::Value("65a000000000000000000001"),
                              bson::Value("a/b%"),       bson::Value(std::string_view("a\0b", 3)),
                              bson::Value(int32_t{7}),   bson::Value(int64_t{7}),
                              bson::Value(1.5),          bson::Value(true),
                              bson::Value("."),          bson::Value("ä \"quoted\""),
                              bson::Value(bson::Date{5})};
  for (const bson::Value& id : kIds) {
    const Result<bson::Value> parsed = parse_id_name(name_of(id));
    ASSERT_TRUE(parsed) << name_of(id) << ": " << parsed.error().message();
    EXPECT_EQ(parsed->type(), id.type()) << name_of(id);
    EXPECT_EQ(*parsed, id) << name_of(id);
  }
  for (const char* name : {"", "x", "65A000000000000000000001", "65a0", "{", "{ \"$oid\" : 1 }",
                           "7.", "%gridfs:id:7", "\"a%2fb\""}) {
    EXPECT_FALSE(parse_id_name(name)) << name;
  }
  EXPECT_FALSE(id_name(bson::Value(std::string(300, 'x')).view()));
  EXPECT_EQ(id_from_json("7"), bson::Value(int32_t{7}));
  for (const char* text : {"", "7, \"x\": 2", "7}, {\"x\": 2", "7, \"_id\": 8"}) {
    EXPECT_FALSE(id_from_json(text)) << text;
  }
}

TEST(PathTest, Escapes) {
  const std::pair<std::string, std::string> kCases[] = {
      {"a.txt", "a.txt"},
      {"", "%gridfs:esc:"},
      {".", "%gridfs:esc:%2E"},
      {"..", "%gridfs:esc:%2E%2E"},
      {"...", "..."},
      {"/a", "%gridfs:esc:%2Fa"},
      {".gridfs", "%gridfs:esc:.gridfs"},
      {"%gridfs:x", "%gridfs:esc:%25gridfs:x"},
      {std::string("a\0b", 3), "%gridfs:esc:a%00b"},
      {"a\xFF", "%gridfs:esc:a%FF"},
      {"ä%", "ä%"},
  };
  for (const auto& [component, name] : kCases) {
    EXPECT_EQ(escape_component(component, true), name);
    const Result<ParsedName> parsed = parse_name(name, true);
    ASSERT_TRUE(parsed) << parsed.error().message();
    EXPECT_EQ(parsed->component, component);
    EXPECT_EQ(parsed->kind, ParsedName::Kind::kPlain);
  }
  EXPECT_EQ(escape_component(".gridfs", false), ".gridfs");
  EXPECT_EQ(escape_shadowed_file("a"), "%gridfs:file:a");
  EXPECT_EQ(parse_name("%gridfs:file:a", false)->kind, ParsedName::Kind::kFile);
}

TEST(PathTest, LongNames) {
  const std::string component = "long" + std::string(300, 'x');
  const std::string name = escape_component(component, false);
  EXPECT_EQ(name.size(), kMaxNameBytes);
  const Result<ParsedName> parsed = parse_name(name, false);
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->kind, ParsedName::Kind::kLong);
  EXPECT_TRUE(component.starts_with(parsed->component));
  EXPECT_EQ(fits_long_name(*parsed, component), LongNameFit::kPlain);
  EXPECT_EQ(fits_long_name(*parsed, component + "x"), LongNameFit::kNone);
  const Result<ParsedName> shadowed = parse_name(escape_shadowed_file(component), false);
  EXPECT_EQ(fits_long_name(*shadowed, component), LongNameFit::kShadowedFile);
  // Only whole characters count.
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "ü";
  EXPECT_TRUE(parse_name(escape_component(umlauts, false), false));
}

TEST(PathTest, Refused) {
  EXPECT_EQ(code_of(parse_name(std::string(256, 'a'), true)), kNameTooLong);
  for (const char* name :
       {"", ".", "..", "a/b", "%gridfs:", "%gridfs:x:y", "%gridfs:esc:a", "%gridfs:esc:%2e",
        "%gridfs:esc:%2", "%gridfs:esc:a%2Fb", "%gridfs:long:a", "%gridfs:long:a:0123"}) {
    EXPECT_EQ(code_of(parse_name(name, true)), kInvalidName) << name;
  }
  EXPECT_EQ(code_of(parse_name(".gridfs", true)), kInvalidName);
  EXPECT_TRUE(parse_name(".gridfs", false));
  EXPECT_EQ(code_of(parse_name("%gridfs:id:1", false)), kInvalidName);
  EXPECT_EQ(code_of(parse_name("%gridfs:esc:%2Fa", false)), kInvalidName);
}

TEST(PathTest, NewChild_HasAPlainNameAndAPathOfBoundedLength) {
  EXPECT_EQ(*path_of_new_child("", "a"), "a");
  EXPECT_EQ(*path_of_new_child("a/b", "%gridfs:esc:%2E%2E"), "a/b/..");
  EXPECT_EQ(*path_of_new_child("a", ".gridfs"), "a/.gridfs");
  EXPECT_EQ(code_of(path_of_new_child("", ".gridfs")), kInvalidName);
  EXPECT_EQ(code_of(path_of_new_child("", "%gridfs:file:a")), kInvalidName);
  EXPECT_EQ(code_of(path_of_new_child("", std::string(256, 'x'))), kNameTooLong);
  const std::string longest(kMaxPathBytes - 2, 'x');
  EXPECT_TRUE(path_of_new_child(longest, "a"));
  EXPECT_EQ(code_of(path_of_new_child(longest, "ab")), kNameTooLong);
}

TEST(PathTest, BytesThatAreNoUtf8_StandInFilenamesAsText) {
  const std::pair<std::string, std::string> names[] = {
      {"caf\xE9", "%gridfs:bytes:caf%E9"},
      {"\xFF", "%gridfs:bytes:%FF"},
      {"50%\xFF\xC3\xA9", "%gridfs:bytes:50%25%FF\xC3\xA9"},
      {std::string(255, '\xFE'), ""},
  };
  for (const auto& [name, component] : names) {
    for (const bool at_root : {true, false}) {
      const Result<ParsedName> parsed = parse_name(name, at_root);
      ASSERT_TRUE(parsed) << name;
      EXPECT_EQ(parsed->kind, ParsedName::Kind::kPlain);
      if (!component.empty()) {
        EXPECT_EQ(parsed->component, component);
      }
      EXPECT_EQ(escape_component(parsed->component, at_root), name);
      const std::string shadowed = escape_shadowed_file(parsed->component);
      if (shadowed.size() < kMaxNameBytes) {
        EXPECT_EQ(parse_name(shadowed, at_root)->component, parsed->component);
      }
    }
  }
  // These components begin like escaped bytes, but no name is written in this way. So each is
  // treated like any other component, and is shown with an escape.
  for (const char* component :
       {"%gridfs:bytes:", "%gridfs:bytes:a", "%gridfs:bytes:%ff", "%gridfs:bytes:%FF%2F",
        "%gridfs:bytes:%FF%00", "%gridfs:bytes:%FF%41", "%gridfs:bytes:\xFF"}) {
    const std::string shown = escape_component(component, false);
    EXPECT_TRUE(shown.starts_with("%gridfs:esc:%25gridfs:bytes:")) << shown;
    EXPECT_EQ(parse_name(shown, false)->component, component);
  }
  EXPECT_EQ(code_of(parse_name("%gridfs:bytes:caf%E9", false)), kInvalidName);
}

TEST(PathTest, JoinAndSplit) {
  for (const char* path : {"a", "a/b", "a/b/c", "a/", "a//", "a//b", "/a", "/a/b", "//", "/a/"}) {
    const SplitPath where = split(path);
    EXPECT_EQ(join(where.directory, where.component), path);
  }
  EXPECT_EQ(split("a/b/c").directory, "a/b");
  EXPECT_EQ(split("/a/b").directory, "/a");
  EXPECT_EQ(split("/a").directory, "");
  EXPECT_EQ(split("a/").component, "");
  EXPECT_EQ(first_component("/a/b", true), "/a");
  EXPECT_EQ(first_component("//", true), "//");
  EXPECT_EQ(first_component("/a/b", false), "");
  EXPECT_EQ(first_component("a", false), "a");
}

TEST(PathTest, RandomFilenames_ComeBack) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  static const std::string kParts[] = {
      "a",    ".", "/",  "%",     "%gridfs:",           "esc:",    "\xFF",
      "\xC3", "ü", "//", "file:", std::string(1, '\0'), ".gridfs", std::string(120, 'y')};
  std::map<std::string, std::string> seen;  // shown path -> filename
  for (int round = 0; round < 20'000; ++round) {
    std::string filename;
    for (size_t i = random() % 6; i > 0; --i) filename += kParts[random() % std::size(kParts)];
    std::string shown;
    std::string back;
    std::string_view rest = filename;
    bool at_root = true;
    bool is_long = false;
    while (true) {
      const std::string_view component = first_component(rest, at_root);
      const std::string name = escape_component(component, at_root);
      ASSERT_FALSE(name.empty() || name == "." || name == "..");
      ASSERT_LE(name.size(), kMaxNameBytes);
      ASSERT_EQ(name.find('/'), std::string::npos);
      ASSERT_EQ(name.find('\0'), std::string::npos);
      const Result<ParsedName> parsed = parse_name(name, at_root);
      ASSERT_TRUE(parsed) << name << ": " << parsed.error().message();
      if (parsed->kind == ParsedName::Kind::kLong) {
        is_long = true;
        ASSERT_EQ(fits_long_name(*parsed, component), LongNameFit::kPlain);
      } else {
        ASSERT_EQ(parsed->component, component);
      }
      shown += "/" + name;
      back = at_root ? std::string(component) : back + "/" + std::string(component);
      if (component.size() == rest.size()) break;
      rest.remove_prefix(component.size() + 1);
      at_root = false;
    }
    ASSERT_EQ(back, filename);
    const auto [known, is_new] = seen.emplace(shown, filename);
    ASSERT_EQ(known->second, filename)
        << "two filenames are shown as " << shown << (is_long ? " (long)" : "");
  }
}

}  // namespace
}  // namespace gridmount::gridfs
