// Goal: each promise of path_namespace.h holds.
// Method: a real store, with files made as drivers make them beside those of the namespace, and a
// look at the documents afterwards.

#include "gridfs/namespace/path_namespace.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <functional>
#include <set>

#include "engine/bson/json.h"
#include "gridfs/bucket/chunk_document.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class PathNamespaceTest : public BucketFixture {
 protected:
  PathNamespaceTest() { mount(); }
  ~PathNamespaceTest() override {
    if (namespace_ == nullptr) return;
    EXPECT_TRUE(namespace_->close());
  }

  void mount(NamespaceOptions options = {}) {
    options.default_owner = {7, 8};
    namespace_ = must(
        PathNamespace::open(store(), store().database("test"), bucket().options(), options, {}));
  }
  void remount() {
    must(namespace_->close());
    namespace_.reset();
    reopen();
    mount();
  }
  PathNamespace& paths() { return *namespace_; }

  Node make(const std::string& folder, const std::string& name, const std::string& content = "") {
    const Node node = must(paths().create_file(folder, name, 0644, {1, 2}));
    if (!content.empty()) {
      const auto file = must(paths().open_file(node.id));
      must(write(*file, 0, content));
      must(file->flush());
    }
    return node;
  }
  Node make_folder(const std::string& folder, const std::string& name, uint32_t mode = 0755) {
    return must(paths().mkdir(folder, name, mode, {1, 2}));
  }
  std::vector<std::string> names(const std::string& folder) {
    std::vector<std::string> all;
    const auto listing = must(paths().list(folder));
    while (const auto entry = must(listing->next())) {
      all.push_back(entry->name);
      const Node found = must(paths().lookup(folder, entry->name));
      EXPECT_EQ(found.ino, entry->node.ino) << entry->name;
      EXPECT_EQ(found.kind, entry->node.kind) << entry->name;
      EXPECT_EQ(found.attributes.mode, entry->node.attributes.mode) << entry->name;
      EXPECT_EQ(found.attributes.size, entry->node.attributes.size) << entry->name;
    }
    return all;
  }
  std::optional<std::string> content_of(const std::string& folder, const std::string& name) {
    const Result<Node> node = paths().lookup(folder, name);
    if (!node) return std::nullopt;
    return read_all(*must(paths().open_file(node->id)));
  }

 private:
  std::unique_ptr<PathNamespace> namespace_;
};

// An open file does not learn of the changes of drivers.
TEST_F(PathNamespaceTest, AttributesThatADriverSets_AreSeenWhileTheFileIsOpen) {
  const Node made = make("", "f", "x");
  const auto open = must(paths().open_file(made.id));
  EXPECT_FALSE(must(paths().lookup("", "f")).has_xattrs);
  change([&](engine::Transaction& transaction) {
    const bson::Document set = must(bson::document_from_json(
        R"({"$set": {"metadata.posix.xattrs": [{"name": "user.a", "value": "1"}]}})"));
    must(bucket().files().update(transaction, equals("_id", made.id), set, {}));
  });
  EXPECT_TRUE(must(paths().lookup("", "f")).has_xattrs);
  EXPECT_TRUE(must(paths().file(made.id)).has_xattrs);
  const auto listing = must(paths().list(""));
  EXPECT_TRUE(must(listing->next())->node.has_xattrs);
}

TEST_F(PathNamespaceTest, EmptyBucket) {
  EXPECT_THAT(names(""), IsEmpty());
  const Node root = must(paths().root());
  EXPECT_EQ(root.kind, NodeKind::kDirectory);
  EXPECT_EQ(root.attributes.mode, S_IFDIR | 0755U);
  EXPECT_EQ(root.attributes.uid, 7U);
  EXPECT_EQ(code_of(paths().lookup("", "a")), kNoSuchEntry);
  EXPECT_EQ(code_of(paths().list("a")), kNoSuchEntry);
}

TEST_F(PathNamespaceTest, MadeFile_IsAFilesDocument) {
  const Node node = make("", "a.txt", "hello");
  EXPECT_EQ(node.attributes.mode, S_IFREG | 0644U);
  EXPECT_EQ(node.attributes.uid, 1U);
  const FilesDocument document = file(node.id);
  EXPECT_EQ(document.filename, "a.txt");
  EXPECT_EQ(document.length, 5);
  EXPECT_EQ(document.md5, md5_of("hello"));
  EXPECT_EQ(must(paths().lookup("", "a.txt")).attributes.size, 5);
  EXPECT_EQ(code_of(paths().create_file("", "a.txt", 0644, {})), kEntryExists);
  EXPECT_EQ(code_of(paths().mkdir("", "a.txt", 0755, {})), kEntryExists);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PathNamespaceTest, UploadedFile_HasDefaultAttributes) {
  upload("dir/a.txt", "content");
  const Node node = must(paths().lookup("dir", "a.txt"));
  EXPECT_EQ(node.attributes.mode, S_IFREG | 0644U);
  EXPECT_EQ(node.attributes.uid, 7U);
  EXPECT_EQ(node.attributes.gid, 8U);
  EXPECT_EQ(node.attributes.size, 7);
  EXPECT_EQ(node.attributes.blocks, 1);
  EXPECT_GT(node.attributes.mtime.tv_sec, 0);
  const Node folder = must(paths().lookup("", "dir"));
  EXPECT_EQ(folder.kind, NodeKind::kDirectory);
  EXPECT_EQ(folder.attributes.mode, S_IFDIR | 0755U);
  EXPECT_EQ(content_of("dir", "a.txt"), "content");
}

TEST_F(PathNamespaceTest, ImpliedFolders_AreListedOnce) {
  for (const char* name : {"a/b/c", "a/b/d", "a/e", "f", "a.txt", "a0", "g/h/i/j"})
    upload(name, "x");
  EXPECT_THAT(names(""), UnorderedElementsAre("a", "f", "a.txt", "a0", "g"));
  EXPECT_THAT(names("a"), UnorderedElementsAre("b", "e"));
  EXPECT_THAT(names("a/b"), UnorderedElementsAre("c", "d"));
  EXPECT_THAT(names("g/h"), ElementsAre("i"));
}

TEST_F(PathNamespaceTest, ChangeInImpliedFolder_MakesItExplicit) {
  upload("a/b/c", "x");
  must(paths().unlink("a/b", "c"));
  EXPECT_THAT(names("a/b"), IsEmpty());
  EXPECT_THAT(names("a"), ElementsAre("b"));
  remount();
  EXPECT_THAT(names("a"), ElementsAre("b"));
  must(paths().rmdir("a", "b"));
  must(paths().rmdir("", "a"));
  EXPECT_THAT(names(""), IsEmpty());
}

TEST_F(PathNamespaceTest, Changes_SetTheFoldersTimes) {
  make_folder("", "d");
  AttributeChanges old;
  old.mtime = old.ctime = timespec{1000, 5};
  const auto aged = [&] {
    must(paths().setattr_directory("d", old));
    EXPECT_EQ(must(paths().get_directory("d")).attributes.mtime.tv_nsec, 5);
  };
  const auto expect_changed = [&](const char* what) {
    const Attributes attributes = must(paths().get_directory("d")).attributes;
    EXPECT_GT(attributes.mtime.tv_sec, 1000) << what;
    EXPECT_GT(attributes.ctime.tv_sec, 1000) << what;
  };
  aged();
  make("d", "f");
  expect_changed("create");
  aged();
  must(paths().rename("d", "f", "d", "g", RenameMode::kReplace));
  expect_changed("rename");
  aged();
  must(paths().unlink("d", "g"));
  expect_changed("unlink");
  aged();
  make_folder("d", "e");
  expect_changed("mkdir");
  aged();
  must(paths().rmdir("d", "e"));
  expect_changed("rmdir");
}

TEST_F(PathNamespaceTest, Revisions_NewestWins_UnlinkAndRenameTakeAll) {
  upload("a", "first");
  upload("a", "second");
  upload("a", "third");
  EXPECT_THAT(names(""), ElementsAre("a"));
  EXPECT_EQ(content_of("", "a"), "third");
  must(paths().rename("", "a", "", "b", RenameMode::kReplace));
  EXPECT_EQ(content_of("", "b"), "third");
  EXPECT_EQ(code_of(paths().lookup("", "a")), kNoSuchEntry);
  must(paths().unlink("", "b"));
  EXPECT_EQ(code_of(paths().lookup("", "b")), kNoSuchEntry);
  EXPECT_EQ(count(bucket().files()), 0);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PathNamespaceTest, Revisions_OfOneDate_GreatestIdWins) {
  for (const int id : {2, 3, 1}) {
    bson::Builder document;
    document.append("_id", id).append("length", id).append("chunkSize", 10);
    document.append("uploadDate", bson::Date{5}).append("filename", "a");
    insert_file(std::move(document).finish());
  }
  EXPECT_EQ(must(paths().lookup("", "a")).id, bson::Value(3));
  const auto listing = must(paths().list(""));
  EXPECT_EQ(must(listing->next())->node.id, bson::Value(3));
}

TEST_F(PathNamespaceTest, FileBesideAFolderOfItsName) {
  upload("a", "file");
  upload("a/b", "below");
  upload("a!", "between");
  EXPECT_THAT(names(""), UnorderedElementsAre("a", "a!", "%gridfs:file:a"));
  EXPECT_EQ(must(paths().lookup("", "a")).kind, NodeKind::kDirectory);
  EXPECT_EQ(content_of("", "%gridfs:file:a"), "file");
  must(paths().unlink("", "%gridfs:file:a"));
  EXPECT_EQ(code_of(paths().lookup("", "%gridfs:file:a")), kNoSuchEntry);
  EXPECT_EQ(content_of("a", "b"), "below");
  // An explicit directory has the same effect.
  upload("e", "file");
  change([&](engine::Transaction& transaction) {
    bson::Builder folder;
    folder.append("_id", bson::ObjectId::generate()).append("parent", "").append("name", "e");
    must(bucket().directories().insert(transaction, std::move(folder).finish()));
  });
  EXPECT_THAT(names(""), UnorderedElementsAre("a", "a!", "e", "%gridfs:file:e"));
}

TEST_F(PathNamespaceTest, FilesWithoutFilename_AreInTheRoot) {
  bson::Builder document;
  document.append("_id", 5).append("length", 0).append("chunkSize", 10);
  document.append("uploadDate", bson::Date::now());
  insert_file(std::move(document).finish());
  bson::Builder numbered;
  numbered.append("_id", "x/y").append("length", 0).append("chunkSize", 10).append("filename", 3.5);
  insert_file(std::move(numbered).finish());
  const std::string first = "%gridfs:id:{ \"$numberInt\" : \"5\" }";
  EXPECT_THAT(names(""), UnorderedElementsAre(first, "%gridfs:id:\"x%2Fy\""));
  must(paths().rename("", first, "", "named", RenameMode::kReplace));
  EXPECT_EQ(file(bson::Value(5)).filename, "named");
  must(paths().unlink("", "%gridfs:id:\"x%2Fy\""));
  EXPECT_THAT(names(""), ElementsAre("named"));
}

TEST_F(PathNamespaceTest, Rename_Files) {
  make("", "a", "A");
  make("", "b", "B");
  make_folder("", "d");
  must(paths().rename("", "a", "d", "x", RenameMode::kReplace));
  EXPECT_EQ(content_of("d", "x"), "A");
  EXPECT_EQ(code_of(paths().rename("", "b", "d", "x", RenameMode::kNoReplace)), kEntryExists);
  must(paths().rename("", "b", "d", "x", RenameMode::kReplace));
  EXPECT_EQ(content_of("d", "x"), "B");
  EXPECT_EQ(count(bucket().files()), 1);
  EXPECT_EQ(code_of(paths().rename("d", "x", "", "d", RenameMode::kReplace)), kIsADirectory);
  EXPECT_EQ(code_of(paths().rename("", "gone", "", "y", RenameMode::kReplace)), kNoSuchEntry);
  EXPECT_EQ(code_of(paths().rename("d", "x", "gone", "y", RenameMode::kReplace)), kNoSuchEntry);
  must(paths().rename("d", "x", "d", "x", RenameMode::kReplace));
  EXPECT_EQ(content_of("d", "x"), "B");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PathNamespaceTest, Rename_Folders) {
  upload("a/b/one", "1");
  upload("a/two", "2");
  make_folder("a", "empty");
  make_folder("a/empty", "inner", 0700);
  upload("a0", "not below a");
  must(paths().rename("", "a", "", "z", RenameMode::kReplace));
  EXPECT_THAT(names(""), UnorderedElementsAre("z", "a0"));
  EXPECT_THAT(names("z"), UnorderedElementsAre("b", "two", "empty"));
  EXPECT_EQ(content_of("z/b", "one"), "1");
  EXPECT_EQ(must(paths().get_directory("z/empty/inner")).attributes.mode, S_IFDIR | 0700U);
  EXPECT_EQ(code_of(paths().rename("", "z", "z/empty", "x", RenameMode::kReplace)),
            kMoveIntoItself);
  make_folder("", "target");
  must(paths().rename("z", "empty", "", "target", RenameMode::kReplace));
  EXPECT_THAT(names("target"), ElementsAre("inner"));
  EXPECT_EQ(code_of(paths().rename("", "z", "", "target", RenameMode::kReplace)),
            kDirectoryNotEmpty);
  EXPECT_EQ(code_of(paths().rename("", "z", "", "a0", RenameMode::kReplace)), kNotADirectory);
}

TEST_F(PathNamespaceTest, Rename_LargeFolder_MovesAll) {
  constexpr int kFiles = 1500;
  change([&](engine::Transaction& transaction) {
    for (int i = 0; i < kFiles; ++i) {
      bson::Builder document;
      document.append("_id", i).append("length", 0).append("chunkSize", 10);
      document.append("uploadDate", bson::Date::now());
      document.append("filename", "old/" + std::to_string(i % 7) + "/" + std::to_string(i));
      must(bucket().files().insert(transaction, std::move(document).finish()));
    }
  });
  must(paths().rename("", "old", "", "new", RenameMode::kReplace));
  int found = 0;
  for (int i = 0; i < 7; ++i) found += static_cast<int>(names("new/" + std::to_string(i)).size());
  EXPECT_EQ(found, kFiles);
  EXPECT_EQ(code_of(paths().lookup("", "old")), kNoSuchEntry);
}

TEST_F(PathNamespaceTest, Removing) {
  make("", "a");
  make_folder("", "d");
  make("d", "x");
  EXPECT_EQ(code_of(paths().unlink("", "d")), kIsADirectory);
  EXPECT_EQ(code_of(paths().rmdir("", "a")), kNotADirectory);
  EXPECT_EQ(code_of(paths().rmdir("", "d")), kDirectoryNotEmpty);
  EXPECT_EQ(code_of(paths().unlink("", "gone")), kNoSuchEntry);
  EXPECT_EQ(code_of(paths().rmdir("", "gone")), kNoSuchEntry);
  must(paths().unlink("d", "x"));
  must(paths().rmdir("", "d"));
  EXPECT_THAT(names(""), ElementsAre("a"));
}

TEST_F(PathNamespaceTest, UnlinkedWhileOpen_LivesOn) {
  const Node node = make("", "a", "content");
  auto open = must(paths().open_file(node.id));
  must(paths().unlink("", "a"));
  EXPECT_THAT(names(""), IsEmpty());
  EXPECT_EQ(read_all(*open), "content");
  must(write(*open, 7, " and more"));
  must(open->flush());
  EXPECT_EQ(read_all(*open), "content and more");
  make("", "a", "another");
  EXPECT_EQ(content_of("", "a"), "another");
  open.reset();
  remount();
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_EQ(count(bucket().files()), 1);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PathNamespaceTest, Attributes_OfFiles) {
  const Node node = make("", "a", "12345");
  AttributeChanges changes;
  changes.permissions = 04755;
  changes.uid = 10;
  changes.mtime = timespec{1234, 567};
  changes.size = 3;
  const Attributes now = must(paths().setattr_file(node.id, changes)).attributes;
  EXPECT_EQ(now.mode, S_IFREG | 04755U);
  EXPECT_EQ(now.uid, 10U);
  EXPECT_EQ(now.gid, 2U);
  EXPECT_EQ(now.size, 3);
  EXPECT_EQ(now.mtime.tv_sec, 1234);
  EXPECT_EQ(now.mtime.tv_nsec, 567);
  remount();
  const Attributes later = must(paths().lookup("", "a")).attributes;
  EXPECT_EQ(later.mode, now.mode);
  EXPECT_EQ(later.mtime.tv_nsec, 567);
  EXPECT_EQ(content_of("", "a"), "123");
  EXPECT_EQ(code_of(paths().setattr_file(bson::Value(77), changes)), kFileNotFound);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PathNamespaceTest, Attributes_OfImpliedFolder_MakeItExplicit) {
  upload("a/b/c", "x");
  AttributeChanges changes;
  changes.permissions = 0700;
  changes.uid = 33;
  must(paths().setattr_directory("a/b", changes));
  remount();
  EXPECT_EQ(must(paths().get_directory("a/b")).attributes.mode, S_IFDIR | 0700U);
  EXPECT_EQ(must(paths().get_directory("a/b")).attributes.uid, 33U);
  EXPECT_EQ(must(paths().get_directory("a")).attributes.mode, S_IFDIR | 0755U);
  EXPECT_EQ(code_of(paths().setattr_directory("x", changes)), kNoSuchEntry);
}

TEST_F(PathNamespaceTest, SetGroupIdFolder_PassesItsGroupOn) {
  make_folder("", "d", 02775);
  EXPECT_EQ(must(paths().create_file("d", "f", 0644, {5, 6})).attributes.gid, 2U);
  const Node inner = must(paths().mkdir("d", "e", 0755, {5, 6}));
  EXPECT_EQ(inner.attributes.gid, 2U);
  EXPECT_EQ(inner.attributes.mode, S_IFDIR | 02755U);
}

TEST_F(PathNamespaceTest, Symlinks) {
  const std::string target = "some/where\xFF";
  const Node link = must(paths().symlink("", "l", target, {1, 2}));
  EXPECT_EQ(link.attributes.mode, S_IFLNK | 0777U);
  EXPECT_EQ(link.attributes.size, static_cast<int64_t>(target.size()));
  remount();
  EXPECT_EQ(must(paths().readlink(link.id)), target);
  EXPECT_FALSE(paths().readlink(make("", "a").id));
}

TEST_F(PathNamespaceTest, OddNames) {
  for (const std::string& name :
       {std::string("a//b"), std::string("a/"), std::string(""), std::string("/x/y"),
        std::string("."), std::string(".gridfs/z"), std::string("u/../v"), std::string("n\0l", 3),
        "dir/" + std::string(300, 'q'), std::string("%gridfs:file:a")}) {
    upload(name, name);
  }
  std::set<std::string> found;
  const std::function<void(const std::string&)> walk = [&](const std::string& folder) {
    for (const std::string& name : names(folder)) {
      const Node node = must(paths().lookup(folder, name));
      if (node.kind == NodeKind::kDirectory) {
        walk(node.path);
      } else {
        const std::string filename = *file(node.id).filename;
        EXPECT_EQ(content_of(folder, name), filename);
        EXPECT_TRUE(found.insert(filename).second) << "twice: " << filename;
      }
    }
  };
  walk("");
  EXPECT_EQ(found.size(), 10U);
}

TEST_F(PathNamespaceTest, NamesThatCannotBeMade) {
  EXPECT_EQ(code_of(paths().create_file("", std::string(256, 'a'), 0644, {})), kNameTooLong);
  EXPECT_EQ(code_of(paths().create_file("", ".gridfs", 0644, {})), kInvalidName);
  EXPECT_EQ(code_of(paths().create_file("", "%gridfs:id:5", 0644, {})), kInvalidName);
  EXPECT_EQ(code_of(paths().mkdir("", "%gridfs:x", 0755, {})), kInvalidName);
  EXPECT_EQ(code_of(paths().create_file("gone", "a", 0644, {})), kNoSuchEntry);
  std::string folder;
  for (int i = 0; i < 16; ++i) {
    const std::string name(255, static_cast<char>('a' + i));
    const Result<Node> made = paths().mkdir(folder, name, 0755, {});
    if (!made) {
      EXPECT_EQ(made.error().code(), kNameTooLong);
      EXPECT_EQ(i, 15);
      break;
    }
    folder = made->path;
  }
  must(paths().create_file("", "%gridfs:esc:%2Fodd", 0644, {}));
  EXPECT_THAT(names(""), UnorderedElementsAre("%gridfs:esc:%2Fodd", std::string(255, 'a')));
}

TEST_F(PathNamespaceTest, ImpliedFolders_KeepTheirNumbersWhenMoved) {
  for (const char* name : {"a/b/c", "a/b/d/e", "a/b0", "x/y/z"}) upload(name, "content");
  make_folder("", "made");
  upload("made/implied/f", "content");
  const auto ino = [&](const std::string& folder, const std::string& name) {
    return must(paths().lookup(folder, name)).ino;
  };
  const std::vector<uint64_t> before{ino("", "a"), ino("a", "b"), ino("a/b", "d"),
                                     ino("", "x"), ino("x", "y"), ino("made", "implied")};
  const timespec mtime = must(paths().lookup("a", "b")).attributes.mtime;
  must(paths().rename("", "a", "", "moved", RenameMode::kReplace));
  must(paths().rename("", "made", "x", "made", RenameMode::kReplace));
  must(paths().rename("", "x", "", "moved", RenameMode::kExchange));
  const std::vector<uint64_t> after{ino("", "x"),      ino("x", "b"),
                                    ino("x/b", "d"),   ino("", "moved"),
                                    ino("moved", "y"), ino("moved/made", "implied")};
  EXPECT_EQ(after, before);
  EXPECT_EQ(must(paths().lookup("x", "b")).attributes.mtime.tv_sec, mtime.tv_sec);
  remount();
  EXPECT_EQ(ino("x/b", "d"), before[2]);
  EXPECT_EQ(content_of("x/b/d", "e"), "content");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PathNamespaceTest, RenameLeavingWhiteout_IsOneChange) {
  make("", "file", "content");
  make_folder("", "folder");
  make("folder", "inner");
  must(paths().rename_leaving_whiteout("", "file", "", "moved", RenameMode::kReplace, {1, 2}));
  must(paths().rename_leaving_whiteout("", "folder", "", "away", RenameMode::kNoReplace, {1, 2}));
  EXPECT_EQ(code_of(paths().rename_leaving_whiteout("away", "inner", "", "moved",
                                                    RenameMode::kNoReplace, {1, 2})),
            kEntryExists);
  EXPECT_THAT(names(""), UnorderedElementsAre("file", "moved", "folder", "away"));
  EXPECT_THAT(names("away"), ElementsAre("inner"));
  for (const char* name : {"file", "folder"}) {
    const Attributes left = must(paths().lookup("", name)).attributes;
    EXPECT_EQ(left.mode, static_cast<uint32_t>(S_IFCHR)) << name;
    EXPECT_EQ(left.rdev, 0U);
    EXPECT_EQ(left.uid, 1U);
  }
  EXPECT_EQ(content_of("", "moved"), "content");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PathNamespaceTest, NamesThatAreNoUtf8_AreFilesAndFoldersAsOthers) {
  const std::string folder = make_folder("", "caf\xE9").path;
  EXPECT_EQ(folder, "%gridfs:bytes:caf%E9");
  const Node node = make(folder, "\xFF", "content");
  EXPECT_EQ(file(node.id).filename, "%gridfs:bytes:caf%E9/%gridfs:bytes:%FF");
  must(paths().rename("", "caf\xE9", "", "\xE9", RenameMode::kReplace));
  remount();
  EXPECT_THAT(names(""), ElementsAre("\xE9"));
  EXPECT_THAT(names(must(paths().lookup("", "\xE9")).path), ElementsAre("\xFF"));
  EXPECT_EQ(content_of("%gridfs:bytes:%E9", "\xFF"), "content");
  must(paths().unlink("%gridfs:bytes:%E9", "\xFF"));
  must(paths().rmdir("", "\xE9"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(PathNamespaceTest, UnusableFilesDocument_IsShownAndCannotBeOpened) {
  bson::Builder document;
  document.append("_id", 1).append("length", "x").append("filename", "bad");
  insert_file(std::move(document).finish());
  upload("good", "x");
  EXPECT_THAT(names(""), UnorderedElementsAre("bad", "good"));
  EXPECT_EQ(code_of(paths().open_file(bson::Value(1))), kInvalidFilesDocument);
  must(paths().unlink("", "bad"));
  EXPECT_THAT(names(""), ElementsAre("good"));
}

TEST_F(PathNamespaceTest, Listing_WhileTheFolderChanges_ShowsWhatStaysOnce) {
  std::set<std::string> staying;
  for (int i = 0; i < 700; ++i) {
    const std::string name = "s" + std::to_string(i);
    if (i % 3 == 0) {
      make_folder("", name);
    } else {
      upload(i % 3 == 1 ? name : name + "/below", "");
    }
    staying.insert(name);
  }
  for (int i = 0; i < 300; ++i) upload("t" + std::to_string(i), "");
  std::multiset<std::string> seen;
  const auto listing = must(paths().list(""));
  int removed = 0;
  while (const auto entry = must(listing->next())) {
    seen.insert(entry->name);
    if (removed < 300) {
      must(paths().unlink("", "t" + std::to_string(removed++)));
      make("", "a-new-" + std::to_string(removed));
    }
  }
  for (const std::string& name : staying) EXPECT_EQ(seen.count(name), 1U) << name;
}

TEST_F(PathNamespaceTest, Listing_Seeks) {
  for (int i = 0; i < 40; ++i) upload("f" + std::to_string(100 + i), "");
  make_folder("", "d");
  const auto listing = must(paths().list(""));
  std::vector<std::pair<std::string, uint64_t>> all;
  while (const auto entry = must(listing->next())) all.emplace_back(entry->name, entry->cookie);
  ASSERT_EQ(all.size(), 41U);
  for (size_t i = 0; i + 1 < all.size(); i += 5) {
    must(listing->seek(all[i].second));
    EXPECT_EQ(must(listing->next())->name, all[i + 1].first);
  }
  must(listing->seek(0));
  EXPECT_EQ(must(listing->next())->name, all[0].first);
  must(listing->seek(all.back().second));
  EXPECT_FALSE(must(listing->next()));
}

TEST_F(PathNamespaceTest, ReadOnly_ChangesNothing) {
  upload("a", "x");
  NamespaceOptions options;
  options.read_only = true;
  mount(options);
  EXPECT_EQ(content_of("", "a"), "x");
  EXPECT_EQ(code_of(paths().create_file("", "b", 0644, {})), ErrorCode::kStoreReadOnly);
  EXPECT_EQ(code_of(paths().unlink("", "a")), ErrorCode::kStoreReadOnly);
  EXPECT_EQ(code_of(paths().rename("", "a", "", "b", RenameMode::kReplace)),
            ErrorCode::kStoreReadOnly);
  EXPECT_EQ(code_of(paths().setattr_directory("", {})), ErrorCode::kStoreReadOnly);
}

}  // namespace
}  // namespace gridmount::gridfs
