// Goal: the commands and options of gridfiles that mongofiles does not have: stat, cat, mv, du,
// tree, verify, --json, --filter, --sort, --range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "engine/bson/json.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class GridfilesFurther : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
    with_bucket([](gridfs::Bucket& bucket) {
      upload(bucket, "photos/a.jpg", "0123456789");
      upload(bucket, "photos/2020/b.jpg", "b");
      upload(bucket, "photos/2020/c.jpg", "cc");
      upload(bucket, "photos-of-others", "12345");
      gridfs::UploadOptions options;
      options.id = bson::Value("first");
      upload(bucket, "plan", "the first", options);
      options.id = bson::Value("second");
      const bson::Document metadata = document("owner", "me");
      options.metadata = metadata;
      upload(bucket, "plan", "the second", options);
    });
  }
  // Sets fields of the documents of a collection that match.
  void set(const std::string& collection, const bson::Document& filter,
           const bson::Document& fields) {
    change([&](engine::Database& database, engine::Transaction& transaction) {
      bson::Builder update;
      update.append("$set", fields);
      must(
          database.collection(collection)->update(transaction, filter, std::move(update).finish()));
    });
  }
};

TEST_F(GridfilesFurther, List_Json_IsTheFilesDocument) {
  const Outcome outcome = gridfiles({"--json", "list", "plan"});
  EXPECT_EQ(outcome.status, 0);
  const size_t end = outcome.out.find('\n');
  const auto first = must(bson::document_from_json(outcome.out.substr(0, end)));
  EXPECT_EQ(first.view()["_id"].as_string(), "first");
  EXPECT_EQ(first.view()["length"].integral(), 9);
  EXPECT_THAT(outcome.out.substr(end + 1), HasSubstr("\"metadata\" : { \"owner\" : \"me\" }"));
}

TEST_F(GridfilesFurther, List_FilterAndSort) {
  EXPECT_EQ(gridfiles({"--filter", R"({"metadata.owner": "me"})", "list"}).out, "plan\t10\n");
  EXPECT_EQ(gridfiles({"--filter", R"({"length": {"$lt": 3}})", "--sort", R"({"length": -1})",
                       "list", "photos/"})
                .out,
            "photos/2020/c.jpg\t2\nphotos/2020/b.jpg\t1\n");
  EXPECT_EQ(gridfiles({"--filter", R"({"length": 5})", "search", "others"}).out,
            "photos-of-others\t5\n");
  const Outcome wrong = gridfiles({"--filter", R"({"length": {"$no": 3}})", "list"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, HasSubstr("unknown operator: $no"));
}

TEST_F(GridfilesFurther, Stat_ShowsTheNewestFileAndTheNumberOfRevisions) {
  const Outcome outcome = gridfiles({"stat", "plan", "photos/a.jpg"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, StartsWith("_id: \"second\"\nlength: 10\n"));
  EXPECT_THAT(outcome.out, HasSubstr("\nmetadata: { \"owner\" : \"me\" }\nrevisions: 2\n\n_id: "));
  EXPECT_THAT(outcome.out, EndsWith("filename: \"photos/a.jpg\"\nrevisions: 1\n"));
  EXPECT_THAT(gridfiles({"--json", "stat", "plan"}).out, StartsWith("{ \"_id\" : \"second\", "));
}

TEST_F(GridfilesFurther, NamesWithoutAFile_AreNamed_AndNothingIsPrinted) {
  for (const char* command : {"stat", "cat"}) {
    const Outcome outcome = gridfiles({command, "plan", "x", "y"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("Failed: requested files not found: `x`, `y`"));
  }
}

TEST_F(GridfilesFurther, Cat_WritesTheNewestFilesInOrder) {
  const Outcome outcome = gridfiles({"cat", "plan", "photos/a.jpg"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "the second0123456789");
}

TEST_F(GridfilesFurther, Cat_Range_IsAsInHttp) {
  const auto range = [&](const std::string& text) {
    return gridfiles({"--range=" + text, "cat", "photos/a.jpg"}).out;
  };
  EXPECT_EQ(range("0-0"), "0");
  EXPECT_EQ(range("2-4"), "234");
  EXPECT_EQ(range("8-100"), "89");
  EXPECT_EQ(range("7-"), "789");
  EXPECT_EQ(range("-3"), "789");
  EXPECT_EQ(range("-100"), "0123456789");
  EXPECT_EQ(range("-0"), "");
  const Outcome behind = gridfiles({"--range=10-", "cat", "photos/a.jpg"});
  EXPECT_EQ(behind.status, 1);
  EXPECT_EQ(behind.out, "");
  EXPECT_THAT(behind.err,
              HasSubstr("--range begins at byte 10, but `photos/a.jpg` has only 10 bytes"));
}

TEST_F(GridfilesFurther, Cat_Range_OverChunks) {
  const std::string content = pattern_bytes(1000);
  with_bucket([&](gridfs::Bucket& bucket) {
    gridfs::UploadOptions small;
    small.chunk_bytes = 100;
    upload(bucket, "chunks", content, small);
  });
  EXPECT_EQ(gridfiles({"--range=95-305", "cat", "chunks"}).out, content.substr(95, 211));
}

TEST_F(GridfilesFurther, Cat_AnEmptyFile_HasAnyRange) {
  with_bucket([](gridfs::Bucket& bucket) { upload(bucket, "empty", ""); });
  for (const char* range : {"0-", "0-9", "-5", "7-"}) {
    const Outcome outcome = gridfiles({std::string("--range=") + range, "cat", "empty"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(GridfilesFurther, Range_ThatIsNone_IsRefused) {
  for (const char* range : {"", "-", "5", "4-3", "a-b", "1-2-3", "--5", "-1-2", "1e3-", "+1-2"}) {
    const Outcome outcome = gridfiles({std::string("--range=") + range, "cat", "plan"});
    EXPECT_EQ(outcome.status, 1) << range;
    EXPECT_THAT(outcome.err, HasSubstr("--range takes <first>-<last>")) << range;
  }
}

TEST_F(GridfilesFurther, Du_SumsUpToTheNextSlash) {
  EXPECT_EQ(gridfiles({"du"}).out, "photos-of-others\t5\nphotos/\t13\nplan\t19\ntotal\t37\n");
  EXPECT_EQ(gridfiles({"du", "photos/"}).out, "photos/2020/\t3\nphotos/a.jpg\t10\ntotal\t13\n");
  EXPECT_EQ(gridfiles({"du", "none"}).out, "total\t0\n");
  EXPECT_THAT(gridfiles({"--json", "du", "photos/2"}).out,
              StartsWith("{ \"name\" : \"photos/2020/\", \"bytes\" : 3, \"files\" : 2 }\n"));
}

TEST_F(GridfilesFurther, Tree_ShowsFoldersAndTheNewestFiles) {
  const Outcome outcome = gridfiles({"tree"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out,
            ".\n"
            "├── [          5]  photos-of-others\n"
            "├── [         13]  photos/\n"
            "│   ├── [          3]  2020/\n"
            "│   │   ├── [          1]  b.jpg\n"
            "│   │   └── [          2]  c.jpg\n"
            "│   └── [         10]  a.jpg\n"
            "└── [         10]  plan\n"
            "\n"
            "2 directories, 5 files\n");
}

TEST_F(GridfilesFurther, Tree_OfAPrefix_HasTheFolderOfItAsRoot) {
  EXPECT_EQ(gridfiles({"tree", "photos/2"}).out,
            "photos/\n"
            "└── [          3]  2020/\n"
            "    ├── [          1]  b.jpg\n"
            "    └── [          2]  c.jpg\n"
            "\n"
            "1 directory, 2 files\n");
  EXPECT_EQ(gridfiles({"tree", "none"}).out, ".\n\n0 directories, 0 files\n");
  EXPECT_EQ(gridfiles({"--json", "tree", "photos/2020/"}).out,
            "{ \"name\" : \"photos/2020/b.jpg\", \"bytes\" : 1, \"files\" : 1 }\n"
            "{ \"name\" : \"photos/2020/c.jpg\", \"bytes\" : 2, \"files\" : 1 }\n"
            "{ \"name\" : \"total\", \"bytes\" : 3, \"files\" : 2 }\n");
}

TEST_F(GridfilesFurther, Tree_OddNames) {
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "d/";
  with_bucket([&](gridfs::Bucket& bucket) {
    upload(bucket, "odd/a", "1");
    upload(bucket, "odd/a/", "22");
    upload(bucket, "odd/a//b", "333");
    upload(bucket, "deep/" + deep + "end", "4");
  });
  EXPECT_EQ(gridfiles({"tree", "odd/"}).out,
            "odd/\n"
            "├── [          1]  a\n"
            "└── [          5]  a/\n"
            "    ├── [          2]  \n"
            "    └── [          3]  /\n"
            "        └── [          3]  b\n"
            "\n"
            "2 directories, 3 files\n");
  const Outcome outcome = gridfiles({"tree", "deep/"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("d/d/end\n"));
  EXPECT_THAT(outcome.out, EndsWith("\n1000 directories, 1 file\n"));
}

TEST_F(GridfilesFurther, Verify_SoundFiles) {
  const Outcome outcome = gridfiles({"verify", "p"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("plan\tok\n"));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 6);
}

TEST_F(GridfilesFurther, Verify_AMissingChunk_AWrongMd5_AndNoMd5) {
  change([](engine::Database& database, engine::Transaction& transaction) {
    auto chunks = database.collection("fs.chunks");
    must(chunks->remove(transaction, document("files_id", "first"), true));
  });
  set("fs.files", document("filename", "photos/a.jpg"), document("md5", std::string(32, '0')));
  set("fs.files", document("filename", "photos-of-others"), document("md5", bson::Value()));
  const Outcome outcome = gridfiles({"verify"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Failed: 2 of 6 files are damaged; see `gridstore check`"));
  EXPECT_THAT(outcome.out, HasSubstr("photos-of-others\tok, without md5\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("photos/a.jpg\tdamaged: the content has the md5 "
                        "781e5e245d69b566979b86e28d23f2c7, but the files document says "
                        "00000000000000000000000000000000\n"));
  EXPECT_THAT(outcome.out, HasSubstr("plan\tdamaged: "));
  EXPECT_THAT(outcome.out, HasSubstr("plan\tok\n"));
  const Outcome json =
      gridfiles({"--json", "--filter", R"({"_id": "first"})", "--sort", R"({"_id": 1})", "verify"});
  EXPECT_EQ(json.status, 1);
  EXPECT_THAT(json.out,
              StartsWith("{ \"_id\" : \"first\", \"filename\" : \"plan\", \"ok\" : false, "));
}

TEST_F(GridfilesFurther, Mv_RenamesAllRevisions) {
  const Outcome outcome = gridfiles({"mv", "plan", "photos/plan"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(gridfiles({"list", "plan"}).out, "");
  EXPECT_EQ(gridfiles({"list", "photos/plan"}).out, "photos/plan\t9\nphotos/plan\t10\n");
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesFurther, Mv_ToATakenName_OnlyWithReplace) {
  Outcome outcome = gridfiles({"mv", "photos/a.jpg", "plan"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Failed: a file is named `plan` already; set --replace"));
  EXPECT_EQ(gridfiles({"list", "plan"}).out, "plan\t9\nplan\t10\n");
  outcome = gridfiles({"--replace", "mv", "photos/a.jpg", "plan"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(gridfiles({"cat", "plan"}).out, "0123456789");
  EXPECT_EQ(gridfiles({"list", "plan"}).out, "plan\t10\n");
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesFurther, Mv_OfNothing_OrToItself) {
  EXPECT_THAT(gridfiles({"mv", "none", "x"}).err, HasSubstr("no file is named 'none'"));
  EXPECT_THAT(gridfiles({"--replace", "mv", "plan", "plan"}).err,
              HasSubstr("`plan` cannot be renamed to itself"));
  EXPECT_EQ(gridfiles({"list", "plan"}).out, "plan\t9\nplan\t10\n");
}

// --- Folders.

class GridfilesFolders : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    std::filesystem::create_directories(folder() / "tree/sub/deep");
    std::filesystem::create_directories(folder() / "tree/empty");
    write_file("tree/a", "a");
    write_file("tree/sub/b", "bb");
    write_file("tree/sub/deep/c", pattern_bytes(700'000));
    std::filesystem::create_symlink("a", folder() / "tree/link");
  }
};

TEST_F(GridfilesFolders, Put_NamesAreThoseOfCp) {
  const Outcome outcome = gridfiles({"--create", "--recursive", "put", "tree"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("leaving out `tree/link`, which is a symbolic link"));
  const std::string all = "tree/a\t1\ntree/sub/b\t2\ntree/sub/deep/c\t700000\n";
  EXPECT_EQ(gridfiles({"list"}).out, all);
  for (const std::string& path :
       {folder().string() + "/tree", std::string("./tree/"), std::string("tree/../tree")}) {
    EXPECT_EQ(gridfiles({"--replace", "--recursive", "put", path}).status, 0);
    EXPECT_EQ(gridfiles({"--sort", R"({"filename": 1})", "list"}).out, all) << path;
  }
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesFolders, Put_OfTheFolderItself_LeavesOutTheStore) {
  create_store();
  const Outcome outcome = gridfiles({"--recursive", "put", "."});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("leaving out `./store.gfs`, which is the store itself"));
  EXPECT_EQ(gridfiles({"list", "tree/a"}).out, "tree/a\t1\n");
  EXPECT_EQ(gridfiles({"list", "store"}).out, "");
}

TEST_F(GridfilesFolders, Put_AFileOrNothing) {
  EXPECT_EQ(gridfiles({"--create", "--recursive", "put", "tree/a"}).status, 0);
  EXPECT_EQ(gridfiles({"list"}).out, "tree/a\t1\n");
  const Outcome outcome = gridfiles({"--recursive", "put", "none"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("open none: no such file or directory"));
  EXPECT_THAT(gridfiles({"--recursive", "--local", "x", "put", "tree"}).err,
              HasSubstr("cannot put folders with --local specified"));
}

TEST_F(GridfilesFolders, Get_MakesTheFolders) {
  ASSERT_EQ(gridfiles({"--create", "--recursive", "put", "tree"}).status, 0);
  std::filesystem::rename(folder() / "tree", folder() / "before");
  const Outcome outcome = gridfiles({"--recursive", "get", "tree/sub/"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_FALSE(exists("tree/a"));
  EXPECT_EQ(read_file("tree/sub/b"), "bb");
  EXPECT_EQ(read_file("tree/sub/deep/c"), read_file("before/sub/deep/c"));
  EXPECT_THAT(gridfiles({"--recursive", "get", "tree"}).err, HasSubstr("set --overwriteLocal"));
  EXPECT_EQ(gridfiles({"--overwriteLocal", "--recursive", "get", "tree"}).status, 0);
  EXPECT_EQ(read_file("tree/a"), "a");
  EXPECT_THAT(gridfiles({"--recursive", "get", "tree", "tre"}).err,
              HasSubstr("requested files not found: `tre`"));
}

TEST_F(GridfilesFolders, Get_NewestRevisionsOnly) {
  create_store();
  with_bucket([](gridfs::Bucket& bucket) {
    upload(bucket, "d/x", "old");
    upload(bucket, "d/x", "new");
    upload(bucket, "d", "a file of that name");
    upload(bucket, "d-not", "");
  });
  const Outcome outcome = gridfiles({"--recursive", "get", "d/"});
  // "d" cannot be both a file and a folder.
  EXPECT_EQ(outcome.status, 1);
  EXPECT_FALSE(exists("d-not"));
  EXPECT_EQ(gridfiles({"delete", "d"}).status, 0);
  std::filesystem::remove(folder() / "d");
  EXPECT_EQ(gridfiles({"--recursive", "get", "d"}).status, 0);
  EXPECT_EQ(read_file("d/x"), "new");
}

TEST_F(GridfilesFolders, Get_DoesNotLeaveTheFolder) {
  create_store();
  with_bucket([](gridfs::Bucket& bucket) {
    upload(bucket, "d/../../outside", "x");
    upload(bucket, "link/x", "x");
  });
  Outcome outcome = gridfiles({"--recursive", "get", "d"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("lies outside the current directory"));
  std::filesystem::create_directories(folder() / "elsewhere");
  std::filesystem::create_symlink("elsewhere", folder() / "link");
  outcome = gridfiles({"--recursive", "get", "link"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("contains a symbolic link"));
  EXPECT_TRUE(std::filesystem::is_empty(folder() / "elsewhere"));
  EXPECT_EQ(gridfiles({"--allowUnsafeTraversal", "--recursive", "get", "link"}).status, 0);
  EXPECT_EQ(read_file("elsewhere/x"), "x");
}

TEST_F(GridfilesFurther, Options_OfOtherCommands_AreRefused) {
  using Arguments = std::vector<std::string>;
  for (const Arguments& arguments :
       {Arguments{"--json", "put", "x"}, Arguments{"--range=1-2", "list"},
        Arguments{"--filter", "{}", "cat", "plan"}, Arguments{"--sort", "{}", "du"}}) {
    const Outcome outcome = gridfiles(arguments);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("does not take " + arguments[0].substr(0, 6)));
  }
  EXPECT_THAT(gridfiles({"--filter", "{length: ", "list"}).err,
              HasSubstr("is not a document in Extended JSON"));
}

}  // namespace
}  // namespace gridmount::tests
