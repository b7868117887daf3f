// Goal: each files document has one path, whatever its name and _id are, and no directory is made
// that could not hold names.
// Method: names that are almost valid.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "engine/bson/json.h"
#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class NamespaceNamesTest : public BucketFixture {
 protected:
  NamespaceNamesTest() { mount(); }
  ~NamespaceNamesTest() override { EXPECT_TRUE(namespace_->close()); }

  void mount() {
    namespace_ =
        must(PathNamespace::open(store(), store().database("test"), bucket().options(), {}, {}));
  }
  std::vector<std::string> names(const std::string& folder) {
    std::vector<std::string> all;
    const auto listing = must(namespace_->list(folder));
    while (const auto entry = must(listing->next())) all.push_back(entry->name);
    return all;
  }
  void insert_tmpfile(const bson::Value& id) {
    bson::Builder document;
    document.append("_id", id).append("length", 0).append("chunkSize", 10);
    document.append("uploadDate", bson::Date::now());
    insert_file(std::move(document).finish());
  }
  // Inserts a files document that no driver makes: its filename is an array.
  void insert_array_name(const std::string& name) {
    bson::Builder document;
    document.append("_id", "array of " + name).append("length", 0).append("chunkSize", 10);
    document.append("uploadDate", bson::Date::now());
    document.open_array("filename").push(bson::Value(name).view()).close();
    insert_file(std::move(document).finish());
  }

  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(NamespaceNamesTest, SlashesAlone_AreNoFolder) {
  upload("/", "slash");
  upload("//x", "two slashes");
  EXPECT_THAT(names(""), UnorderedElementsAre("%gridfs:esc:%2F", "%gridfs:esc:%2F%2Fx"));
  EXPECT_EQ(must(namespace_->lookup("", "%gridfs:esc:%2F")).kind, NodeKind::kFile);
  EXPECT_EQ(code_of(namespace_->lookup("", "%gridfs:file:%2F")), kNoSuchEntry);
  EXPECT_EQ(code_of(namespace_->get_directory("/")), kNoSuchEntry);
  must(namespace_->unlink("", "%gridfs:esc:%2F"));
  EXPECT_THAT(names(""), ElementsAre("%gridfs:esc:%2F%2Fx"));
}

TEST_F(NamespaceNamesTest, FoldersThatCannotBe_AreNotMade) {
  must(namespace_->mkdir("", "d", 0755, {}));
  upload("d/f", "x");
  for (const char* name : {"%gridfs:esc:", "%gridfs:esc:%2F", "%gridfs:esc:%2F%2F"}) {
    EXPECT_EQ(code_of(namespace_->mkdir("", name, 0755, {})), kInvalidName) << name;
    EXPECT_EQ(code_of(namespace_->rename("", "d", "", name, RenameMode::kReplace)), kInvalidName)
        << name;
    must(namespace_->create_file("", name, 0644, {}));
    must(namespace_->unlink("", name));
  }
  EXPECT_THAT(names(""), ElementsAre("d"));
  EXPECT_THAT(names("d"), ElementsAre("f"));
  // Within a directory an empty component is possible.
  must(namespace_->mkdir("d", "%gridfs:esc:", 0755, {}));
  must(namespace_->create_file("d/", "g", 0644, {}));
  must(namespace_->rename("", "d", "", "%gridfs:esc:%2Fe", RenameMode::kReplace));
  EXPECT_THAT(names("/e/"), ElementsAre("g"));
}

TEST_F(NamespaceNamesTest, Ids_HaveOneName) {
  insert_tmpfile(bson::Value(5));
  insert_tmpfile(bson::Value("q\"%"));
  const std::string number = "%gridfs:id:{ \"$numberInt\" : \"5\" }";
  EXPECT_THAT(names(""), UnorderedElementsAre(number, "%gridfs:id:\"q\\\"%25\""));
  for (const char* name : {"%gridfs:id:5", "%gridfs:id:5.0", "%gridfs:id:{\"$numberInt\":\"5\"}",
                           "%gridfs:id:5, \"x\": 2", "%gridfs:id:%35", "%gridfs:id:",
                           "%gridfs:id:{ \"$numberDouble\" : \"5.0\" }", "%gridfs:id:\"q\\\"%\""}) {
    EXPECT_FALSE(namespace_->lookup("", name)) << name;
    EXPECT_FALSE(namespace_->unlink("", name)) << name;
  }
  must(namespace_->unlink("", number));
  EXPECT_EQ(count(bucket().files()), 1);
}

TEST_F(NamespaceNamesTest, LongNames_HaveOneName) {
  const std::string component(300, 'q');
  upload(component, "long");
  upload("short", "short");
  const std::string name = escape_component(component, true);
  const std::string hash = name.substr(name.size() - 32);
  EXPECT_THAT(names(""), UnorderedElementsAre(name, "short"));
  EXPECT_TRUE(namespace_->lookup("", name));
  for (const char* head : {"q", "%71", ""}) {
    EXPECT_FALSE(namespace_->lookup("", "%gridfs:long:" + std::string(head) + ":" + hash)) << head;
  }
  // The name is not shadowed, and too short to need an escape.
  const std::string shadowed = escape_shadowed_file(component);
  EXPECT_EQ(code_of(namespace_->lookup("", shadowed)), kNoSuchEntry);
  upload(component + "/below", "");
  EXPECT_THAT(names(""), UnorderedElementsAre(name, shadowed, "short"));
  EXPECT_EQ(must(namespace_->lookup("", name)).kind, NodeKind::kDirectory);
  EXPECT_EQ(must(namespace_->lookup("", shadowed)).kind, NodeKind::kFile);
}

TEST_F(NamespaceNamesTest, ArraysOfNames_AreNoPaths) {
  insert_array_name("a/b");
  EXPECT_THAT(names(""), IsEmpty());
  EXPECT_EQ(code_of(namespace_->lookup("", "a")), kNoSuchEntry);
  upload("a/c", "x");
  EXPECT_THAT(names("a"), ElementsAre("c"));
  must(namespace_->rename("", "a", "", "z", RenameMode::kReplace));
  EXPECT_THAT(names("z"), ElementsAre("c"));
  insert_array_name("z");
  must(namespace_->unlink("z", "c"));
  must(namespace_->rmdir("", "z"));
  must(namespace_->create_file("", "z", 0644, {}));
  must(namespace_->rename("", "z", "", "y", RenameMode::kReplace));
  EXPECT_EQ(count(bucket().files()), 3);
}

TEST_F(NamespaceNamesTest, FolderThatBecomesExplicit_StaysAsItWas) {
  upload("a/b/c/f", "x");
  const Node a = must(namespace_->lookup("", "a"));
  const Node c = must(namespace_->lookup("a/b", "c"));
  // A new upload would change the times of an implied directory.
  must(namespace_->create_file("a/b/c", "g", 0644, {}));
  const Node a_now = must(namespace_->lookup("", "a"));
  const Node c_now = must(namespace_->lookup("a/b", "c"));
  EXPECT_FALSE(a_now.id.view().type() == bson::Type::kNull);
  EXPECT_EQ(a_now.ino, a.ino);
  EXPECT_EQ(c_now.ino, c.ino);
  EXPECT_EQ(a_now.attributes.mode, a.attributes.mode);
  EXPECT_EQ(a_now.attributes.mtime.tv_sec, a.attributes.mtime.tv_sec);
  EXPECT_EQ(a_now.attributes.mtime.tv_nsec, a.attributes.mtime.tv_nsec);
  EXPECT_NE(c_now.attributes.mtime.tv_nsec, c.attributes.mtime.tv_nsec);
  must(namespace_->rename("", "a", "", "z", RenameMode::kReplace));
  EXPECT_EQ(must(namespace_->lookup("", "z")).ino, a.ino);
}

// Documents of earlier versions, and documents whose aliases were not made by our links.
class OddAliasesTest : public NamespaceNamesTest {
 protected:
  OddAliasesTest() {
    must(namespace_->close());
    make_index_of_aliases();
    insert(R"({"_id": "first", "filename": "first", "aliases": ["second"]})");
    mount();
  }

  void insert(const char* json) {
    bson::Builder document;
    document.append("length", 0).append("chunkSize", 10);
    document.append("uploadDate", bson::Date::now());
    document.append_all(must(bson::document_from_json(json)));
    insert_file(std::move(document).finish());
  }
};

TEST_F(OddAliasesTest, TheSameNameTwice_IsOneAndCanBeRemoved) {
  insert(R"({"_id": 1, "filename": "x", "aliases": ["x", "y", "y", "x"]})");
  EXPECT_EQ(must(namespace_->lookup("", "x")).attributes.nlink, 2U);
  must(namespace_->unlink("", "x"));
  EXPECT_EQ(must(namespace_->lookup("", "y")).attributes.nlink, 1U);
  must(namespace_->unlink("", "y"));
  EXPECT_THAT(names(""), ElementsAre("first", "second"));
}

TEST_F(OddAliasesTest, WithoutAFilename_AreRenamedAndRemoved) {
  insert(R"({"_id": 1, "filename": 5, "aliases": ["x"]})");
  must(namespace_->create_file("", "y", 0644, {}));
  must(namespace_->rename("", "x", "", "y", RenameMode::kReplace));
  EXPECT_EQ(code_of(namespace_->lookup("", "x")), kNoSuchEntry);
  EXPECT_EQ(must(namespace_->lookup("", "y")).id, bson::Value(1));
  must(namespace_->unlink("", "y"));
  EXPECT_EQ(code_of(namespace_->lookup("", "y")), kNoSuchEntry);
}

TEST_F(OddAliasesTest, BesideAnArrayOfNames_KeepTheirFolder) {
  must(namespace_->mkdir("", "e", 0755, {}));
  insert(R"({"_id": 1, "filename": ["e/x"]})");
  must(namespace_->link(must(namespace_->lookup("", "first")).id, "e", "n"));
  EXPECT_EQ(code_of(namespace_->rmdir("", "e")), kDirectoryNotEmpty);
}

TEST_F(OddAliasesTest, WithoutTheirIndex_AreNotLookedFor) {
  change([&](engine::Transaction& transaction) {
    must(bucket().files().drop_index(transaction, "aliases_1"));
  });
  EXPECT_EQ(code_of(namespace_->lookup("", "second")), kNoSuchEntry);
  EXPECT_THAT(names(""), ElementsAre("first"));
  must(namespace_->create_file("", "other", 0644, {}));
  must(namespace_->link(must(namespace_->lookup("", "other")).id, "", "third"));
  EXPECT_THAT(names(""), ElementsAre("first", "other", "third"));
}

TEST_F(OddAliasesTest, BecomeDocuments_WhenOneOfTheNamesChanges) {
  insert(R"({"_id": "z", "filename": "a", "aliases": ["d/b", "d/c", "second"]})");
  insert(R"({"_id": 2, "filename": "e", "aliases": ["d/f"]})");
  // The name leads to the newer of the two files.
  EXPECT_EQ(must(namespace_->lookup("", "second")).id, bson::Value("z"));
  must(namespace_->link(bson::Value("z"), "d", "g"));
  EXPECT_FALSE(files_document(bson::Value("z"))->find("aliases"));
  EXPECT_EQ(count(bucket().links()), 4);
  EXPECT_EQ(must(namespace_->lookup("d", "b")).attributes.nlink, 5U);
  must(namespace_->rename("", "d", "", "x", RenameMode::kReplace));
  EXPECT_FALSE(files_document(bson::Value(2))->find("aliases"));
  EXPECT_THAT(names("x"), ElementsAre("b", "c", "f", "g"));
  EXPECT_EQ(must(namespace_->lookup("", "first")).id, bson::Value("first"));
  must(namespace_->unlink("", "second"));
  EXPECT_THAT(names(""), ElementsAre("a", "e", "first", "x"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(NamespaceNamesTest, AliasesInABucketWithoutLinks_AreNobodysNames) {
  bson::Builder document;
  document.append("_id", 1).append("length", 0).append("chunkSize", 10).append("filename", "f");
  document.open_array("aliases").push(bson::Value("ghost").view()).close();
  insert_file(std::move(document).finish());
  EXPECT_EQ(must(namespace_->lookup("", "f")).attributes.nlink, 1U);
  must(namespace_->unlink("", "f"));
  EXPECT_THAT(names(""), IsEmpty());
}

TEST_F(OddAliasesTest, Exchange_LeavesAllOtherNamesAlone) {
  upload(".gridfs/exchange", "theirs");
  must(namespace_->create_file("", "a", 0644, {}));
  const Node first = must(namespace_->lookup("", "first"));
  const size_t before = names("").size();
  must(namespace_->rename("", "first", "", "a", RenameMode::kExchange));
  EXPECT_EQ(must(namespace_->lookup("", "a")).ino, first.ino);
  EXPECT_EQ(names("").size(), before);
}

TEST_F(NamespaceNamesTest, ModesOfNoFile_AreAFilesOwn) {
  for (const int64_t mode : {0170644L, 030644L, 040755L, 0xFFFFFFFFL}) {
    bson::Builder document;
    document.append("_id", mode).append("length", 0).append("chunkSize", 10);
    document.append("filename", "odd");
    document.open_document("metadata").open_document("posix").append("mode", mode);
    document.close().close();
    insert_file(std::move(document).finish());
    EXPECT_TRUE(S_ISREG(must(namespace_->lookup("", "odd")).attributes.mode));
    must(namespace_->unlink("", "odd"));
  }
}

}  // namespace
}  // namespace gridmount::gridfs
