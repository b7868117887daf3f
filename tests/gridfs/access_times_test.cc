// Goal: access_times.h keeps its promises: when a read changes atime, what is shown at once, and
// what the documents have later.
// Method: a namespace over a real store, with documents of any age beside those of the namespace.
// tests/mount/access_times_test.py tests the same on a mount.

#include "gridfs/namespace/access_times.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <thread>

#include "tests/gridfs/bucket_fixture.h"
#include "tests/logged.h"

namespace gridmount::gridfs {
namespace {

constexpr time_t kHourSeconds = 3600;
constexpr time_t kDaySeconds = 24 * kHourSeconds;

class AccessTimesTest : public BucketFixture {
 protected:
  AccessTimesTest() { mount(AccessTimeMode::kAll); }
  ~AccessTimesTest() override { EXPECT_TRUE(namespace_->close()); }

  void mount(AccessTimeMode mode, bool read_only = false, bool strict = false) {
    if (namespace_) must(namespace_->close());
    NamespaceOptions options;
    options.access_times = mode;
    options.read_only = read_only;
    options.strict_access_times = strict;
    namespace_ = must(
        PathNamespace::open(store(), store().database("test"), bucket().options(), options, {}));
  }
  void unmount() {
    must(namespace_->close());
    namespace_.reset();
  }
  PathNamespace& paths() { return *namespace_; }
  // Returns false if the store has no room for a document with so many bytes.
  bool insert_filler(size_t bytes) {
    const auto transaction = must(store().begin());
    bson::Builder document;
    document.append("filler", std::string(bytes, 'x'));
    const auto collection = store().database("test")->collection("filler");
    return collection->insert(*transaction, std::move(document).finish()) && transaction->commit();
  }

  static timespec ago(time_t seconds) {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec -= seconds;
    return time;
  }
  // Makes a file with these times, given in seconds before now. Its document also has `padding`.
  bson::Value make(const std::string& name, time_t atime, time_t mtime, time_t ctime,
                   const std::string& padding = "") {
    const bson::Value id(bson::ObjectId::generate());
    bson::Builder document;
    document.append("_id", id).append("length", int64_t{0}).append("chunkSize", 100);
    document.append("uploadDate", bson::Date::now()).append("filename", name);
    if (!padding.empty()) document.append("padding", padding);
    document.open_document("metadata").open_document("posix");
    PosixFields posix;
    posix.atime = ago(atime);
    posix.mtime = ago(mtime);
    posix.ctime = ago(ctime);
    append_posix_fields(document, posix);
    document.close().close();
    insert_file(std::move(document).finish());
    return id;
  }
  bool read(const bson::Value& id) { return paths().record_read(*must(paths().open_file(id))); }
  time_t shown(const bson::Value& id) { return must(paths().file(id)).attributes.atime.tv_sec; }
  time_t written(const bson::Value& id) { return file(id).posix.atime.value_or(timespec{}).tv_sec; }
  static bool is_recent(time_t seconds) { return seconds >= ago(60).tv_sec; }

 private:
  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(AccessTimesTest, ReadSinceItWasChanged_Stays) {
  const bson::Value id = make("a", 100, 200, 200);
  EXPECT_FALSE(read(id));
  EXPECT_FALSE(is_recent(shown(id)));
}

TEST_F(AccessTimesTest, ChangedSinceItWasRead_Changes) {
  const bson::Value content = make("a", 200, 100, 300);
  const bson::Value attributes = make("b", 200, 300, 100);
  const bson::Value together = make("c", 200, 200, 200);
  for (const bson::Value& id : {content, attributes, together}) {
    EXPECT_TRUE(read(id));
    EXPECT_TRUE(is_recent(shown(id)));
    EXPECT_FALSE(read(id));
  }
}

TEST_F(AccessTimesTest, ADayOld_Changes) {
  const bson::Value younger = make("a", kDaySeconds - kHourSeconds, 90'000, 90'000);
  const bson::Value older = make("b", kDaySeconds + 1, 90'000, 90'000);
  EXPECT_FALSE(read(younger));
  EXPECT_TRUE(read(older));
}

TEST_F(AccessTimesTest, IsWrittenAtTheEnd_AndNothingElseIs) {
  const bson::Value id = upload("folder/a", "content", {std::nullopt, 4, {}, std::nullopt});
  const FilesDocument before = file(id);
  EXPECT_FALSE(paths().record_read("folder")) << "nothing could keep it";
  EXPECT_TRUE(read(id));
  EXPECT_EQ(file(id).posix.atime, std::nullopt) << "in its own time";
  mount(AccessTimeMode::kAll);
  EXPECT_TRUE(is_recent(shown(id)));
  const FilesDocument after = file(id);
  EXPECT_TRUE(after.posix.atime.has_value());
  EXPECT_FALSE(after.posix.mtime || after.posix.ctime || after.posix.mode);
  EXPECT_EQ(after.upload_date, before.upload_date);
  EXPECT_EQ(after.md5, before.md5);
  EXPECT_EQ(count(bucket().directories()), 1) << "the root's";
}

TEST_F(AccessTimesTest, ReadAgainAndAgain_IsWrittenAfterTheDelay) {
  const bson::Value id = make("a", 200, 100, 100);
  const Node node = must(paths().file(id));
  SeenDirectories seen(std::chrono::milliseconds(0));
  AccessTimes times(
      bucket(), AccessTimeMode::kFiles, true, [](bson::ValueView) { return true; }, seen,
      std::chrono::milliseconds(300));
  for (int i = 0; i < 500 && !is_recent(written(id)); ++i) {
    EXPECT_TRUE(times.note(node));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(is_recent(written(id)));
}

TEST_F(AccessTimesTest, Many_AreWrittenEarly_AndShownAllTheTime) {
  std::vector<bson::Value> ids;
  for (int i = 0; i < 4096; ++i) ids.push_back(make("f" + std::to_string(i), 200, 100, 100));
  const std::shared_ptr<File> open = must(paths().open_file(ids[7]));
  for (const bson::Value& id : ids) ASSERT_TRUE(read(id));
  for (int i = 0; i < 1000 && !(is_recent(written(ids[0])) && is_recent(written(ids[4095]))); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (const int i : {0, 1, 2000, 4095}) EXPECT_TRUE(is_recent(written(ids[i]))) << i;
  // This includes open files, which read their document before.
  for (const int i : {0, 7, 4095}) EXPECT_TRUE(is_recent(shown(ids[i]))) << i;
}

TEST_F(AccessTimesTest, SetExplicitly_CountsWhatWasSet) {
  const bson::Value id = make("a", 200, 100, 100);
  EXPECT_TRUE(read(id));
  AttributeChanges changes;
  changes.atime = timespec{5, 0};
  EXPECT_EQ(must(paths().setattr_file(id, changes)).attributes.atime.tv_sec, 5);
  EXPECT_EQ(shown(id), 5);
  mount(AccessTimeMode::kAll);
  EXPECT_EQ(shown(id), 5);
}

TEST_F(AccessTimesTest, OtherAttributesSet_LeaveWhatIsNoted) {
  const bson::Value id = make("a", 200, 100, 100);
  EXPECT_TRUE(read(id));
  AttributeChanges changes;
  changes.permissions = 0600;
  EXPECT_TRUE(is_recent(must(paths().setattr_file(id, changes)).attributes.atime.tv_sec));
}

TEST_F(AccessTimesTest, Listing_ShowsIt_AndSoDoesTheFolderItself) {
  must(paths().mkdir("", "d", 0755, {1, 2}));
  const bson::Value id = make("d/a", 2000, 1000, 1000);
  AttributeChanges old;
  old.atime = old.mtime = old.ctime = ago(1000);
  must(paths().setattr_directory("d", old));
  EXPECT_TRUE(read(id));
  EXPECT_TRUE(paths().record_read("d"));
  EXPECT_FALSE(paths().record_read("d"));
  const auto listing = must(paths().list("d"));
  EXPECT_TRUE(is_recent(must(listing->next())->node.attributes.atime.tv_sec));
  EXPECT_TRUE(is_recent(must(paths().get_directory("d")).attributes.atime.tv_sec));
  mount(AccessTimeMode::kAll);
  EXPECT_TRUE(is_recent(must(paths().get_directory("d")).attributes.atime.tv_sec));
}

TEST_F(AccessTimesTest, SymbolicLink_IsReadByItsTarget) {
  const bson::Value id = must(paths().symlink("", "link", "target", {1, 2})).id;
  AttributeChanges old;
  old.atime = old.mtime = old.ctime = ago(1000);
  must(paths().setattr_file(id, old));
  EXPECT_EQ(must(paths().readlink(id)), "target");
  EXPECT_TRUE(is_recent(shown(id)));
}

TEST_F(AccessTimesTest, FileThatHasGone_IsPassedOver) {
  const bson::Value gone = make("a", 200, 100, 100);
  const bson::Value odd = upload("b", "");
  const bson::Value stays = make("c", 200, 100, 100);
  for (const bson::Value& id : {gone, odd, stays}) EXPECT_TRUE(read(id));
  must(paths().unlink("", "a"));
  change([&](engine::Transaction& transaction) {
    bson::Builder update;
    update.open_document("$set").append("metadata", "no document").close();
    bson::Builder filter;
    filter.append("filename", "b");
    must(bucket().files().update(transaction, std::move(filter).finish(),
                                 std::move(update).finish()));
  });
  mount(AccessTimeMode::kAll);
  EXPECT_TRUE(is_recent(shown(stays)));
}

TEST_F(AccessTimesTest, Modes) {
  must(paths().mkdir("", "d", 0755, {1, 2}));
  const bson::Value id = make("a", 200, 100, 100);
  mount(AccessTimeMode::kNone);
  EXPECT_FALSE(read(id) || paths().record_read("d"));
  mount(AccessTimeMode::kAll, true);
  EXPECT_FALSE(read(id) || paths().record_read("d"));
  mount(AccessTimeMode::kFiles);
  EXPECT_FALSE(paths().record_read("d"));
  EXPECT_TRUE(read(id));
}

TEST_F(AccessTimesTest, Strict_EachReadingCounts) {
  const bson::Value id = make("a", 10, 200, 100);
  EXPECT_FALSE(read(id));
  mount(AccessTimeMode::kAll, false, true);
  EXPECT_TRUE(read(id));
  EXPECT_TRUE(is_recent(shown(id)));
  EXPECT_TRUE(read(id));
  mount(AccessTimeMode::kNone, false, true);
  EXPECT_FALSE(read(id));
}

// A mount of a full store that was only read from must end without an error.
TEST_F(AccessTimesTest, Close_WithoutRoom_IsNoError) {
  constexpr int kFiles = 300;
  // With a page for each file, their atimes need more room than is left in a full store.
  const std::string padding(3000, 'x');
  std::vector<bson::Value> ids;
  for (int i = 0; i < kFiles; ++i) {
    ids.push_back(make("file" + std::to_string(i), 10, 5, 5, padding));
  }
  unmount();
  limit(4 << 20);
  mount(AccessTimeMode::kAll);
  for (size_t bytes = 1 << 20; bytes > 0; bytes /= 2) {
    while (insert_filler(bytes)) {
    }
  }
  for (const bson::Value& id : ids) EXPECT_TRUE(read(id));
  const std::string logged = logged_by([&] { must(paths().close()); });
  EXPECT_THAT(logged,
              testing::HasSubstr("warning: bucket 'fs': the newest access times are lost: "));
  EXPECT_THAT(problems(), testing::IsEmpty());
}

}  // namespace
}  // namespace gridmount::gridfs
