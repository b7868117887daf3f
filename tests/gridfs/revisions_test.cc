// Goal: path_namespace.h's promises about revisions and earlier times hold.
// Method: a real store. The documents are read through another reader of the bucket.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <set>
#include <thread>

#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RevisionsTest : public BucketFixture {
 protected:
  RevisionsTest() { mount(2); }
  ~RevisionsTest() override {
    if (namespace_ == nullptr) return;
    EXPECT_TRUE(namespace_->close());
  }

  void mount(uint32_t revisions, std::optional<bson::Date> at = {}) {
    if (namespace_ != nullptr) must(namespace_->close());
    NamespaceOptions options;
    options.revisions = revisions;
    options.at = at;
    options.read_only = at.has_value();
    namespace_ = must(
        PathNamespace::open(store(), store().database("test"), bucket().options(), options, {}));
  }
  PathNamespace& paths() { return *namespace_; }

  Node find(const std::string& name) { return must(paths().lookup("", name)); }
  void make(const std::string& name, const std::string& content) {
    const Node node = must(paths().create_file("", name, 0640, {1, 2}));
    const auto file = must(paths().open_file(node.id));
    must(write(*file, 0, content));
    must(file->flush());
  }
  // Rewrites like open(2) with O_TRUNC.
  void rewrite(const std::string& name, const std::string& content) {
    bson::Value id = find(name).id;
    if (const auto next = must(paths().start_revision(id))) id = *next;
    const auto file = must(paths().open_file(id));
    must(file->truncate(0, TimeUpdate::kNow));
    must(write(*file, 0, content));
    must(file->flush());
  }
  void replace(const std::string& name, const std::string& content) {
    make("new", content);
    must(paths().rename("", "new", "", name, RenameMode::kReplace));
  }
  std::string content_of(const std::string& name) {
    return read_all(*must(paths().open_file(find(name).id)));
  }
  std::vector<std::string> contents(const std::string& name) {
    std::vector<std::string> all;
    for (const Node& node : revisions(name)) {
      all.push_back(read_all(*must(paths().open_file(node.id))));
    }
    return all;
  }
  // Returns all revisions. Each of them is also found by its number.
  std::vector<Node> revisions(const std::string& name) {
    std::vector<Node> all = must(paths().revisions("", name));
    for (size_t number = 0; number < all.size(); ++number) {
      const std::optional<Node> one = must(paths().revision("", name, number));
      EXPECT_TRUE(one && one->id == all[number].id) << name << " " << number;
    }
    EXPECT_FALSE(must(paths().revision("", name, all.size())));
    return all;
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    const auto listing = must(paths().list(""));
    while (const auto entry = must(listing->next())) all.push_back(entry->name);
    return all;
  }
  static bson::Date pause() {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    const bson::Date now = bson::Date::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    return now;
  }

 private:
  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(RevisionsTest, RewrittenFile_KeepsItsLastContents) {
  make("a", "one");
  const Attributes before = find("a").attributes;
  rewrite("a", "two");
  EXPECT_THAT(contents("a"), ElementsAre("one", "two"));
  EXPECT_EQ(find("a").attributes.mode, before.mode);
  EXPECT_EQ(find("a").attributes.uid, before.uid);
  rewrite("a", "three");
  rewrite("a", "four");
  EXPECT_THAT(contents("a"), ElementsAre("two", "three", "four"));
  EXPECT_EQ(content_of("a"), "four");
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(file(find("a").id).md5, md5_of("four"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(RevisionsTest, ReplacedFile_KeepsItsLastContents) {
  make("a", "one");
  replace("a", "two");
  replace("a", "three");
  replace("a", "four");
  EXPECT_THAT(contents("a"), ElementsAre("two", "three", "four"));
  EXPECT_EQ(content_of("a"), "four");
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(RevisionsTest, EqualDatesAndArrays_DoNotTakeThePresentContentAway) {
  // All these files have the same date. Files with a greater _id are inserted earlier, but come
  // later in the index.
  for (int i = 9; i >= 0; --i) {
    bson::Builder document;
    document.append("_id", i).append("length", 0).append("chunkSize", 10);
    document.append("uploadDate", "no date").append("filename", "moved");
    insert_file(std::move(document).finish());
    bson::Builder array;
    array.append("_id", 100 + i).append("length", 0).append("chunkSize", 10);
    array.append("uploadDate", bson::Date{i}).open_array("filename");
    array.push(bson::Value("a").view()).push(bson::Value("moved").view()).close();
    insert_file(std::move(array).finish());
  }
  EXPECT_EQ(find("moved").id, bson::Value(9));
  make("a", "one");
  replace("a", "two");
  rewrite("a", "three");
  EXPECT_THAT(contents("a"), ElementsAre("one", "two", "three")) << "arrays do not count";
  must(paths().rename("", "moved", "", "b", RenameMode::kReplace));
  make("moved", "");
  must(paths().rename("", "b", "", "moved", RenameMode::kReplace));
  EXPECT_EQ(find("moved").id, bson::Value(9)) << "the newest, which has come with the others";
  EXPECT_EQ(revisions("moved").back().id, bson::Value(9));
}

TEST_F(RevisionsTest, DatesOfAllTypes_AreCountedInTheirOrder) {
  // Several files have each date. Their _ids are not in the order of insertion.
  for (int i = 0; i < 40; ++i) {
    bson::Builder document;
    document.append("_id", i * 7 % 40).append("length", 0).append("chunkSize", 10);
    document.append("filename", "a");
    switch (i % 8) {
      case 0:
        document.append("uploadDate", bson::Date{5});
        break;
      case 1:
        document.append("uploadDate", bson::Date{i});
        break;
      case 2:
        document.append("uploadDate", bson::ValueView(bson::Type::kNull, nullptr, 0));
        break;
      case 3:
        document.append("uploadDate", i);
        break;
      case 4:
        document.append("uploadDate", "text");
        break;
      case 5:
        document.open_document("uploadDate").append("$gt", 1).close();
        break;
      default:
        break;  // none
    }
    insert_file(std::move(document).finish());
  }
  EXPECT_EQ(revisions("a").size(), 40U);
  mount(0, bson::Date{20});
  EXPECT_EQ(revisions("a").size(), 8U);
  mount(0);
  // The revisions of an additional name are the linked file and the files whose filename it is.
  must(paths().mkdir("", "d", 0755, {}));
  EXPECT_EQ(code_of(paths().revision("", "d", 0)), kIsADirectory);
  EXPECT_EQ(code_of(paths().revision("", "none", 0)), kNoSuchEntry);
  must(paths().link(find("a").id, "", "b"));
  EXPECT_EQ(revisions("b").size(), 1U);
  bson::Builder same;
  same.append("_id", 100).append("length", 0).append("chunkSize", 10);
  same.append("uploadDate", bson::Date{3}).append("filename", "b");
  insert_file(std::move(same).finish());
  EXPECT_EQ(revisions("b").size(), 2U);
  bson::Builder array;
  array.append("_id", 101).append("length", 0).append("chunkSize", 10).append("filename", "a");
  array.open_array("uploadDate").push(bson::Value(1).view()).push(bson::Value(2).view()).close();
  insert_file(std::move(array).finish());
  EXPECT_EQ(revisions("a").size(), 41U);
}

TEST_F(RevisionsTest, ReplacingFileThatIsOlder_IsTheNewest) {
  make("new", "made first");
  pause();
  make("a", "made later");
  must(paths().rename("", "new", "", "a", RenameMode::kReplace));
  EXPECT_EQ(content_of("a"), "made first");
  EXPECT_THAT(contents("a"), ElementsAre("made later", "made first"));
}

TEST_F(RevisionsTest, FileThatIsOpenWhenReplaced_DoesNotComeBack) {
  make("a", "one");
  const Node old = find("a");
  const auto open = must(paths().open_file(old.id));
  must(write(*open, 3, " more"));
  replace("a", "two");
  for (int i = 0; i < 20; ++i) {
    must(write(*open, 0, "ONE"));
    must(open->flush());
  }
  EXPECT_EQ(content_of("a"), "two");
  EXPECT_THAT(contents("a"), ElementsAre("ONE more", "two"));
  // Emptying the file makes no revision either.
  EXPECT_FALSE(must(paths().start_revision(old.id)));
  EXPECT_EQ(content_of("a"), "two");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(RevisionsTest, EarlierRevisionThatIsOpenedLater_DoesNotComeBack) {
  make("a", "one");
  const bson::Value old = find("a").id;
  pause();
  replace("a", "two");
  pause();
  // Uses a handle on the node, which open(2) can get in the middle of the rename.
  for (int i = 0; i < 5; ++i) {
    const auto open = must(paths().open_file(old));
    must(write(*open, 0, "ONE"));
    must(open->flush());
    pause();
  }
  EXPECT_EQ(content_of("a"), "two");
  EXPECT_THAT(contents("a"), ElementsAre("ONE", "two"));
}

TEST_F(RevisionsTest, ReplacedByAFurtherNameOfAFile_DoesNotComeBack) {
  make("a", "one");
  const bson::Value old = find("a").id;
  make("x", "two");
  must(paths().link(find("x").id, "", "y"));
  must(paths().rename("", "y", "", "a", RenameMode::kReplace));
  pause();
  const auto open = must(paths().open_file(old));
  must(write(*open, 0, "ONE"));
  must(open->flush());
  EXPECT_EQ(content_of("a"), "two");
  EXPECT_EQ(content_of("x"), "two");
}

TEST_F(RevisionsTest, RevisionWithAnotherName_StaysForIt) {
  mount(1);
  make("x", "linked");
  must(paths().link(find("x").id, "", "y"));
  for (int i = 0; i < 3; ++i) {
    pause();
    upload("x", "by a driver " + std::to_string(i));
    rewrite("x", "by the mount " + std::to_string(i));
  }
  EXPECT_EQ(content_of("y"), "linked");
  EXPECT_EQ(content_of("x"), "by the mount 2");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(RevisionsTest, DateThatSortsBehindAllDates_IsReplacedAsWithoutRevisions) {
  for (const bool emptied : {true, false}) {
    const bson::Value id = upload("a", "by a driver");
    {
      const auto transaction = must(store().begin());
      bson::Builder filter;
      filter.append("_id", id);
      bson::Builder update;
      update.open_document("$set").append("uploadDate", bson::Timestamp{1, 1}).close();
      must(bucket().files().update(*transaction, std::move(filter).finish(),
                                   std::move(update).finish()));
      must(transaction->commit());
    }
    if (emptied) {
      rewrite("a", "new");
    } else {
      replace("a", "new");
    }
    EXPECT_EQ(content_of("a"), "new");
    EXPECT_THAT(contents("a"), ElementsAre("new"));
    must(paths().unlink("", "a"));
  }
}

TEST_F(RevisionsTest, EmptyContents_AreNotKept) {
  make("a", "");
  EXPECT_FALSE(must(paths().start_revision(find("a").id)));
  rewrite("a", "one");
  rewrite("a", "");
  replace("a", "two");
  EXPECT_THAT(contents("a"), ElementsAre("one", "two"));
}

TEST_F(RevisionsTest, WithoutRevisions_NothingIsKept) {
  mount(0);
  make("a", "one");
  rewrite("a", "two");
  replace("a", "three");
  EXPECT_THAT(contents("a"), ElementsAre("three"));
}

TEST_F(RevisionsTest, LinkedFile_IsRewrittenUnderAllItsNames) {
  make("a", "one");
  must(paths().link(find("a").id, "", "b"));
  rewrite("b", "two");
  EXPECT_EQ(content_of("a"), "two");
  EXPECT_EQ(content_of("b"), "two");
  EXPECT_EQ(find("a").attributes.nlink, 2U);
  EXPECT_THAT(contents("a"), ElementsAre("one", "two"));
  EXPECT_THAT(contents("b"), ElementsAre("two"));
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(RevisionsTest, RenamingAndRemoving_ConcernAll) {
  make("a", "one");
  rewrite("a", "two");
  must(paths().rename("", "a", "", "b", RenameMode::kReplace));
  EXPECT_THAT(contents("b"), ElementsAre("one", "two"));
  must(paths().unlink("", "b"));
  EXPECT_THAT(names(), IsEmpty());
  const auto ids = must(paths().list_ids());
  EXPECT_FALSE(must(ids->next()));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(RevisionsTest, Symlinks_AreReplacedWithoutATrace) {
  must(paths().symlink("", "a", "target", {}));
  replace("a", "one");
  EXPECT_THAT(contents("a"), ElementsAre("one"));
}

TEST_F(RevisionsTest, EarlierTime_ShowsWhatWasTheFileThen) {
  const bson::Date nothing = pause();
  make("a", "one");
  const bson::Date first = pause();
  replace("a", "two");
  make("b", "other");
  upload("in/folder", "below");
  const bson::Date second = pause();
  rewrite("a", "three");
  must(paths().unlink("", "b"));

  mount(0, second);
  EXPECT_EQ(content_of("a"), "two");
  EXPECT_THAT(contents("a"), ElementsAre("one", "two"));
  EXPECT_THAT(names(), ElementsAre("a", "in"));
  EXPECT_EQ(code_of(paths().create_file("", "c", 0644, {})), ErrorCode::kStoreReadOnly);
  mount(0, first);
  EXPECT_EQ(content_of("a"), "one");
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(code_of(paths().lookup("", "in")), kNoSuchEntry);
  mount(0, nothing);
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(code_of(paths().lookup("", "a")), kNoSuchEntry);
}

TEST_F(RevisionsTest, EarlierTime_OfLinks) {
  make("a", "one");
  must(paths().link(find("a").id, "", "z"));
  const bson::Date first = pause();
  make("c", "later");
  must(paths().link(find("c").id, "", "b"));
  must(paths().link(find("c").id, "", "folder.x"));
  mount(0, first);
  EXPECT_THAT(names(), ElementsAre("a", "z"));
  EXPECT_EQ(content_of("z"), "one");
  EXPECT_EQ(code_of(paths().lookup("", "b")), kNoSuchEntry);
}

TEST_F(RevisionsTest, EarlierTime_WithoutFoldersMadeLater) {
  make("a", "one");
  // The _id of a directory contains the second in which it was made.
  const bson::Date first = pause();
  std::this_thread::sleep_for(std::chrono::milliseconds(1010 - first.milliseconds % 1000));
  must(paths().mkdir("", "later", 0755, {}));
  must(paths().mkdir("later", "below", 0755, {}));
  mount(0, first);
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(code_of(paths().get_directory("later")), kNoSuchEntry);
  EXPECT_EQ(code_of(paths().lookup("later", "below")), kNoSuchEntry);
}

TEST_F(RevisionsTest, AllFiles_AreListedByTheirIds) {
  std::set<std::string> made;
  for (int i = 0; i < 300; ++i) {
    const bson::Value id = upload("f" + std::to_string(i % 7), "x");
    made.insert(*id_name(id.view()));
  }
  std::set<std::string> listed;
  const auto ids = must(paths().list_ids());
  uint64_t middle = 0;
  while (const auto entry = must(ids->next())) {
    EXPECT_TRUE(listed.insert(entry->name).second);
    EXPECT_EQ(must(parse_id_name(entry->name)), entry->node.id);
    if (listed.size() == 150) middle = entry->cookie;
  }
  EXPECT_EQ(listed, made);
  const auto again = must(paths().list_ids());
  must(again->seek(middle));
  int behind = 0;
  while (must(again->next())) ++behind;
  EXPECT_EQ(behind, 150);
}

}  // namespace
}  // namespace gridmount::gridfs
