// Goal: gridstore check and stats work on a store that a server owns. They read one moment of it,
// find damage, do not report an upload in progress, and leave nothing behind when killed. gridfiles
// reaches such a store over a connection.
// Method: the built programs side by side, and raw messages to the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "engine/bson/json.h"
#include "tests/engine/wire/server/raw_client.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using wire::RawClient;

class GridstoreInUse : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
    with_bucket([](gridfs::Bucket& bucket) { upload(bucket, "whole", pattern_bytes(5000)); });
  }

  // Runs `work` while a server owns the store. The server must end without an error afterwards.
  void while_served(const std::function<void(RawClient&)>& work) const {
    const Outcome outcome =
        run({GRIDSTORE, {"serve", store_path().string()}, folder(), "", [&](pid_t pid) {
               RawClient client = connect();
               ASSERT_TRUE(client.is_connected());
               work(client);
               ::kill(pid, SIGTERM);
             }});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }

  RawClient connect() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (;;) {
      RawClient client = RawClient::to_socket_file(store_path());
      if (client.is_connected() || std::chrono::steady_clock::now() > deadline) return client;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  static void insert(RawClient& client, const std::string& collection,
                     const bson::Document& document) {
    bson::Builder builder;
    builder.append("insert", collection).open_array("documents").push(document.view()).close();
    builder.append("$db", "test");
    const auto reply = client.ask(std::move(builder).finish());
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->ok(), 1);
    EXPECT_FALSE(reply->document.find("writeErrors").has_value());
  }

  // Returns a chunk of a file without a files document.
  static bson::Document chunk(bson::ObjectId id, std::string_view files_id) {
    static constexpr std::array<uint8_t, 3> kBytes = {1, 2, 3};
    bson::Builder builder;
    builder.append("_id", id).append("files_id", files_id).append("n", int32_t{0});
    builder.append("data", bson::Binary{0, kBytes.data(), kBytes.size()});
    return std::move(builder).finish();
  }

  Outcome gridstore_stats(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {"stats", store_path().string()});
    return run({GRIDSTORE, std::move(arguments), folder(), "", {}});
  }
};

TEST_F(GridstoreInUse, Check_OfASoundStore_FindsNothing) {
  while_served([&](RawClient& client) {
    insert(client, "things", document("_id", int32_t{1}));
    const Outcome outcome = gridstore_check();
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 file,"), HasSubstr("no problems")));
    EXPECT_THAT(outcome.err, HasSubstr("is using the store"));
  });
}

TEST_F(GridstoreInUse, Check_WhileDocumentsAreWritten_FindsNothing) {
  while_served([&](RawClient& client) {
    std::atomic<bool> stop = false;
    int32_t written = 0;
    std::thread writer([&] {
      const std::string padding(2000, 'x');
      for (; !stop; ++written) {
        bson::Builder builder;
        builder.append("_id", written).append("padding", padding);
        insert(client, "things", std::move(builder).finish());
      }
    });
    for (int i = 0; i < 5; ++i) {
      const Outcome outcome = gridstore_check();
      EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    }
    stop = true;
    writer.join();
    EXPECT_GT(written, 0);
  });
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridstoreInUse, ChunksWithoutAFile_AreAnUploadUnderWayOrOrphans) {
  bson::ObjectId::Bytes old = bson::ObjectId::generate().bytes();
  old[0] = 1;  // an id from the year 1970
  while_served([&](RawClient& client) {
    insert(client, "fs.chunks", chunk(bson::ObjectId::generate(), "young"));
    const Outcome young = gridstore_check();
    EXPECT_EQ(young.status, 0) << young.out;
    EXPECT_THAT(young.out, AllOf(HasSubstr("notice: test.fs: file \"young\""),
                                 HasSubstr("an upload that has not ended")));
    insert(client, "fs.chunks", chunk(bson::ObjectId(old), "old"));
    const Outcome both = gridstore_check();
    EXPECT_EQ(both.status, 2) << both.out;
    EXPECT_THAT(both.out, HasSubstr("file \"old\": 1 orphan chunk: there is no files document"));
  });
  // Nobody can upload to a store that nobody has open.
  EXPECT_THAT(gridstore_check().out, HasSubstr("file \"young\": 1 orphan chunk"));
}

TEST_F(GridstoreInUse, Stats_TellOwnerAndContents) {
  while_served([&](RawClient& client) {
    insert(client, "things", document("_id", int32_t{1}));
    const Outcome text = gridstore_stats();
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_THAT(text.out, AllOf(HasSubstr("in use by   process "), HasSubstr("database test: "),
                                HasSubstr("things")));
    const Outcome json = gridstore_stats({"--json"});
    EXPECT_EQ(json.status, 0) << json.err;
    const bson::Document parsed = must(bson::document_from_json(json.out));
    const bson::View stats = parsed.view();
    EXPECT_GT(stats["owner"].as_document()["pid"].integral().value_or(0), 1);
    EXPECT_GT(stats["fileBytes"].integral().value_or(0), 0);
    const bson::View database = (*stats["databases"].as_document().begin()).value.as_document();
    EXPECT_EQ(database["db"].as_string(), "test");
    EXPECT_GE(database["objects"].integral().value_or(0), 2);
  });
  EXPECT_THAT(gridstore_stats().out, HasSubstr("in use by   nobody"));
}

TEST_F(GridstoreInUse, Reader_ThatIsKilled_HoldsNoPagesBack) {
  const std::string padding(60'000, 'x');
  // Reading this file takes longer than the readers live.
  with_bucket([](gridfs::Bucket& bucket) { upload(bucket, "large", pattern_bytes(64 << 20)); });
  while_served([&](RawClient& client) {
    for (int i = 0; i < 10; ++i) {
      const pid_t reader = ::fork();
      if (reader == 0) {
        ::close(STDERR_FILENO);
        ::execl(GRIDSTORE, "gridstore", "check", store_path().c_str(), nullptr);
        ::_exit(127);
      }
      ASSERT_GT(reader, 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(10 + 5 * i));
      ::kill(reader, SIGKILL);
      ASSERT_EQ(::waitpid(reader, nullptr, 0), reader);
    }
    const auto overwrite = [&](int rounds) {
      for (int32_t round = 0; round < rounds; ++round) {
        bson::Builder builder;
        builder.append("update", "things").open_array("updates").push_open_document();
        builder.open_document("q").append("_id", int32_t{1}).close();
        builder.open_document("u").append("_id", int32_t{1});
        builder.append("round", round).append("padding", padding).close();
        builder.append("upsert", true).close().close().append("$db", "test");
        builder.open_document("writeConcern").append("j", true).close();
        const auto reply = client.ask(std::move(builder).finish());
        ASSERT_TRUE(reply);
        ASSERT_EQ(reply->ok(), 1);
      }
    };
    overwrite(20);
    const auto bytes = std::filesystem::file_size(store_path() / "data.mdb");
    overwrite(600);  // 36 MB, which a held snapshot would keep
    EXPECT_LT(std::filesystem::file_size(store_path() / "data.mdb"), bytes + 10'000'000);
  });
}

// A run over a connection ends when its work is done. A run once waited half a second for a thread
// of libmongoc.
TEST_F(GridstoreInUse, Gridfiles_OverAConnection_EndsAtOnce) {
  while_served([&](RawClient&) {
    auto least = std::chrono::milliseconds(10'000);
    for (int i = 0; i < 10; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const Outcome outcome = gridfiles({"list"});
      least = std::min(least, std::chrono::duration_cast<std::chrono::milliseconds>(
                                  std::chrono::steady_clock::now() - begin));
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr("whole\t5000"));
    }
    EXPECT_LT(least.count(), 400);
  });
}

}  // namespace
}  // namespace gridmount::tests
