// Goal: the five ways to keep a tree in documents. Sources: "Data Model Design for MongoDB",
// releases 2.4.9 and 3.2.6, section "Model Tree Structures"; "Data Modeling", section "Trees".
#include "tests/manuals/manual_fixture.h"

namespace gridmount::manuals {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Trees : public Manual {
 protected:
  void expect(const Explained& got, Text plan, int64_t keys, int64_t documents) {
    EXPECT_EQ(got.plan, plan);
    EXPECT_EQ(got.keys, keys) << plan;
    EXPECT_EQ(got.documents, documents) << plan;
  }
};

// "Model Tree Structures with Parent References".
TEST_F(Trees, ParentReferences) {
  insert("categories", R"(
    { _id: "MongoDB", parent: "Databases" }
    { _id: "dbm", parent: "Databases" }
    { _id: "Databases", parent: "Programming" }
    { _id: "Languages", parent: "Programming" }
    { _id: "Programming", parent: "Books" }
    { _id: "Books", parent: null } )");
  // The parent of a node.
  EXPECT_EQ(field("categories", R"({ _id: "MongoDB" })", "parent"), "\"Databases\"");
  EXPECT_EQ(field("categories", R"({ _id: "Books" })", "parent"), "null");
  // Its children, without the index and with it.
  const Text children = R"({ parent: "Databases" })";
  EXPECT_THAT(ids("categories", children), ElementsAre("\"MongoDB\"", "\"dbm\""));
  expect(explain("categories", children), "COLLSCAN", 0, 6);
  create_index("categories", "{ parent: 1 }");
  EXPECT_THAT(ids("categories", children), ElementsAre("\"MongoDB\"", "\"dbm\""));
  expect(explain("categories", children), "FETCH IXSCAN(parent_1)", 2, 2);

  // "requires multiple queries to retrieve subtrees": one for each node of it.
  Strings subtree;
  Strings left = {"\"Programming\""};
  while (!left.empty()) {
    const std::string parent = left.back();
    left.pop_back();
    for (const std::string& child : ids("categories", "{ parent: " + parent + " }")) {
      subtree.push_back(child);
      left.push_back(child);
    }
  }
  EXPECT_THAT(subtree,
              UnorderedElementsAre("\"Databases\"", "\"Languages\"", "\"MongoDB\"", "\"dbm\""));
}

// "Model Tree Structures with Child References".
TEST_F(Trees, ChildReferences) {
  insert("categories", R"(
    { _id: "MongoDB", children: [] }
    { _id: "dbm", children: [] }
    { _id: "Databases", children: [ "MongoDB", "dbm" ] }
    { _id: "Languages", children: [] }
    { _id: "Programming", children: [ "Databases", "Languages" ] }
    { _id: "Books", children: [ "Programming" ] } )");
  EXPECT_EQ(field("categories", R"({ _id: "Databases" })", "children"), R"([ "MongoDB", "dbm" ])");
  // The parent of a node, and with it the node's siblings.
  const Text parent = R"({ children: "MongoDB" })";
  const Strings expected = json_each(R"({ _id: "Databases", children: [ "MongoDB", "dbm" ] })");
  EXPECT_EQ(find("categories", parent), expected);
  expect(explain("categories", parent), "COLLSCAN", 0, 6);
  create_index("categories", "{ children: 1 }");
  EXPECT_EQ(find("categories", parent), expected);
  expect(explain("categories", parent), "FETCH IXSCAN(children_1)", 1, 1);

  // "may also provide a suitable solution for storing graphs where a node may have multiple
  // parents".
  update("categories", R"({ _id: "Languages" })", R"({ $push: { children: "dbm" } })");
  EXPECT_THAT(ids("categories", R"({ children: "dbm" })"),
              UnorderedElementsAre("\"Databases\"", "\"Languages\""));
}

// "Model Tree Structures with an Array of Ancestors".
TEST_F(Trees, ArrayOfAncestors) {
  insert("categories", R"(
    { _id: "MongoDB", ancestors: [ "Books", "Programming", "Databases" ], parent: "Databases" }
    { _id: "dbm", ancestors: [ "Books", "Programming", "Databases" ], parent: "Databases" }
    { _id: "Databases", ancestors: [ "Books", "Programming" ], parent: "Programming" }
    { _id: "Languages", ancestors: [ "Books", "Programming" ], parent: "Programming" }
    { _id: "Programming", ancestors: [ "Books" ], parent: "Books" }
    { _id: "Books", ancestors: [ ], parent: null } )");
  EXPECT_EQ(field("categories", R"({ _id: "MongoDB" })", "ancestors"),
            R"([ "Books", "Programming", "Databases" ])");
  // All descendants of a node.
  const Text descendants = R"({ ancestors: "Programming" })";
  const Strings expected = {"\"MongoDB\"", "\"dbm\"", "\"Databases\"", "\"Languages\""};
  EXPECT_EQ(ids("categories", descendants), expected);
  create_index("categories", "{ ancestors: 1 }");
  EXPECT_EQ(ids("categories", descendants), expected);
  expect(explain("categories", descendants), "FETCH IXSCAN(ancestors_1)", 4, 4);
  EXPECT_EQ(count("categories", R"({ ancestors: "Books" })"), 5);
  EXPECT_THAT(ids("categories", R"({ ancestors: "MongoDB" })"), IsEmpty());
  // The root's empty array is an entry of its own.
  EXPECT_THAT(ids("categories", "{ ancestors: [] }"), ElementsAre("\"Books\""));
}

// "Model Tree Structures with Materialized Paths".
TEST_F(Trees, MaterializedPaths) {
  insert("categories", R"(
    { _id: "Books", path: null }
    { _id: "Programming", path: ",Books," }
    { _id: "Databases", path: ",Books,Programming," }
    { _id: "Languages", path: ",Books,Programming," }
    { _id: "MongoDB", path: ",Books,Programming,Databases," }
    { _id: "dbm", path: ",Books,Programming,Databases," } )");
  const Strings tree = {"\"Books\"",     "\"Programming\"", "\"Databases\"",
                        "\"Languages\"", "\"MongoDB\"",     "\"dbm\""};
  const Strings below_programming(tree.begin() + 2, tree.end());
  const Strings below_books(tree.begin() + 1, tree.end());
  const auto expect_answers = [&]() {
    EXPECT_EQ(ids("categories", "{}", {.sort = "{ path: 1 }"}), tree);
    EXPECT_EQ(ids("categories", "{ path: /,Programming,/ }"), below_programming);
    EXPECT_EQ(ids("categories", "{ path: /^,Books,/ }"), below_books);
    EXPECT_EQ(ids("categories", "{ path: /^,Books,Programming,/ }"), below_programming);
    EXPECT_THAT(ids("categories", "{ path: /,Databases,/ }"),
                ElementsAre("\"MongoDB\"", "\"dbm\""));
  };
  expect_answers();
  create_index("categories", "{ path: 1 }");
  expect_answers();
  EXPECT_EQ(explain("categories", "{}", {.sort = "{ path: 1 }"}).plan, "FETCH IXSCAN(path_1)");
  // For a path from the root, the index gives the nodes below and no others.
  const Explained from_root = explain("categories", "{ path: /^,Books,Programming,/ }");
  EXPECT_EQ(from_root.plan, "FETCH IXSCAN(path_1)");
  EXPECT_EQ(from_root.documents, 4);
  // For a path in the middle, "the query must inspect the entire index", or the collection, which
  // the planner chooses here as the cheaper one.
  const Text in_the_middle = "{ path: /,Databases,/ }";
  EXPECT_EQ(explain("categories", in_the_middle).documents, 6);
  const Explained by_index = explain("categories", in_the_middle, {.hint = bson::Value("path_1")});
  EXPECT_EQ(by_index.plan, "FETCH IXSCAN(path_1)");
  EXPECT_EQ(by_index.returned, 2);
  EXPECT_GE(by_index.keys, 5);
}

// "Data Modeling", section "Materialized Paths": paths without a comma at the front.
TEST_F(Trees, MaterializedPaths_WithoutAFirstDelimiter) {
  insert("categories", R"(
    { _id: "Books", path: null }
    { _id: "Programming", path: "Books," }
    { _id: "Databases", path: "Books,Programming," }
    { _id: "Languages", path: "Books,Programming," }
    { _id: "MongoDB", path: "Books,Programming,Databases," }
    { _id: "Postgres", path: "Books,Programming,Databases," } )");
  create_index("categories", "{ path: 1 }");
  EXPECT_THAT(ids("categories", "{}", {.sort = "{ path: 1 }"}),
              ElementsAre("\"Books\"", "\"Programming\"", "\"Databases\"", "\"Languages\"",
                          "\"MongoDB\"", "\"Postgres\""));
  EXPECT_THAT(
      ids("categories", "{ path: /,Programming,/ }"),
      UnorderedElementsAre("\"Databases\"", "\"Languages\"", "\"MongoDB\"", "\"Postgres\""));
}

// "Model Tree Structures with Nested Sets".
TEST_F(Trees, NestedSets) {
  insert("categories", R"(
    { _id: "Books", parent: 0, left: 1, right: 12 }
    { _id: "Programming", parent: "Books", left: 2, right: 11 }
    { _id: "Languages", parent: "Programming", left: 3, right: 4 }
    { _id: "Databases", parent: "Programming", left: 5, right: 10 }
    { _id: "MongoDB", parent: "Databases", left: 6, right: 7 }
    { _id: "dbm", parent: "Databases", left: 8, right: 9 } )");
  const auto descendants = [&](const std::string& id) {
    const std::string node = "{ _id: \"" + id + "\" }";
    const std::string left = field("categories", node, "left");
    const std::string right = field("categories", node, "right");
    return ids("categories", "{ left: { $gt: " + left + " }, right: { $lt: " + right + " } }");
  };
  EXPECT_THAT(descendants("Databases"), ElementsAre("\"MongoDB\"", "\"dbm\""));
  EXPECT_THAT(descendants("Programming"),
              ElementsAre("\"Languages\"", "\"Databases\"", "\"MongoDB\"", "\"dbm\""));
  EXPECT_EQ(descendants("Books").size(), 5U);
  EXPECT_THAT(descendants("dbm"), IsEmpty());
}

// "Schema Design by Example", section "Maybe store arrays of ancestors?".
TEST_F(Trees, ArraysOfAncestorsOfComments) {
  const Text tree = R"(
    { _id: "a" }
    { _id: "b", ancestors: [ "a" ], parent: "a" }
    { _id: "c", ancestors: [ "a", "b" ], parent: "b" }
    { _id: "d", ancestors: [ "a", "b" ], parent: "b" }
    { _id: "e", ancestors: [ "a" ], parent: "a" }
    { _id: "f", ancestors: [ "a", "e" ], parent: "e" }
    { _id: "g", ancestors: [ "a", "b", "d" ], parent: "d" } )";
  insert("mytree", tree);
  EXPECT_EQ(find("mytree"), json_each(tree));
  // This tree does not have the drawbacks of a tree within one document: parts of it can be
  // searched.
  EXPECT_THAT(ids("mytree", R"({ ancestors: "b" })"), ElementsAre("\"c\"", "\"d\"", "\"g\""));
  EXPECT_THAT(ids("mytree", R"({ parent: "b" })"), ElementsAre("\"c\"", "\"d\""));
  EXPECT_THAT(find("mytree", R"({ _id: { $in: [ "a", "b", "d" ] } })",
                   {.sort = "{ _id: 1 }", .projection = "{ ancestors: 0, parent: 0 }"}),
              ElementsAre(R"({ "_id" : "a" })", R"({ "_id" : "b" })", R"({ "_id" : "d" })"));
}

}  // namespace
}  // namespace gridmount::manuals
