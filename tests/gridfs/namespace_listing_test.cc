// Goal: a listing shows every name that exists throughout it exactly once, whatever else changes,
// and wherever it is interrupted.
// Method: names that are close to each other in the index, as files, as directories with and
// without a document, and as both. Random changes and seeks happen between the entries. The seed is
// printed on failure.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "gridfs/namespace/name_mapping.h"
#include "gridfs/namespace/path_namespace.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::gridfs {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

class NamespaceListingTest : public BucketFixture {
 protected:
  NamespaceListingTest() {
    namespace_ =
        must(PathNamespace::open(store(), store().database("test"), bucket().options(), {}, {}));
  }
  ~NamespaceListingTest() override { EXPECT_TRUE(namespace_->close()); }

  void insert_name(const std::string& filename, int64_t length = 0) {
    bson::Builder document;
    document.append("_id", bson::ObjectId::generate()).append("length", length);
    document.append("chunkSize", 10).append("uploadDate", bson::Date::now());
    document.append("filename", filename);
    insert_file(std::move(document).finish());
  }
  void insert_folder(const std::string& parent, const std::string& name) {
    change([&](engine::Transaction& transaction) {
      bson::Builder folder;
      folder.append("_id", bson::ObjectId::generate()).append("parent", parent);
      folder.append("name", name);
      must(bucket().directories().insert(transaction, std::move(folder).finish()));
    });
  }
  bool has_document(const std::string& parent, const std::string& name) {
    bson::Builder filter;
    filter.append("parent", parent).append("name", name);
    const auto snapshot = must(store().snapshot());
    return must(bucket().directories().find_one(*snapshot, std::move(filter).finish())).has_value();
  }
  std::vector<std::string> names(const std::string& folder) {
    std::vector<std::string> all;
    const auto listing = must(namespace_->list(folder));
    while (const auto entry = must(listing->next())) all.push_back(entry->name);
    return all;
  }

  std::unique_ptr<PathNamespace> namespace_;
};

TEST_F(NamespaceListingTest, FolderBecomesExplicit_IsListedOnce) {
  for (int i = 0; i < 300; ++i) insert_folder("", "d" + std::to_string(i));
  for (const char* name : {"a/x", "d150/x", "m/x"}) insert_name(name);
  for (const int at : {0, 1, 2, 150, 290, 301}) {
    const std::string folder = "new" + std::to_string(at);
    insert_name(folder + "/x");
    std::multiset<std::string> seen;
    const auto listing = must(namespace_->list(""));
    int given = 0;
    while (true) {
      if (given++ == at) must(namespace_->create_file(folder, "y", 0644, {}));
      const auto entry = must(listing->next());
      if (!entry) break;
      seen.insert(entry->name);
    }
    for (const std::string& name :
         {std::string("a"), std::string("m"), std::string("d150"), folder})
      EXPECT_EQ(seen.count(name), 1U) << name << ", changed behind " << at;
  }
}

TEST_F(NamespaceListingTest, RandomFolders_WithSeeksAndChanges) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("GRIDMOUNT_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  // Uses bytes close to the slash, so that the order of names differs from that of the names below
  // them.
  const auto random_name = [&] {
    static constexpr std::string_view kBytes = "aA-!.0";
    std::string name(1 + below(4), 'a');
    for (char& byte : name) byte = kBytes[below(kBytes.size())];
    return name == "." || name == ".." ? "a" : name;
  };
  for (int round = 0; round < 60; ++round) {
    const std::string folder = below(4) == 0 ? "" : "r" + std::to_string(round);
    if (folder.empty()) {
      change([&](engine::Transaction& transaction) {
        must(bucket().files().remove(transaction, bson::View(), true));
        const bson::Document all = [] {
          bson::Builder filter;
          filter.append("parent", "");
          return std::move(filter).finish();
        }();
        must(bucket().directories().remove(transaction, all, true));
      });
    }
    struct Child {
      bool file = false;
      bool folder = false;
    };
    std::map<std::string, Child> staying;
    for (size_t i = 0; i < 50; ++i) {
      const std::string name = random_name();
      Child& child = staying[name];
      const std::string path = join(folder, name);
      switch (below(4)) {
        case 0:
          insert_name(path);
          child.file = true;
          break;
        case 1:
          insert_name(path + "/" + random_name());
          child.folder = true;
          break;
        case 2:
          child.folder = true;
          if (!has_document(folder, name)) insert_folder(folder, name);
          break;
        default:
          if (!child.file && !child.folder) staying.erase(name);
      }
    }
    std::map<std::string, NodeKind> expected;
    for (const auto& [name, child] : staying) {
      if (child.folder) expected[name] = NodeKind::kDirectory;
      if (child.file) {
        expected[child.folder ? escape_shadowed_file(name) : name] = NodeKind::kFile;
      }
    }
    std::multiset<std::string> seen;
    std::set<uint64_t> cookies;
    const auto listing = must(namespace_->list(folder));
    uint64_t last = 0;
    const bool changing = below(2) == 0;
    while (true) {
      if (below(3) == 0) must(listing->seek(last));
      if (changing && below(4) == 0) {
        // Adds new names, and makes implied directories explicit.
        std::string path = join(folder, random_name());
        if (!staying.contains(std::string(split(path).component))) insert_name(path);
        for (const auto& [name, child] : staying) {
          if (child.folder && below(6) == 0) {
            const std::string in = join(folder, name);
            (void)namespace_->create_file(in, "z" + std::to_string(below(1000)), 0644, {});
          }
        }
      }
      const auto entry = must(listing->next());
      if (!entry) break;
      ASSERT_TRUE(cookies.insert(entry->cookie).second) << entry->name << " twice, or its cookie";
      last = entry->cookie;
      seen.insert(entry->name);
      const auto known = expected.find(entry->name);
      if (!changing) {
        ASSERT_NE(known, expected.end()) << entry->name;
      }
      if (known != expected.end()) {
        ASSERT_EQ(known->second, entry->node.kind) << entry->name;
      }
    }
    for (const auto& [name, kind] : expected) {
      ASSERT_EQ(seen.count(name), 1U) << name << " in round " << round;
    }
    for (const std::string& name : names(folder)) {
      ASSERT_TRUE(namespace_->lookup(folder, name)) << name;
    }
  }
}

TEST_F(NamespaceListingTest, Seek_ReadsAnew) {
  for (int i = 0; i < 9; ++i) insert_name("f" + std::to_string(i));
  const auto listing = must(namespace_->list(""));
  const auto first = must(listing->next());
  must(namespace_->unlink("", "f5"));
  AttributeChanges changes;
  changes.permissions = 0600;
  must(namespace_->setattr_file(must(namespace_->lookup("", "f3")).id, changes));
  must(listing->seek(first->cookie));
  std::vector<std::string> rest;
  while (const auto entry = must(listing->next())) {
    rest.push_back(entry->name);
    if (entry->name == "f3") {
      EXPECT_EQ(entry->node.attributes.mode & 07777, 0600U);
    }
  }
  EXPECT_THAT(rest, Not(Contains("f5")));
  EXPECT_EQ(rest.size(), 7U);
}

TEST_F(NamespaceListingTest, Cookies_OfOneNameAreOne_AndOldOnesLeadBack) {
  constexpr int kFiles = 6000;
  change([&](engine::Transaction& transaction) {
    for (int i = 0; i < kFiles; ++i) {
      bson::Builder document;
      document.append("_id", i).append("length", 0).append("chunkSize", 10);
      document.append("uploadDate", bson::Date::now()).append("filename", std::to_string(i));
      must(bucket().files().insert(transaction, std::move(document).finish()));
    }
  });
  const auto listing = must(namespace_->list(""));
  std::vector<std::pair<std::string, uint64_t>> all;
  while (const auto entry = must(listing->next())) all.emplace_back(entry->name, entry->cookie);
  ASSERT_EQ(all.size(), static_cast<size_t>(kFiles));
  // New names before and after a cookie's position do not change what it means.
  insert_name("!");
  insert_name(all[3].first + "!");
  must(listing->seek(all[3].second));
  EXPECT_EQ(must(listing->next())->name, all[3].first + "!");
  for (const size_t i : {0, 4, 1023, 5998}) {
    must(listing->seek(all[i].second));
    const auto entry = must(listing->next());
    EXPECT_EQ(entry->name, all[i + 1].first);
    EXPECT_EQ(entry->cookie, all[i + 1].second);
  }
  // A cookie works even if its name was removed since.
  must(listing->seek(all[10].second));
  const auto gone = must(listing->next());
  must(namespace_->unlink("", gone->name));
  must(listing->seek(gone->cookie));
  EXPECT_EQ(must(listing->next())->name, all[12].first);
}

TEST_F(NamespaceListingTest, Cookies_OfAnotherStream_LeadToTheirNames) {
  change([&](engine::Transaction& transaction) {
    for (int i = 0; i < 300; ++i) {
      bson::Builder document;
      document.append("_id", i).append("length", 0).append("chunkSize", 10);
      document.append("uploadDate", bson::Date::now()).append("filename", std::to_string(1000 + i));
      must(bucket().files().insert(transaction, std::move(document).finish()));
    }
  });
  std::vector<uint64_t> cookies;
  const auto first = must(namespace_->list(""));
  while (const auto entry = must(first->next())) cookies.push_back(entry->cookie);
  insert_name("0");
  const auto second = must(namespace_->list(""));
  for (const size_t i : {200, 298, 0, 150}) {
    must(second->seek(cookies[i]));
    EXPECT_EQ(must(second->next())->name, std::to_string(1001 + i));
  }
}

TEST_F(NamespaceListingTest, OpenFile_IsListedAsItIs) {
  const Node node = must(namespace_->create_file("", "a", 0644, {}));
  const auto file = must(namespace_->open_file(node.id));
  must(write(*file, 0, "12345"));
  EXPECT_EQ(must(must(namespace_->list(""))->next())->node.attributes.size, 5);
}

TEST_F(NamespaceListingTest, ManyFilesWithoutFilename_ComeOnce) {
  change([&](engine::Transaction& transaction) {
    for (int i = 0; i < 1000; ++i) {
      bson::Builder document;
      document.append("_id", i).append("length", 0).append("chunkSize", 10);
      // Many files have the same date, some have no date, and some names have other types.
      if (i % 10 != 0) document.append("uploadDate", bson::Date{1000 + i / 100});
      if (i % 11 == 0)
        document.append("filename", i);
      else if (i % 13 == 0)
        document.append_null("filename");
      must(bucket().files().insert(transaction, std::move(document).finish()));
    }
  });
  std::set<std::string> seen;
  const auto listing = must(namespace_->list(""));
  int given = 0;
  while (const auto entry = must(listing->next())) {
    ASSERT_TRUE(seen.insert(entry->name).second) << entry->name << " twice";
    ASSERT_EQ(must(namespace_->lookup("", entry->name)).id, entry->node.id);
    if (++given % 7 == 0) must(listing->seek(entry->cookie));
  }
  EXPECT_EQ(seen.size(), 1000U);
}

TEST_F(NamespaceListingTest, FoldersThatCannotBe_AreNotListed) {
  for (const char* name : {"", "/", "a/b"}) insert_folder("", name);
  insert_folder("", "good");
  insert_folder("good", "");
  EXPECT_THAT(names(""), ElementsAre("good"));
  EXPECT_THAT(names("good"), ElementsAre("%gridfs:esc:"));
  EXPECT_EQ(must(namespace_->lookup("good", "%gridfs:esc:")).kind, NodeKind::kDirectory);
}

TEST_F(NamespaceListingTest, DeepImpliedTrees) {
  std::string path;
  for (int i = 0; i < 500; ++i) path = join(path, "d");
  insert_name(join(path, "leaf"));
  std::string folder;
  for (int i = 0; i < 500; ++i) {
    ASSERT_THAT(names(folder), ElementsAre("d"));
    folder = join(folder, "d");
  }
  EXPECT_THAT(names(folder), ElementsAre("leaf"));
  must(namespace_->rename(folder, "leaf", folder, "renamed", RenameMode::kReplace));
  must(namespace_->rename("", "d", "", "e", RenameMode::kReplace));
  EXPECT_EQ(code_of(namespace_->get_directory(folder)), kNoSuchEntry);
  folder[0] = 'e';
  EXPECT_THAT(names(folder), ElementsAre("renamed"));
}

TEST_F(NamespaceListingTest, Links_AreListedByTheirNames_LongOnesToo) {
  std::string deep;
  for (int i = 0; i < 3; ++i) {
    const std::string name(200, static_cast<char>('a' + i));
    must(namespace_->mkdir(deep, name, 0755, {}));
    deep = join(deep, name);
  }
  const Node file = must(namespace_->create_file("", "file", 0644, {}));
  std::vector<std::string> expected;
  for (int i = 10; i < 60; ++i) {
    // Every second one is a name of its own file, so that both indexes are read alternately.
    const std::string name = "name" + std::to_string(i);
    if (i % 2 == 0) {
      must(namespace_->link(file.id, deep, name));
    } else {
      const Node other = must(namespace_->create_file("", name, 0644, {}));
      must(namespace_->link(other.id, deep, name));
    }
    expected.push_back(name);
  }
  EXPECT_EQ(names(deep), expected);
  EXPECT_EQ(must(namespace_->lookup(deep, "name10")).attributes.nlink, 26U);
  must(namespace_->rename("", std::string(200, 'a'), "", "short", RenameMode::kReplace));
  EXPECT_EQ(names("short/" + std::string(200, 'b') + "/" + std::string(200, 'c')), expected);
}

// The index truncates long keys. So it does not sort links whose paths have a longer common
// beginning, and files with other names, before and after them, have the same keys.
TEST_F(NamespaceListingTest, LinksBelowALongPath_AreListedAndHoldTheirFolders) {
  std::string path;
  for (int i = 0; i < 3; ++i) {
    const std::string name(200, 'P');
    must(namespace_->mkdir(path, name, 0755, {1, 2}));
    path = join(path, name);
  }
  constexpr int kFolders = 10;
  for (int i = 0; i < kFolders; ++i) {
    const std::string number = std::to_string(i);
    for (const char* const kind : {"a", "m"}) {
      must(namespace_->mkdir(path, kind + number, 0755, {1, 2}));
    }
    const bson::Value a = must(namespace_->create_file("", "A" + number, 0644, {1, 2})).id;
    const bson::Value b = must(namespace_->create_file("", "B" + number, 0644, {1, 2})).id;
    must(namespace_->link(a, join(path, "a" + number), "one"));
    must(namespace_->link(a, "", "z" + number));
    must(namespace_->link(b, join(path, "m" + number), "two"));
  }
  for (int i = 0; i < kFolders; ++i) {
    const std::string number = std::to_string(i);
    EXPECT_THAT(names(join(path, "a" + number)), ElementsAre("one"));
    EXPECT_THAT(names(join(path, "m" + number)), ElementsAre("two"));
    EXPECT_FALSE(namespace_->rmdir(path, "m" + number)) << "it is not empty";
  }
  must(namespace_->rename(path, "m4", path, "n4", RenameMode::kReplace));
  EXPECT_THAT(names(join(path, "n4")), ElementsAre("two"));
  EXPECT_TRUE(namespace_->lookup(join(path, "n4"), "two"));
  EXPECT_FALSE(namespace_->lookup(path, "m4"));
}

// Drivers may write any bytes. No name sorts after the names of this test.
TEST_F(NamespaceListingTest, LinksOfTheLastNamesThereAre_DoNotKeepAListingFromItsEnd) {
  must(namespace_->close());
  make_index_of_aliases();
  namespace_ =
      must(PathNamespace::open(store(), store().database("test"), bucket().options(), {}, {}));
  const bson::Value id = must(namespace_->create_file("", "a", 0644, {1, 2})).id;
  must(namespace_->link(id, "", "b"));
  for (const char* const end : {"x", "y"}) {
    bson::Builder document;
    document.append("_id", bson::ObjectId::generate()).append("length", int64_t{0});
    document.append("chunkSize", 10).append("uploadDate", bson::Date::now());
    document.append("filename", std::string("file ") + end);
    document.open_array("aliases").push(bson::Value(std::string(300, '\xff') + end).view());
    document.close();
    insert_file(std::move(document).finish());
  }
  EXPECT_EQ(names("").size(), 6U);
}

}  // namespace
}  // namespace gridmount::gridfs
