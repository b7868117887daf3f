// Goal: the cost of namespace operations does not grow with the contents of the bucket.
// Method: count the requests to the engine, with few files in the bucket and with many.

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

#include "gridfs/bucket/file_time.h"
#include "gridfs/namespace/directory_listing.h"
#include "gridfs/namespace/path_index.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"
#include "tests/gridfs/namespace_counting_store.h"

namespace gridmount::gridfs {
namespace {

class NamespaceCostTest : public BucketFixture {
 protected:
  NamespaceCostTest() {
    database_ = std::make_shared<CountingDatabase>(store().database("test"));
    namespace_ = must(PathNamespace::open(store(), database_, bucket().options(), {}, {}));
    database_->take();
  }
  ~NamespaceCostTest() override { EXPECT_TRUE(namespace_->close()); }

  void insert_names(const std::string& lead, int count) {
    change([&](engine::Transaction& transaction) {
      for (int i = 0; i < count; ++i) {
        bson::Builder document;
        document.append("_id", bson::ObjectId::generate()).append("length", 0);
        document.append("chunkSize", 10).append("uploadDate", bson::Date::now());
        document.append("filename", lead + std::to_string(i));
        must(bucket().files().insert(transaction, std::move(document).finish()));
      }
    });
  }
  // Returns the counts since the last call, and waits for the next tick of the clock of files. So
  // the next change of a name also changes the times of its directory.
  EngineCounts take_in_next_tick() {
    const EngineCounts counts = database_->take();
    const timespec now = file_time_now();
    while (file_time_now().tv_nsec == now.tv_nsec) std::this_thread::yield();
    return counts;
  }
  EngineCounts list(const std::string& folder, int expected) {
    const auto listing = must(namespace_->list(folder));
    database_->take();
    int entries = 0;
    while (must(listing->next())) ++entries;
    EXPECT_EQ(entries, expected);
    return database_->take();
  }

  std::shared_ptr<CountingDatabase> database_;
  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(NamespaceCostTest, Listing_CostsItsChildren) {
  const auto fill = [&](int files) {
    for (const char* lead : {"d/a/", "d/b/c/", "d/e/f/g/", "d/h!/", "other/"}) {
      insert_names(lead, files);
    }
  };
  must(namespace_->mkdir("", "d", 0755, {}));
  must(namespace_->mkdir("d", "b", 0755, {}));
  fill(1);
  const EngineCounts few = list("d", 4);
  fill(700);
  const EngineCounts many = list("d", 4);
  EXPECT_EQ(many.searches, few.searches);
  EXPECT_EQ(many.documents, few.documents);
  EXPECT_LE(many.searches, 4 + 3) << "one for each child, and those of the batch";
}

TEST_F(NamespaceCostTest, Listing_OfFiles_SearchesPerBatchOnly) {
  constexpr int kFiles = 2000;
  insert_names("d/file-", kFiles);
  const EngineCounts counts = list("d", kFiles);
  EXPECT_LE(counts.searches, 60);
  // A batch reads one child too many, and the next batch reads it again.
  EXPECT_LE(counts.documents, kFiles + 60);
}

TEST_F(NamespaceCostTest, Seeking_ReadsSomeDozenNames_HoweverLongAgoTheyWereGiven) {
  constexpr int kFiles = 5000;
  insert_names("d/file-", kFiles);
  const auto listing = must(namespace_->list("d"));
  std::vector<uint64_t> cookies;
  std::vector<std::string> names;
  while (const auto entry = must(listing->next())) {
    cookies.push_back(entry->cookie);
    names.push_back(entry->name);
  }
  ASSERT_EQ(names.size(), static_cast<size_t>(kFiles));
  database_->take();
  int seeks = 0;
  for (size_t i = 0; i + 1 < names.size(); i += 37) {
    must(listing->seek(cookies[i]));
    ASSERT_EQ(must(listing->next())->name, names[i + 1]);
    ++seeks;
  }
  const EngineCounts counts = database_->take();
  EXPECT_LE(counts.documents, 140 * seeks);
  EXPECT_LE(counts.searches, 8 * seeks);
}

TEST_F(NamespaceCostTest, SeekingToCookiesOfNobody_ReadsTheFolderOnceAndNotForEachSeek) {
  constexpr int kFiles = 3000;
  constexpr int kSeeks = 200;
  insert_names("d/file-", kFiles);
  const auto listing = must(namespace_->list("d"));
  std::set<uint64_t> cookies;
  while (const auto entry = must(listing->next())) cookies.insert(entry->cookie);
  std::mt19937_64 random(1);
  const auto seek_to_nobodys = [&] {
    uint64_t cookie = random() >> 2 | 1;
    while (cookies.contains(cookie)) cookie = random() >> 2 | 1;
    must(listing->seek(cookie));
    EXPECT_EQ(must(listing->next())->name, "file-0");
  };
  database_->take();
  for (int i = 0; i < kSeeks; ++i) seek_to_nobodys();
  const EngineCounts counts = database_->take();
  // After each seek, next() reads a first batch, and one child too many.
  EXPECT_LE(counts.documents, kFiles + 100 + 34 * kSeeks);
  EXPECT_LE(counts.searches, 60 + 4 * kSeeks);
  // The names may have changed since, so they are read again.
  insert_names("d/new-", 1);
  seek_to_nobodys();
  EXPECT_GE(database_->take().documents, kFiles);
  for (int i = 0; i < kSeeks; ++i) seek_to_nobodys();
  EXPECT_LE(database_->take().documents, 34 * kSeeks);
}

TEST_F(NamespaceCostTest, SeekingToCookiesOfAnotherStream_ReadsTheFolderOnceAndABlockForEachSeek) {
  constexpr int kFiles = 3000;
  insert_names("d/file-", kFiles);
  std::vector<uint64_t> cookies;
  std::vector<std::string> names;
  const auto other = must(namespace_->list("d"));
  while (const auto entry = must(other->next())) {
    cookies.push_back(entry->cookie);
    names.push_back(entry->name);
  }
  const auto listing = must(namespace_->list("d"));
  database_->take();
  int seeks = 0;
  for (size_t i = 0; i + 1 < names.size(); i += 17) {
    const size_t at = i * 7 % (names.size() - 1);
    must(listing->seek(cookies[at]));
    ASSERT_EQ(must(listing->next())->name, names[at + 1]);
    ++seeks;
  }
  const EngineCounts counts = database_->take();
  EXPECT_LE(counts.documents, kFiles + 140 * seeks);
  EXPECT_LE(counts.searches, 60 + 8 * seeks);
}

// The clock of files has ticks of some milliseconds.
TEST_F(NamespaceCostTest, ManyNewNamesInOneTick_ChangeTheirDirectoryOnce) {
  must(namespace_->mkdir("", "d", 0755, {}));
  const auto is_same = [](const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
  };
  int in_one_tick = 0;
  for (int i = 0; i < 200; ++i) {
    const timespec before = must(namespace_->get_directory("d")).attributes.mtime;
    database_->take();
    must(namespace_->create_file("d", "file-" + std::to_string(i), 0644, {}));
    const EngineCounts counts = database_->take();
    const timespec after = must(namespace_->get_directory("d")).attributes.mtime;
    // A tick may end between the insertion of the name and the update of the directory.
    EXPECT_EQ(counts.changes, is_same(before, after) ? 1 : 2);
    if (is_same(before, after)) ++in_one_tick;
    if (i % 20 != 0) continue;
    AttributeChanges past;
    past.mtime = timespec{1000, 0};
    must(namespace_->setattr_directory("d", past));
  }
  constexpr time_t kHour = 3600;
  EXPECT_GT(must(namespace_->get_directory("d")).attributes.mtime.tv_sec,
            file_time_now().tv_sec - kHour);
  RecordProperty("in_one_tick", in_one_tick);
}

// The listing calls a function for each node that it makes. Here the function counts the nodes.
TEST_F(NamespaceCostTest, SeekingMakesNoNodesOfTheNamesItPassesOver) {
  insert_names("d/file-", 1000);
  const PathIndex path_index(namespace_->bucket());
  const NamespaceOptions options;
  int nodes = 0;
  const auto made = [&] { return std::exchange(nodes, 0); };
  const auto list_anew = [&] {
    return std::make_unique<DirectoryListing>(path_index, namespace_->files(), options, "d",
                                              [&](Node& /*node*/) { ++nodes; });
  };
  const auto listing = list_anew();
  std::vector<uint64_t> cookies;
  while (const auto entry = must(listing->next())) cookies.push_back(entry->cookie);
  EXPECT_EQ(made(), 1000);
  must(list_anew()->seek(cookies[900]));
  EXPECT_EQ(made(), 0);
  must(listing->seek(12345));
  EXPECT_EQ(made(), 0);
  EXPECT_NE(must(listing->next())->node.ino, 0U);
  EXPECT_EQ(made(), 32) << "the first batch";
}

TEST_F(NamespaceCostTest, FileOfManyRevisions_CostsAsOneOfFew) {
  const auto insert_revisions = [&](int from, int to) {
    change([&](engine::Transaction& transaction) {
      for (int i = from; i < to; ++i) {
        bson::Builder revision;
        revision.append("_id", i).append("length", 0).append("chunkSize", 10);
        revision.append("uploadDate", bson::Date{i}).append("filename", "d/many");
        must(bucket().files().insert(transaction, std::move(revision).finish()));
      }
    });
  };
  insert_names("d/a", 3);
  insert_names("d/z", 3);
  const auto costs = [&] {
    EngineCounts counts = list("d", 7);
    EXPECT_EQ(must(namespace_->lookup("d", "many")).id,
              must(namespace_->revisions("d", "many")).back().id);
    return counts;
  };
  insert_revisions(0, 20);
  const EngineCounts few = costs();
  insert_revisions(20, 2000);
  const EngineCounts many = costs();
  EXPECT_EQ(many.searches, few.searches);
  EXPECT_EQ(many.documents, few.documents);
  // The tree as it was at that time.
  NamespaceOptions options;
  options.read_only = true;
  options.at = bson::Date{30};
  const auto then = must(PathNamespace::open(store(), database_, bucket().options(), options, {}));
  database_->take();
  EXPECT_EQ(must(then->lookup("d", "many")).id, bson::Value(30));
  EXPECT_LE(database_->take().documents, 8);
  must(then->close());
}

TEST_F(NamespaceCostTest, OneRevisionOfMany_ReadsNoOtherDocuments) {
  constexpr int kRevisions = 2000;
  change([&](engine::Transaction& transaction) {
    for (int i = 0; i < kRevisions; ++i) {
      bson::Builder revision;
      revision.append("_id", i).append("length", 0).append("chunkSize", 10);
      revision.append("uploadDate", bson::Date{i}).append("filename", "d/many");
      must(bucket().files().insert(transaction, std::move(revision).finish()));
    }
  });
  const auto costs = [&](uint64_t number) {
    database_->take();
    const std::optional<Node> node = must(namespace_->revision("d", "many", number));
    EXPECT_EQ(node.has_value(), number < kRevisions);
    if (node) {
      EXPECT_EQ(node->id, bson::Value(static_cast<int32_t>(number)));
    }
    return database_->take();
  };
  for (const uint64_t number : {uint64_t{0}, uint64_t{10}, uint64_t{1000}, uint64_t{1999}}) {
    const EngineCounts counts = costs(number);
    EXPECT_LE(counts.documents_examined, 10) << number;
    EXPECT_LE(counts.keys_examined, static_cast<int64_t>(number) + 15) << number;
    EXPECT_LE(counts.searches, 8) << number;
  }
  EXPECT_LE(costs(kRevisions).documents_examined, 10);
  EXPECT_LE(costs(UINT64_MAX).keys_examined, 15);
}

TEST_F(NamespaceCostTest, RemovingAllRevisionsOfAName_IsFewCalls) {
  constexpr int kRevisions = 2500;
  change([&](engine::Transaction& transaction) {
    for (int i = 0; i < kRevisions; ++i) {
      bson::Builder revision;
      revision.append("_id", i).append("length", 1).append("chunkSize", 10);
      revision.append("uploadDate", bson::Date{i}).append("filename", "many");
      must(bucket().files().insert(transaction, std::move(revision).finish()));
      bson::Builder chunk;
      chunk.append("_id", i).append("files_id", i).append("n", 0).append("data", bson::Binary{});
      must(bucket().chunks().insert(transaction, std::move(chunk).finish()));
    }
  });
  const Bucket counted(store(), database_, bucket().options());
  database_->take();
  must(counted.remove_by_name("many"));
  const EngineCounts counts = database_->take();
  EXPECT_LE(counts.searches, 1 + 2 * 3) << "one for all, two for each batch";
  EXPECT_LE(counts.changes, 2 * 3);
  // Each revision is examined once to find it and once to read it in its batch, and each of its
  // documents once.
  EXPECT_LE(counts.documents_examined, 4 * kRevisions);
  EXPECT_LE(counts.keys_examined, 6 * kRevisions);
  EXPECT_EQ(count(bucket().files()), 0);
  EXPECT_EQ(count(bucket().chunks()), 0);
}

TEST_F(NamespaceCostTest, ChangesOfAFileOfManyRevisions_CostAsOfFew) {
  const auto reopen_keeping = [&](uint32_t revisions) {
    must(namespace_->close());
    NamespaceOptions options;
    options.revisions = revisions;
    namespace_ = must(PathNamespace::open(store(), database_, bucket().options(), options, {}));
  };
  int inserted = 0;
  const auto insert_revisions = [&](int to) {
    change([&](engine::Transaction& transaction) {
      for (; inserted < to; ++inserted) {
        bson::Builder revision;
        revision.append("_id", inserted).append("length", 0).append("chunkSize", 10);
        revision.append("uploadDate", bson::Date{inserted}).append("filename", "d/many");
        must(bucket().files().insert(transaction, std::move(revision).finish()));
      }
    });
  };
  const auto make = [&](const std::string& name) {
    const Node node = must(namespace_->create_file("d", name, 0644, {}));
    const auto file = must(namespace_->open_file(node.id));
    must(write(*file, 0, "content"));
    must(file->flush());
    return node;
  };
  const auto costs = [&] {
    std::vector<EngineCounts> each;
    const Node made = make("new");
    take_in_next_tick();
    must(namespace_->rename("d", "new", "d", "many", RenameMode::kReplace));
    each.push_back(take_in_next_tick());
    EXPECT_EQ(must(namespace_->lookup("d", "many")).id, made.id);
    take_in_next_tick();
    const std::optional<bson::Value> next = must(namespace_->start_revision(made.id));
    each.push_back(take_in_next_tick());
    EXPECT_EQ(must(namespace_->lookup("d", "many")).id, next);
    return each;
  };
  const auto expect_the_same = [](const std::vector<EngineCounts>& a,
                                  const std::vector<EngineCounts>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].searches, b[i].searches) << "step " << i;
      EXPECT_EQ(a[i].documents, b[i].documents) << "step " << i;
      EXPECT_EQ(a[i].changes, b[i].changes) << "step " << i;
    }
  };
  must(namespace_->mkdir("", "d", 0755, {}));
  reopen_keeping(5000);
  insert_revisions(20);
  (void)costs();
  const std::vector<EngineCounts> few = costs();
  insert_revisions(2000);
  const std::vector<EngineCounts> many = costs();
  expect_the_same(few, many);
  EXPECT_EQ(must(namespace_->revisions("d", "many")).size(), 2003U) << "what is empty is not kept";
  // One revision is removed for each revision that is added, however many stay.
  reopen_keeping(1900);
  (void)costs();
  const std::vector<EngineCounts> one_goes = costs();
  EXPECT_EQ(must(namespace_->revisions("d", "many")).size(), 1901U);
  reopen_keeping(5);
  (void)costs();
  expect_the_same(costs(), one_goes);
  EXPECT_EQ(must(namespace_->revisions("d", "many")).size(), 6U);
}

TEST_F(NamespaceCostTest, ManyRevisionsOfOneDate_AreNotReadToFindTheNewest) {
  change([&](engine::Transaction& transaction) {
    for (int i = 0; i < 3000; ++i) {
      bson::Builder revision;
      revision.append("_id", i).append("length", 0).append("chunkSize", 10);
      revision.append("uploadDate", bson::Date{7}).append("filename", "d/many");
      must(bucket().files().insert(transaction, std::move(revision).finish()));
    }
  });
  database_->take();
  EXPECT_EQ(must(namespace_->lookup("d", "many")).id, bson::Value(2999));
  EXPECT_LE(database_->take().documents, 80);
  const EngineCounts counts = list("d", 1);
  EXPECT_LE(counts.documents, 80);
  for (const int number : {0, 1, 1500, 2998, 2999}) {
    const auto revision = must(namespace_->revision("d", "many", static_cast<uint64_t>(number)));
    ASSERT_TRUE(revision) << number;
    EXPECT_EQ(revision->id, bson::Value(number));
  }
  EXPECT_FALSE(must(namespace_->revision("d", "many", 3000)));
  const std::vector<Node> revisions = must(namespace_->revisions("d", "many"));
  EXPECT_EQ(revisions.size(), 3000U);
  EXPECT_EQ(revisions.back().id, bson::Value(2999));
}

TEST_F(NamespaceCostTest, Lookups_AreTwoSearches) {
  must(namespace_->mkdir("", "d", 0755, {}));
  insert_names("d/", 3);
  insert_names("implied/x/", 700);
  database_->take();
  must(namespace_->lookup("d", "1"));
  EXPECT_EQ(database_->take().searches, 2) << "file";
  must(namespace_->lookup("", "d"));
  EXPECT_EQ(database_->take().searches, 1) << "explicit folder";
  must(namespace_->lookup("", "implied"));
  EXPECT_EQ(database_->take().searches, 2) << "implied folder";
  EXPECT_FALSE(namespace_->lookup("d", "none"));
  EXPECT_EQ(database_->take().searches, 2) << "nothing";
  // Many revisions, or names in between, cost two more searches.
  for (int i = 0; i < 50; ++i) {
    bson::Builder revision;
    revision.append("_id", i).append("length", 0).append("chunkSize", 10);
    revision.append("uploadDate", bson::Date{i}).append("filename", "d/many");
    insert_file(std::move(revision).finish());
  }
  database_->take();
  must(namespace_->lookup("d", "many"));
  const EngineCounts revisions = database_->take();
  EXPECT_EQ(revisions.searches, 4);
  EXPECT_LE(revisions.documents, 8);
}

TEST_F(NamespaceCostTest, Links_CostTheSame_HoweverManyThereAre) {
  const Node file = must(namespace_->create_file("", "file", 0644, {}));
  must(namespace_->mkdir("", "d", 0755, {}));
  const auto costs_of_round = [&](const std::string& name) {
    std::vector<EngineCounts> costs;
    take_in_next_tick();
    must(namespace_->link(file.id, "d", name));
    costs.push_back(take_in_next_tick());
    must(namespace_->lookup("d", name));
    costs.push_back(take_in_next_tick());
    must(namespace_->file(file.id));
    costs.push_back(take_in_next_tick());
    must(namespace_->rename("d", name, "d", name + "!", RenameMode::kReplace));
    costs.push_back(take_in_next_tick());
    must(namespace_->unlink("d", name + "!"));
    costs.push_back(take_in_next_tick());
    return costs;
  };
  must(namespace_->link(file.id, "d", "l0"));
  (void)costs_of_round("a");
  const std::vector<EngineCounts> few = costs_of_round("b");
  for (int i = 1; i < 1000; ++i) must(namespace_->link(file.id, "d", "l" + std::to_string(i)));
  EXPECT_EQ(must(namespace_->file(file.id)).attributes.nlink, 1001U);
  const std::vector<EngineCounts> many = costs_of_round("c");
  for (size_t i = 0; i < few.size(); ++i) {
    EXPECT_EQ(many[i].searches, few[i].searches) << "step " << i;
    EXPECT_EQ(many[i].documents, few[i].documents) << "step " << i;
    EXPECT_EQ(many[i].changes, few[i].changes) << "step " << i;
    EXPECT_LE(many[i].searches, 20) << "step " << i;
  }
  // A listing looks up the file of each link.
  const EngineCounts listing = list("d", 1000);
  EXPECT_LE(listing.documents, 2 * 1000 + 100);
}

TEST_F(NamespaceCostTest, Changes_AreFewCalls) {
  must(namespace_->mkdir("", "d", 0755, {}));
  insert_names("d/", 700);
  const auto expect = [&](int searches, int changes, const char* what) {
    const EngineCounts counts = take_in_next_tick();
    EXPECT_LE(counts.searches, searches) << what;
    EXPECT_EQ(counts.changes, changes) << what;
    EXPECT_EQ(counts.other, 0) << what;
  };
  take_in_next_tick();
  must(namespace_->create_file("d", "new", 0644, {}));
  expect(3, 2, "create");
  must(namespace_->rename("d", "new", "d", "renamed", RenameMode::kReplace));
  expect(6, 2, "rename");
  must(namespace_->mkdir("d", "folder", 0755, {}));
  expect(4, 2, "mkdir");
  must(namespace_->rmdir("d", "folder"));
  expect(4, 2, "rmdir");
}

}  // namespace
}  // namespace gridmount::gridfs
