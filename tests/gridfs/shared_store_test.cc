// Goal: two processes that share a store, as mounts of a deployment do, see each other's changes,
// never mix two contents of a file, and do not remove each other's orphans.
// Method: two namespaces on one local store, each behind a store that says that it is shared. The
// begin() of such a store fails as often as a test wants.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <map>
#include <memory>
#include <thread>

#include "engine/transient_error.h"
#include "gridfs/bucket/retry.h"
#include "gridfs/namespace/directory_turns.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/forwarding_store.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/gridfs/namespace_counting_store.h"
#include "tests/sanitized.h"

namespace gridmount::gridfs {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr Creator kCreator{1, 2, 0};
constexpr ErrorCode kWriteConflict{112};

class SharedStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<std::unique_ptr<engine::Transaction>> begin(engine::TransactionKind kind) override {
    if (failures_ > 0) {
      --failures_;
      return fail(code_, "somebody else was faster");
    }
    ++begun_;
    return inner().begin(kind);
  }
  engine::Capabilities capabilities() const override {
    return {.exclusive = false,
            .continues_after_failed_writes = false,
            .retry_for = std::chrono::milliseconds(500)};
  }

  // The next `count` transactions fail.
  void fail_next(int count, ErrorCode code) {
    code_ = code;
    failures_ = count;
  }
  int begun() const { return begun_; }

 private:
  std::atomic<int> failures_ = 0;
  std::atomic<int> begun_ = 0;
  ErrorCode code_ = kWriteConflict;
};

class SharedStoreTest : public BucketFixture {
 protected:
  SharedStoreTest() : one_store_(store()), other_store_(store()) {
    one_ = open(one_store_);
    other_ = open(other_store_);
  }
  ~SharedStoreTest() override {
    EXPECT_TRUE(one_->close());
    EXPECT_TRUE(other_->close());
  }

  std::unique_ptr<PathNamespace> open(SharedStore& shared) {
    return must(PathNamespace::open(shared, shared.database("test"), bucket().options(), {}, {}));
  }
  // Opens a namespace that keeps its knowledge of directories.
  std::unique_ptr<PathNamespace> open_keeping(std::shared_ptr<engine::Database> database) {
    NamespaceOptions options;
    options.directory_age_max = std::chrono::hours(1);
    return must(
        PathNamespace::open(one_store_, std::move(database), bucket().options(), options, {}));
  }
  static bson::Value create(PathNamespace& paths, const std::string& name) {
    return must(paths.create_file("", name, 0644, kCreator)).id;
  }
  static void write_all(PathNamespace& paths, const bson::Value& id, const std::string& bytes) {
    const auto file = must(paths.open_file(id));
    must(BucketFixture::write(*file, 0, bytes));
    must(file->flush());
  }
  static std::string read(PathNamespace& paths, const bson::Value& id) {
    return read_all(*must(paths.open_file(id)));
  }
  static std::vector<std::string> names(PathNamespace& paths, const std::string& directory = "") {
    std::vector<std::string> found;
    const auto listing = must(paths.list(directory));
    while (const auto entry = must(listing->next())) found.push_back(entry->name);
    return found;
  }
  bson::Document update(const std::string& field, bson::Date date) {
    bson::Builder set;
    set.open_document("$set").append(field, date).close();
    return std::move(set).finish();
  }
  // Sets the lease of all orphans.
  void lease(bson::Date date) {
    engine::UpdateOptions all;
    all.multi = true;
    change([&](engine::Transaction& transaction) {
      must(bucket().detached().update(transaction, bson::View(), update("leased", date), all));
    });
  }

  SharedStore one_store_;
  SharedStore other_store_;
  std::unique_ptr<PathNamespace> one_;
  std::unique_ptr<PathNamespace> other_;
};

TEST_F(SharedStoreTest, Opening_WritesNothingBeforeTheFirstChange) {
  upload("made/by/driver", "content");
  EXPECT_EQ(one_store_.begun(), 0);
  EXPECT_THAT(names(*one_), UnorderedElementsAre("made"));
  EXPECT_EQ(count(bucket().directories()), 0);
  must(one_->mkdir("", "mine", 0755, kCreator));
  EXPECT_GT(count(bucket().directories()), 1);
}

TEST_F(SharedStoreTest, ContentOfTheOther_IsSeenByWhoOpensAfterItsClose) {
  const bson::Value id = create(*one_, "a");
  write_all(*one_, id, "first");
  EXPECT_EQ(read(*other_, id), "first");
  write_all(*other_, id, "second, longer");
  EXPECT_EQ(read(*one_, id), "second, longer");
}

TEST_F(SharedStoreTest, OpenFile_FollowsTheOther) {
  const bson::Value id = create(*one_, "a");
  write_all(*one_, id, "before");
  const auto file = must(other_->open_file(id));
  EXPECT_EQ(read_all(*file), "before");
  write_all(*one_, id, std::string(400'000, 'x'));
  EXPECT_EQ(must(other_->lookup("", "a")).attributes.size, 400'000);
  EXPECT_EQ(read_all(*file), std::string(400'000, 'x'));
}

TEST_F(SharedStoreTest, TwoWriters_TheSecondLearnsThatItIsTooLate) {
  const bson::Value id = create(*one_, "a");
  write_all(*one_, id, std::string(600'000, 'a'));
  const auto mine = must(one_->open_file(id));
  const auto theirs = must(other_->open_file(id));
  must(write(*mine, 0, "mine"));
  must(theirs->truncate(10, TimeUpdate::kNow));
  must(theirs->flush());
  EXPECT_EQ(code_of(mine->flush()), kFileChanged);
  EXPECT_EQ(content(*must(store().snapshot()), id.view()), std::string(10, 'a'));
  EXPECT_THAT(problems(), IsEmpty());
  // The next change builds on the content that the other process has written.
  must(one_->lookup("", "a"));
  must(write(*mine, 0, "late"));
  must(mine->flush());
  EXPECT_EQ(content(*must(store().snapshot()), id.view()), "lateaaaaaa");
}

TEST_F(SharedStoreTest, WriterBetweenTwoLooksAtTheFile_DoesNotMixContents) {
  const bson::Value id = create(*other_, "a");
  write_all(*other_, id, std::string(1000, 'a'));
  const auto counted = std::make_shared<CountingDatabase>(one_store_.database("test"));
  const auto paths = must(PathNamespace::open(one_store_, counted, bucket().options(), {}, {}));
  {
    const auto mine = must(paths->open_file(id));
    counted->before_next_search([&] {
      const auto theirs = must(other_->open_file(id));
      must(theirs->truncate(10, TimeUpdate::kNow));
      must(theirs->flush());
      must(paths->open_file(id));  // looks at the document
    });
    must(write(*mine, 500, "mine"));
    EXPECT_EQ(code_of(mine->flush()), kFileChanged);
    EXPECT_EQ(content(*must(store().snapshot()), id.view()), std::string(10, 'a'));
  }
  EXPECT_TRUE(paths->close());
}

TEST_F(SharedStoreTest, TimesAlone_DoNotOverwriteTheLengthOfTheOther) {
  const bson::Value id = create(*one_, "a");
  write_all(*one_, id, "short");
  const auto mine = must(one_->open_file(id));
  write_all(*other_, id, std::string(600'000, 'x'));
  mine->set_times({1, 0}, {1, 0});
  EXPECT_EQ(code_of(mine->flush()), kFileChanged);
  EXPECT_EQ(content(*must(store().snapshot()), id.view()), std::string(600'000, 'x'));
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SharedStoreTest, FileThatWasOnlyRead_ClosesWithoutAnError) {
  const bson::Value id = upload("a", "made by a driver", {});
  const auto mine = must(one_->open_file(id));
  EXPECT_EQ(read_all(*mine), "made by a driver");
  write_all(*other_, id, "changed by the other");
  must(mine->flush());
  EXPECT_EQ(read(*one_, id), "changed by the other");
}

TEST_F(SharedStoreTest, RootMadeAnewByTheOther_IsTheRoot) {
  must(one_->mkdir("", "d", 0755, kCreator));
  change([&](engine::Transaction& transaction) {
    must(bucket().directories().remove(transaction, bson::View(), true));
  });
  must(other_->mkdir("", "e", 0755, kCreator));
  AttributeChanges changes;
  changes.permissions = 0711;
  must(other_->setattr_directory("", changes));
  EXPECT_EQ(must(one_->root()).attributes.mode & 07777, 0711U);
  must(one_->mkdir("", "f", 0755, kCreator));
  EXPECT_THAT(names(*one_), UnorderedElementsAre("e", "f"));
}

TEST_F(SharedStoreTest, Attributes_OfAnOpenFile_FollowTheOther) {
  const bson::Value id = create(*one_, "a");
  const auto file = must(one_->open_file(id));
  AttributeChanges changes;
  changes.permissions = 0600;
  must(other_->setattr_file(id, changes));
  EXPECT_EQ(must(one_->lookup("", "a")).attributes.mode & 07777, 0600U);
}

TEST_F(SharedStoreTest, FirstLinkOfTheOther_IsSeen) {
  const bson::Value id = create(*one_, "a");
  EXPECT_THAT(names(*other_), UnorderedElementsAre("a"));
  must(one_->link(id, "", "b"));
  // The other looks for the collection once a second.
  for (int i = 0; i < 100 && names(*other_).size() < 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_THAT(names(*other_), UnorderedElementsAre("a", "b"));
}

TEST_F(SharedStoreTest, LinkCountsOfDirectories_AreNotGuessed) {
  must(one_->mkdir("", "d", 0755, kCreator));
  must(other_->mkdir("d", "sub", 0755, kCreator));
  EXPECT_EQ(must(one_->get_directory("d")).attributes.nlink, 1U);
}

TEST_F(SharedStoreTest, TransientErrors_AreMetAgain) {
  const bson::Value id = create(*one_, "a");
  one_store_.fail_next(3, kWriteConflict);
  must(one_->mkdir("", "d", 0755, kCreator));
  one_store_.fail_next(3, ErrorCode::kHostUnreachable);
  write_all(*one_, id, "content");
  EXPECT_EQ(read(*other_, id), "content");
  one_store_.fail_next(2, kWriteConflict);
  must(one_->unlink("", "a"));
  EXPECT_THAT(names(*other_), UnorderedElementsAre("d"));
}

TEST_F(SharedStoreTest, TransientErrorsWithoutEnd_AreReportedInTime) {
  create(*one_, "a");
  one_store_.fail_next(1'000'000, kWriteConflict);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(one_->mkdir("", "d", 0755, kCreator)), kWriteConflict);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(500));
  one_store_.fail_next(0, kWriteConflict);
}

TEST_F(SharedStoreTest, OtherErrors_AreNotMetAgain) {
  create(*one_, "a");
  one_store_.fail_next(1, ErrorCode::kUnauthorized);
  EXPECT_EQ(code_of(one_->mkdir("", "d", 0755, kCreator)), ErrorCode::kUnauthorized);
}

TEST_F(SharedStoreTest, OrphanOfTheOther_StaysWhileItsLeaseLasts) {
  const bson::Value id = create(*one_, "a");
  write_all(*one_, id, "content");
  const auto open_file = must(one_->open_file(id));
  must(one_->unlink("", "a"));
  EXPECT_EQ(count(bucket().detached()), 1);

  SharedStore third_store(store());
  const auto third = open(third_store);
  must(third->mkdir("", "d", 0755, kCreator));  // sweeps
  must(Bucket(third_store, third_store.database("test"), bucket().options()).reclaim_expired());
  EXPECT_EQ(read_all(*open_file), "content");
  EXPECT_EQ(count(bucket().detached()), 1);

  lease(bson::Date{bson::Date::now().milliseconds - 25LL * 3600 * 1000});
  must(Bucket(third_store, third_store.database("test"), bucket().options()).reclaim_expired());
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_EQ(count(bucket().chunks()), 0);
  must(third->close());
}

TEST_F(SharedStoreTest, OrphanWithoutALease_GetsOne) {
  bson::Builder orphan;
  orphan.append("_id", "old").append("length", int64_t{0}).append("chunkSize", int32_t{100});
  orphan.append("uploadDate", bson::Date{0});
  const bson::Document document = std::move(orphan).finish();
  change([&](engine::Transaction& transaction) {
    must(bucket().detached().insert(transaction, document));
  });
  const Bucket shared(one_store_, one_store_.database("test"), bucket().options());
  must(shared.reclaim_expired());
  EXPECT_EQ(count(bucket().detached()), 1);
  lease(bson::Date{0});
  must(shared.reclaim_expired());
  EXPECT_EQ(count(bucket().detached()), 0);
}

TEST_F(SharedStoreTest, ManyOrphansWithoutALease_GetOneInSeveralTransactions) {
  if (kThreadSanitized) GTEST_SKIP() << "makes one call after another";
  constexpr int kOrphans = 18;
  for (int i = 0; i < kOrphans; ++i) {
    bson::Builder orphan;
    orphan.append("_id", std::to_string(i) + std::string(1'000'000, 'x'));
    orphan.append("length", int64_t{0}).append("chunkSize", int32_t{100});
    orphan.append("uploadDate", bson::Date{0});
    const bson::Document document = std::move(orphan).finish();
    change([&](engine::Transaction& transaction) {
      must(bucket().detached().insert(transaction, document));
    });
  }
  const int before = one_store_.begun();
  const Bucket shared(one_store_, one_store_.database("test"), bucket().options());
  must(shared.reclaim_expired());
  EXPECT_EQ(one_store_.begun() - before, kOrphans) << "the ids of two do not fit in one filter";
  lease(bson::Date{0});
  must(shared.reclaim_expired());
  EXPECT_EQ(count(bucket().detached()), 0);
}

TEST_F(SharedStoreTest, Md5_AfterAWriteConflict_IsSetLater) {
  const bson::Value id = create(*one_, "a");
  std::string bytes(300'000, 'a');
  write_all(*one_, id, bytes);
  {
    // A large file that is not written in order gets its md5 later.
    const auto file = must(one_->open_file(id));
    must(BucketFixture::write(*file, 5, "changed"));
    must(file->flush());
  }
  ASSERT_FALSE(file(id).md5);
  one_store_.fail_next(1, kWriteConflict);
  bytes.replace(5, 7, "changed");
  EXPECT_EQ(await_md5(id), md5_of(bytes));
}

TEST_F(SharedStoreTest, TmpfileThatGetsAName_HasNoLeaseInItsDocument) {
  const auto tmpfile = must(one_->create_tmpfile("", 0600, kCreator));
  must(one_->link(tmpfile.node.id, "", "named"));
  EXPECT_FALSE(files_document(tmpfile.node.id)->find("leased"));
}

TEST_F(SharedStoreTest, ChunksThatADriverLeftAfterTheEnd_AreReplaced) {
  const bson::Value id = create(*one_, "a");
  insert_chunk(id.view(), 0, "left");
  write_all(*one_, id, "content");
  EXPECT_EQ(read(*other_, id), "content");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(SharedStoreTest, GarbageOfTheOthersTruncation_IsRemovedBeforeTheFileGrowsIntoIt) {
  const bson::Value id = create(*one_, "a");
  write_all(*one_, id, "content");
  // The other process has begun a truncation: the file was long, and its chunks from 1 on are
  // garbage. The test inserts the chunk before the record of the truncation, because a sweep
  // removes a record whose garbage is gone.
  insert_chunk(id.view(), 2, std::string(kDefaultChunkBytes, 'g'));
  change([&](engine::Transaction& transaction) {
    must(bucket().record_truncated(transaction, id, 1, 4));
  });
  const auto file = must(one_->open_file(id));
  must(write(*file, 3LL * kDefaultChunkBytes, "tail"));
  must(file->flush());
  EXPECT_EQ(count(bucket().detached()), 0);
  EXPECT_EQ(content(*must(store().snapshot()), id.view()),
            "content" + std::string(3LL * kDefaultChunkBytes - 7, '\0') + "tail");
  EXPECT_THAT(problems(), IsEmpty());
}

// Each command is a round trip. Now and then the namespace also sends some for itself: for links,
// and for orphans. So each operation is done three times, and the least counts.
TEST_F(SharedStoreTest, CommandsOfSmallFiles_AreFew) {
  const auto counted = std::make_shared<CountingDatabase>(one_store_.database("test"));
  const auto paths = must(PathNamespace::open(one_store_, counted, bucket().options(), {}, {}));
  must(paths->mkdir("", "d", 0755, kCreator));
  const auto commands_of = [&](const auto& operation) {
    int least = INT_MAX;
    for (const char* name : {"a", "b", "c"}) {
      counted->take();
      operation(std::string(name));
      const EngineCounts counts = counted->take();
      least = std::min(least, counts.searches + counts.changes + counts.other);
    }
    return least;
  };
  std::map<std::string, std::shared_ptr<File>> files;
  const auto create = [&](const std::string& name) {
    files[name] = must(paths->create_open_file("d", name, 0644, kCreator)).file;
  };
  EXPECT_EQ(commands_of(create), 3) << "the directory's times, what has the name, the document";
  const auto look_up_and_create = [&](const std::string& name) {
    EXPECT_EQ(code_of(paths->lookup("d", name + "2")), kNoSuchEntry);
    must(paths->create_file("d", name + "2", 0644, kCreator));
  };
  EXPECT_EQ(commands_of(look_up_and_create), 1 + 2) << "the directory's times, the document";
  for (const auto& [name, file] : files) must(write(*file, 0, std::string(600'000, 'x')));
  const auto flush = [&](const std::string& name) { must(files[name]->flush()); };
  EXPECT_EQ(commands_of(flush), 3 + 1) << "the chunks, which a server takes at once, the document";
  for (const auto& [name, file] : files) must(write(*file, 0, "y"));
  EXPECT_EQ(commands_of(flush), 2) << "the chunk, the document";
  files.clear();
  EXPECT_EQ(commands_of([&](const std::string& name) { must(paths->lookup("d", name)); }), 1);
  const auto rename = [&](const std::string& name) {
    must(paths->rename("d", name, "d", name + "1", RenameMode::kReplace));
  };
  EXPECT_EQ(commands_of(rename), 4) << "each name, the document, the directory's times";
  const auto unlink = [&](const std::string& name) { must(paths->unlink("d", name + "1")); };
  EXPECT_EQ(commands_of(unlink), 5) << "the name, garbage, the document, chunks, the directory";
  const auto mkdir = [&](const std::string& name) {
    must(paths->mkdir("d", name, 0755, kCreator));
  };
  EXPECT_EQ(commands_of(mkdir), 3) << "the directory's times, what has the name, the document";
  EXPECT_TRUE(paths->close());
}

TEST_F(SharedStoreTest, DirectoryAfterAnOwnChange_IsKnownUntilSomethingChangesIt) {
  const auto mine = open_keeping(one_store_.database("test"));
  const auto mode = [&] { return must(mine->get_directory("d")).attributes.mode & 07777; };
  const auto set_mode = [](PathNamespace& paths, uint32_t permissions) {
    AttributeChanges changes;
    changes.permissions = permissions;
    must(paths.setattr_directory("d", changes));
  };
  must(mine->mkdir("", "d", 0755, kCreator));
  AttributeChanges old;
  old.mtime = timespec{1, 0};
  must(mine->setattr_directory("d", old));
  EXPECT_EQ(must(mine->get_directory("d")).attributes.mtime.tv_sec, 1);
  must(mine->create_file("d", "a", 0644, kCreator));
  EXPECT_GT(must(mine->get_directory("d")).attributes.mtime.tv_sec, 1);
  set_mode(*other_, 0711);
  EXPECT_EQ(mode(), 0755U);
  mine->directories_changed_externally();
  EXPECT_EQ(mode(), 0711U);
  must(mine->create_file("d", "b", 0644, kCreator));
  set_mode(*mine, 0700);
  EXPECT_EQ(mode(), 0700U);
  must(mine->create_file("d", "c", 0644, kCreator));
  must(mine->rename("", "d", "", "e", RenameMode::kReplace));
  EXPECT_EQ(code_of(mine->get_directory("d")), kNoSuchEntry);
  EXPECT_TRUE(mine->close());
}

TEST_F(SharedStoreTest, CommandsOfNewFilesInASmallFolder_AreFewer) {
  const auto counted = std::make_shared<CountingDatabase>(one_store_.database("test"));
  const auto paths = open_keeping(counted);
  must(paths->mkdir("", "d", 0755, kCreator));
  must(paths->create_file("d", "first", 0644, kCreator));
  int least = INT_MAX;
  for (const char* name : {"a", "b", "c", "d"}) {
    counted->take();
    EXPECT_EQ(code_of(paths->lookup("d", name)), kNoSuchEntry);
    must(paths->create_file("d", name, 0644, kCreator));
    const EngineCounts counts = counted->take();
    least = std::min(least, counts.searches + counts.changes + counts.other);
  }
  EXPECT_EQ(least, 2) << "the directory's times, the document";
  EXPECT_TRUE(paths->close());
}

// If a look-up has not found a name, the process does not search again when it makes the name,
// unless the other process has changed the directory since. Each change here follows within one
// tick of the clock for files.
class AbsentNameTest : public SharedStoreTest, public testing::WithParamInterface<bool> {
 protected:
  // The parameter is true if the namespace knows all names of a directory.
  AbsentNameTest() {
    mine_ = GetParam() ? open_keeping(one_store_.database("test")) : open(one_store_);
    must(mine_->mkdir("", "d", 0755, kCreator));
    must(mine_->mkdir("", "e", 0755, kCreator));
    must(mine_->create_file("e", "file", 0644, kCreator));
    must(mine_->create_file("d", "first", 0644, kCreator));
    expect_absent("any");
  }
  ~AbsentNameTest() override { EXPECT_TRUE(mine_->close()); }

  void expect_absent(const std::string& name) {
    EXPECT_EQ(code_of(mine_->lookup("d", name)), kNoSuchEntry) << name;
  }
  std::optional<ErrorCode> make(const std::string& name) {
    return code_of(mine_->create_file("d", name, 0644, kCreator));
  }
  // Each makes a name in the folder `d`.
  using Way = std::function<void(PathNamespace& paths, const std::string& name)>;
  static std::map<std::string, Way> ways() {
    return {
        {"create",
         [](auto& paths, auto& name) { must(paths.create_file("d", name, 0, kCreator)); }},
        {"mkdir", [](auto& paths, auto& name) { must(paths.mkdir("d", name, 0755, kCreator)); }},
        {"symlink",
         [](auto& paths, auto& name) { must(paths.symlink("d", name, "target", kCreator)); }},
        {"rename",
         [](auto& paths, auto& name) {
           must(paths.rename("e", "file", "d", name, RenameMode::kReplace));
         }},
        {"rename of a directory",
         [](auto& paths, auto& name) {
           must(paths.rename("", "e", "d", name, RenameMode::kReplace));
         }},
        {"whiteout",
         [](auto& paths, auto& name) {
           must(paths.create_file("d", name, 0, kCreator));
           must(paths.rename_leaving_whiteout("d", name, "", "away", RenameMode::kReplace,
                                              kCreator));
         }},
        // The map sorts this way last, because a bucket with links is searched differently.
        {"z-link",
         [](auto& paths, auto& name) {
           must(paths.link(must(paths.lookup("d", "first")).id, "d", name));
         }},
    };
  }

  std::unique_ptr<PathNamespace> mine_;
};
INSTANTIATE_TEST_SUITE_P(Known, AbsentNameTest, testing::Bool(), [](const auto& test) {
  return test.param ? std::string("AllNames") : std::string("OneName");
});

TEST_P(AbsentNameTest, MadeByTheOther_IsNotMadeAgain) {
  for (const auto& [name, make_name] : ways()) {
    // A namespace that has found no links looks for them once a second.
    if (name == "z-link") mine_->links_changed_externally();
    expect_absent(name);
    make_name(*other_, name);
    EXPECT_EQ(make(name), kEntryExists) << name;
    must(mine_->create_file("d", name + " and another", 0644, kCreator));
  }
}

TEST_P(AbsentNameTest, MadeByItself_IsFound) {
  for (const auto& [name, make_name] : ways()) {
    expect_absent(name);
    make_name(*mine_, name);
    EXPECT_EQ(code_of(mine_->lookup("d", name)), std::nullopt) << name;
    EXPECT_EQ(make(name), kEntryExists) << name;
    must(mine_->create_file("d", name + " and another", 0644, kCreator));
  }
}

TEST_P(AbsentNameTest, MadeByADriver_IsFoundIfTheMountIsTold) {
  upload("d/a", "content");
  mine_->name_changed_externally("d/a");
  EXPECT_EQ(code_of(mine_->lookup("d", "a")), std::nullopt);
  EXPECT_EQ(make("a"), kEntryExists);
  must(mine_->create_file("d", "second", 0644, kCreator));
  expect_absent("b");
  upload("d/b/c", "content");
  mine_->name_changed_externally("d/b/c");
  EXPECT_EQ(code_of(mine_->lookup("d", "b")), std::nullopt);
  EXPECT_EQ(make("b"), kEntryExists);
}

TEST_P(AbsentNameTest, NamesOfAllKinds_AreNotAbsent) {
  upload("d/implied/file", "content");
  must(other_->mkdir("d", "folder", 0755, kCreator));
  must(other_->create_file("d", "file", 0644, kCreator));
  mine_->directories_changed_externally();
  must(mine_->create_file("d", "second", 0644, kCreator));
  expect_absent("any other");
  for (const char* name : {"implied", "folder", "file", "first", "second"}) {
    EXPECT_EQ(code_of(mine_->lookup("d", name)), std::nullopt) << name;
    EXPECT_EQ(make(name), kEntryExists) << name;
  }
}

TEST_P(AbsentNameTest, DirectoryThatTheOtherReplaces_IsLookedAtAgain) {
  expect_absent("a");
  must(other_->rename("", "d", "", "before", RenameMode::kReplace));
  EXPECT_EQ(make("a"), kNoSuchEntry);
  expect_absent("a");
  must(other_->mkdir("", "d", 0755, kCreator));
  must(other_->create_file("d", "a", 0644, kCreator));
  EXPECT_EQ(make("a"), kEntryExists);
}

TEST_P(AbsentNameTest, NamesThatAreTooLongForOneReply_DoNotMatter) {
  for (const char letter : std::string("abcdefghijkl")) {
    upload("d/" + std::string(2'000'000, letter), "");
  }
  mine_->directories_changed_externally();
  must(mine_->create_file("d", "second", 0644, kCreator));
  expect_absent("any other");
  EXPECT_EQ(make("any other"), std::nullopt);
  EXPECT_EQ(make("any other"), kEntryExists);
}

TEST_P(AbsentNameTest, FolderOfMoreNamesThanAreKept_IsSearched) {
  for (int i = 0; i < 500; ++i) upload("d/" + std::to_string(i), "");
  mine_->directories_changed_externally();
  must(mine_->create_file("d", "second", 0644, kCreator));
  expect_absent("any other");
  EXPECT_EQ(code_of(mine_->lookup("d", "499")), std::nullopt);
  EXPECT_EQ(make("499"), kEntryExists);
}

TEST_F(SharedStoreTest, FileUnderADriversFolder_IsMadeAndRemoved) {
  upload("made/by/driver", "content");
  must(one_->create_file("made/by", "me", 0644, kCreator));
  EXPECT_THAT(names(*other_, "made/by"), UnorderedElementsAre("driver", "me"));
  EXPECT_EQ(code_of(other_->create_file("made", "by", 0644, kCreator)), kEntryExists);
  EXPECT_EQ(code_of(other_->mkdir("made/by", "driver", 0755, kCreator)), kEntryExists);
  must(other_->unlink("made/by", "driver"));
  EXPECT_THAT(names(*one_, "made/by"), UnorderedElementsAre("me"));
}

TEST_F(SharedStoreTest, NameOfManyRevisions_IsRemovedAndMovedWhole) {
  for (int i = 0; i < 9; ++i) upload("d/a", "revision " + std::to_string(i));
  must(one_->rename("d", "a", "d", "b", RenameMode::kReplace));
  EXPECT_EQ(count(bucket().files()), 9);
  EXPECT_THAT(names(*other_, "d"), UnorderedElementsAre("b"));
  EXPECT_EQ(read(*other_, must(other_->lookup("d", "b")).id), "revision 8");
  must(other_->unlink("d", "b"));
  EXPECT_EQ(count(bucket().files()), 0);
  EXPECT_EQ(count(bucket().chunks()), 0);
}

TEST_F(SharedStoreTest, ManyThreadsInOneFolder_MakeAllTheirFiles) {
  constexpr int kThreads = 4;
  constexpr int kFiles = 25;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      PathNamespace& paths = thread % 2 == 0 ? *one_ : *other_;
      for (int i = 0; i < kFiles; ++i) {
        const std::string name = std::to_string(thread) + "-" + std::to_string(i);
        const auto made = must(paths.create_open_file("", name, 0644, kCreator));
        must(write(*made.file, 0, name));
        must(made.file->flush());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(names(*one_).size(), static_cast<size_t>(kThreads * kFiles));
  EXPECT_EQ(count(bucket().chunks()), kThreads * kFiles);
  EXPECT_THAT(problems(), IsEmpty());
}

TEST(DirectoryTurns, ChangesOfOneDirectory_TakeTurns) {
  DirectoryTurns turns(std::chrono::hours(1));
  std::atomic<int> inside = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        const std::string other = i % 2 == 0 ? "d" : "other" + std::to_string(round);
        turns.in_turn(i % 4 < 2 ? "d" : other, i % 4 < 2 ? other : "d", [&] {
          EXPECT_EQ(++inside, 1);
          --inside;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(DirectoryTurns, WhoHasWaited_GoesOn) {
  DirectoryTurns turns(std::chrono::milliseconds(1));
  bool went_on = false;
  turns.in_turn("d", "d", [&] {
    std::thread([&] { turns.in_turn("d", "e", [&] { went_on = true; }); }).join();
    EXPECT_TRUE(went_on);
  });
}

}  // namespace
}  // namespace gridmount::gridfs
