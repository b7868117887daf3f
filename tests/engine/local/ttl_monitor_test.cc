// Goal: documents of TTL indexes are removed when they expire, and no other documents are removed,
// even after the store was closed or a collection renamed.
// Method: passes run every few milliseconds. Each test has a document that must stay beside one
// that must go. The removal of the latter shows that a pass has finished.

#include "engine/local/ttl_monitor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/local/open_store.h"
#include "tests/engine/local/integrity/damaged_store.h"

namespace gridmount::local {
namespace {

class TtlMonitorTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "gridmount-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    open();
  }
  void TearDown() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  void open() {
    store_.reset();
    OpenOptions options;
    options.create = true;
    options.expiry_interval = std::chrono::milliseconds(5);
    Result<std::unique_ptr<engine::Store>> opened = local::open(folder_ / "store", options);
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    store_ = std::move(opened).value();
  }

  template <typename Work>
  void change(const Work& work) {
    const auto transaction = store_->begin();
    ASSERT_TRUE(transaction.has_value());
    const Status done = work(**transaction);
    ASSERT_TRUE(done.has_value()) << done.error().message();
    ASSERT_TRUE((*transaction)->commit());
  }

  void index(const std::string& name, const std::string& specification) {
    change([&](engine::Transaction& transaction) -> Status {
      GM_ASSIGN(const bson::Document document, bson::document_from_json(specification));
      GM_ASSIGN(const engine::IndexDefinition index, engine::IndexDefinition::parse(document));
      return store_->database("test")->collection(name)->create_index(transaction, index);
    });
  }

  void insert(const std::string& name, const std::string& json) {
    change([&](engine::Transaction& transaction) -> Status {
      GM_ASSIGN(const bson::Document document, bson::document_from_json(json));
      GM_TRY(store_->database("test")->collection(name)->insert(transaction, document));
      return {};
    });
  }

  int64_t count(const std::string& name, const std::string& json) {
    const auto snapshot = store_->snapshot();
    const auto filter = bson::document_from_json(json);
    return *store_->database("test")->collection(name)->count(**snapshot, *filter);
  }

  void await_none(const std::string& name, const std::string& filter) {
    for (int i = 0; i < 2'000 && count(name, filter) > 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(count(name, filter), 0) << name << " " << filter;
  }

  static std::string seconds_ago(int64_t seconds) {
    return R"({"$date": {"$numberLong": ")" +
           std::to_string(bson::Date::now().milliseconds - seconds * 1000) + "\"}}";
  }

  std::filesystem::path folder_;
  std::unique_ptr<engine::Store> store_;
};

TEST_F(TtlMonitorTest, RemovesWhatHasExpiredOnly) {
  index("log", R"({"key": {"at": 1}, "expireAfterSeconds": 3600})");
  for (int i = 0; i < 300; ++i) {
    insert("log", R"({"goes": true, "at": )" + seconds_ago(3601 + i) + "}");
  }
  insert("log", R"({"goes": true, "at": [)" + seconds_ago(10) + "," + seconds_ago(4000) + "]}");
  insert("log", R"({"at": )" + seconds_ago(3000) + "}");
  insert("log", R"({"at": "2001-01-01"})");
  insert("log", R"({"at": 5})");
  insert("log", R"({"at": null})");
  insert("log", "{}");
  insert("other", R"({"at": )" + seconds_ago(100000) + "}");
  await_none("log", R"({"goes": true})");
  EXPECT_EQ(count("log", "{}"), 5);
  EXPECT_EQ(count("other", "{}"), 1);
  // The count of passes rises a moment after the removal.
  const int64_t passes = store_->stats()->expiry_passes;
  for (int i = 0; i < 2'000 && store_->stats()->expiry_passes == passes; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(store_->stats()->expired_documents, 301);
  EXPECT_GT(store_->stats()->expiry_passes, 0);
}

TEST_F(TtlMonitorTest, PartialIndex_LeavesOthers) {
  index("log", R"({"key": {"at": 1}, "expireAfterSeconds": 0,
                   "partialFilterExpression": {"kind": "session"}})");
  insert("log", R"({"kind": "session", "at": )" + seconds_ago(1) + "}");
  insert("log", R"({"kind": "other", "at": )" + seconds_ago(1) + "}");
  await_none("log", R"({"kind": "session"})");
  EXPECT_EQ(count("log", "{}"), 1);
}

TEST_F(TtlMonitorTest, GoesOnAfterReopeningAndRenaming_EndsWithTheIndex) {
  index("before", R"({"key": {"at": 1}, "name": "ttl", "expireAfterSeconds": 0})");
  change([&](engine::Transaction& transaction) {
    return store_->database("test")->rename(transaction, "before", {"test", "after"}, false);
  });
  open();
  insert("after", R"({"goes": true, "at": )" + seconds_ago(1) + "}");
  await_none("after", R"({"goes": true})");
  change([&](engine::Transaction& transaction) {
    return store_->database("test")->collection("after")->drop_index(transaction, "ttl");
  });
  index("second", R"({"key": {"at": 1}, "expireAfterSeconds": 0})");
  insert("after", R"({"at": )" + seconds_ago(1) + "}");
  // The monitor visits collections in the order of their names, so it visits `second` after
  // `after`.
  insert("second", R"({"goes": true, "at": )" + seconds_ago(1) + "}");
  await_none("second", R"({"goes": true})");
  EXPECT_EQ(count("after", "{}"), 1);
}

class TtlMonitorDamageTest : public DamagedStore {
 protected:
  void open_with_passes() {
    OpenOptions options;
    options.expiry_interval = std::chrono::milliseconds(5);
    Result<std::unique_ptr<engine::Store>> opened = local::open(folder_ / "store", options);
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    store_ = std::move(opened).value();
  }
  int64_t count(const std::string& name) {
    const auto snapshot = store_->snapshot();
    return *store_->database("test")->collection(name)->count(**snapshot, bson::View());
  }
};

// A damaged document stays, because its removal needs its contents. It does not prevent the removal
// of other documents of its collection or of other collections.
TEST_F(TtlMonitorDamageTest, DamagedDocument_KeepsNoOthers) {
  {
    const auto transaction = store_->begin();
    for (const char* const name : {"c", "d"}) {
      const auto collection = store_->database("test")->collection(name);
      const auto index = engine::IndexDefinition::parse(
          doc(R"({"key": {"at": 1}, "name": "at", "expireAfterSeconds": 0})"));
      ASSERT_TRUE(index);
      ASSERT_TRUE(collection->create_index(**transaction, *index));
      for (int id = 6; id <= 8; ++id) {
        bson::Builder document;
        document.append("_id", id).append("at", bson::Date{1000 * int64_t{id}});
        ASSERT_TRUE(collection->insert(**transaction, std::move(document).finish()));
      }
    }
    ASSERT_TRUE((*transaction)->commit());
  }
  edit_record(6, [](std::string& value) { value[value.size() - 3] ^= 4; });
  store_.reset();
  open_with_passes();
  for (int i = 0; i < 2'000 && (count("d") > 0 || count("c") > kDocuments + 1); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(count("d"), 0);
  EXPECT_EQ(count("c"), kDocuments + 1);
}

}  // namespace
}  // namespace gridmount::local
