// Goal: dot paths reach the values that MongoDB's queries reach.

#include "engine/bson/dotted_path.h"

#include <gtest/gtest.h>

#include "engine/bson/json.h"

namespace gridmount::bson {
namespace {

Document parse(const std::string& json) {
  Result<Document> document = document_from_json(json);
  if (!document) throw std::runtime_error(document.error().message());
  return *std::move(document);
}

// Returns the reached values in order, with "-" for a missing field, and "*" before a value reached
// through an array.
std::string reached(const std::string& path, const std::string& json) {
  std::string all;
  Path(path).visit(parse(json), [&](const Path::Reached& value) {
    if (!all.empty()) all += " ";
    if (value.through_array) all += "*";
    all += value.value ? to_json(*value.value, JsonForm::kRelaxed) : "-";
    return true;
  });
  return all;
}

TEST(PathTest, Visit) {
  EXPECT_EQ(reached("a", R"({"a": 1})"), "1");
  EXPECT_EQ(reached("b", R"({"a": 1})"), "-");
  EXPECT_EQ(reached("a.b", R"({"a": {"b": 2}})"), "2");
  EXPECT_EQ(reached("a.b", R"({"a": 1})"), "-");
  EXPECT_EQ(reached("a", R"({"a": [1, 2]})"), "[ 1, 2 ]");
  EXPECT_EQ(reached("a.b", R"({"a": [{"b": 1}, {"b": 2}, {"c": 3}, 4]})"), "*1 *2 *-");
  EXPECT_EQ(reached("a.b", R"({"a": []})"), "");
  EXPECT_EQ(reached("a.1", R"({"a": [5, 6]})"), "6");
  EXPECT_EQ(reached("a.0.b", R"({"a": [{"b": 1}]})"), "1 *-");
  EXPECT_EQ(reached("a.0", R"({"a": {"0": 7}})"), "7");
}

TEST(PathTest, Visit_StopsWhenTold) {
  int calls = 0;
  Path("a.b").visit(parse(R"({"a": [{"b": 1}, {"b": 2}]})"), [&](const Path::Reached&) {
    ++calls;
    return false;
  });
  EXPECT_EQ(calls, 1);
}

TEST(PathTest, Resolve) {
  const Document document = parse(R"({"a": {"b": [10, {"c": 20}]}})");
  EXPECT_EQ(Path("a.b.0").resolve(document)->integral(), 10);
  EXPECT_EQ(Path("a.b.1.c").resolve(document)->integral(), 20);
  EXPECT_FALSE(Path("a.b.c").resolve(document));
  EXPECT_FALSE(Path("a.x").resolve(document));
  EXPECT_FALSE(Path("a.b.0.c").resolve(document));
}

TEST(PathTest, Parts) {
  EXPECT_EQ(Path("a..b").parts(), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(Path("").parts(), std::vector<std::string>{""});
}

}  // namespace
}  // namespace gridmount::bson
