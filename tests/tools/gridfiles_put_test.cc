// Goal: put and put_id of gridfiles produce the right texts, exit statuses and bucket contents. The
// texts are mongofiles' own, so each is compared whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GridfilesPut : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    create_store();
  }

  // Returns name and length of each file, as list prints them.
  std::string listed() const { return gridfiles({"list"}).out; }

  int64_t chunk_count() const {
    int64_t count = 0;
    with_bucket([&](gridfs::Bucket& bucket) {
      auto snapshot = must(bucket.store().snapshot());
      count = must(bucket.chunks().count(*snapshot, bson::View()));
    });
    return count;
  }
};

TEST_F(GridfilesPut, TwoFiles_AreAddedInOrder) {
  write_file("a.txt", "hello");
  write_file("b.txt", "");
  Outcome outcome = gridfiles({"put", "a.txt", "b.txt"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(without_times(outcome.err), std::string(kConnected) +
                                            "adding gridFile: `a.txt`\n\n"
                                            "added gridFile: `a.txt`\n\n"
                                            "adding gridFile: `b.txt`\n\n"
                                            "added gridFile: `b.txt`\n\n");
  EXPECT_EQ(listed(), "a.txt\t5\nb.txt\t0\n");
}

TEST_F(GridfilesPut, MissingFile_MakesNoStore) {
  const std::vector<std::string> kCommands[] = {
      {"--create", "--store", "new.gfs", "put", "nofile"},
      {"--create", "--store", "new.gfs", "--local", "nofile", "put", "name"},
  };
  for (const std::vector<std::string>& command : kCommands) {
    const Outcome outcome = gridfiles_plain(command);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(without_times(outcome.err),
              "Failed: error while opening local gridFile `nofile`: open nofile: no such file or "
              "directory\n");
    EXPECT_FALSE(exists("new.gfs"));
  }
}

TEST_F(GridfilesPut, MissingFile_FailsAndEarlierFilesStay) {
  write_file("a.txt", "hello");
  Outcome outcome = gridfiles({"put", "a.txt", "nofile", "c.txt"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) +
                "adding gridFile: `a.txt`\n\n"
                "added gridFile: `a.txt`\n\n"
                "adding gridFile: `nofile`\n\n"
                "error adding gridFile: error while opening local gridFile `nofile`: open nofile: "
                "no such file or directory\n\n"
                "Failed: error while opening local gridFile `nofile`: open nofile: no such file or "
                "directory\n");
  EXPECT_EQ(listed(), "a.txt\t5\n");
}

TEST_F(GridfilesPut, Folder_FailsAndLeavesNothing) {
  std::filesystem::create_directory(folder() / "dir");
  Outcome outcome = gridfiles({"put", "dir"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) +
                "adding gridFile: `dir`\n\n"
                "error adding gridFile: error while storing `dir` into GridFS: read dir: is a "
                "directory\n\n"
                "Failed: error while storing `dir` into GridFS: read dir: is a directory\n");
  EXPECT_EQ(listed(), "");
  EXPECT_EQ(chunk_count(), 0);
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesPut, NameIsStoredAsTyped) {
  write_file("sub/a.txt", "x");
  EXPECT_EQ(gridfiles({"put", "./sub/../sub/a.txt"}).status, 0);
  EXPECT_EQ(listed(), "./sub/../sub/a.txt\t1\n");
}

TEST_F(GridfilesPut, LocalNamesTheSource) {
  write_file("source.bin", "12345678");
  for (const auto& form :
       std::vector<std::vector<std::string>>{{"--local", "source.bin", "put", "name"},
                                             {"put", "name", "--local=source.bin"},
                                             {"-l", "source.bin", "put", "name"},
                                             {"-lsource.bin", "put", "name"},
                                             {"put", "-l=source.bin", "name"},
                                             {"put", "-rl", "source.bin", "name"}}) {
    Outcome outcome = gridfiles(form);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  }
  // The last upload replaced those before it.
  EXPECT_EQ(listed(), "name\t8\n");
}

TEST_F(GridfilesPut, StandardInput) {
  std::string bytes = pattern_bytes(700000);
  Outcome outcome = gridfiles({"--local", "-", "put", "piped"}, bytes);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  outcome = gridfiles({"put", "-"}, "abc");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(listed(), "piped\t700000\n-\t3\n");
  EXPECT_EQ(gridfiles({"--local", "-", "get", "piped"}).out, bytes);
}

TEST_F(GridfilesPut, ManyChunks_RoundTripAndCheckClean) {
  std::string bytes = pattern_bytes(3 * 1024 * 1024 + 17);
  write_file("big", bytes);
  EXPECT_EQ(gridfiles({"put", "big"}).status, 0);
  EXPECT_EQ(gridfiles({"--local", "back", "get", "big"}).status, 0);
  EXPECT_EQ(read_file("back"), bytes);
  EXPECT_EQ(chunk_count(), 13);
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesPut, Replace_RemovesTheOlderOnesAfterwards) {
  write_file("a", "old");
  EXPECT_EQ(gridfiles({"put", "a"}).status, 0);
  EXPECT_EQ(gridfiles({"put", "a"}).status, 0);
  write_file("other", "stays");
  EXPECT_EQ(gridfiles({"put", "other"}).status, 0);
  write_file("a", "newer");
  Outcome outcome = gridfiles({"--replace", "put", "a"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(without_times(outcome.err),
            std::string(kConnected) +
                "adding gridFile: `a`\n\n"
                "successfully deleted all instances of `a` from GridFS\n\n"
                "added gridFile: `a`\n\n");
  EXPECT_EQ(listed(), "other\t5\na\t5\n");
  EXPECT_EQ(chunk_count(), 2);
}

TEST_F(GridfilesPut, ReplaceThatFails_KeepsTheOldFile) {
  write_file("a", "old");
  EXPECT_EQ(gridfiles({"put", "a"}).status, 0);
  std::filesystem::create_directory(folder() / "dir");
  EXPECT_EQ(gridfiles({"--replace", "--local", "dir", "put", "a"}).status, 1);
  EXPECT_EQ(gridfiles({"--replace", "--local", "missing", "put", "a"}).status, 1);
  EXPECT_EQ(listed(), "a\t3\n");
  EXPECT_EQ(gridfiles({"--local", "-", "get", "a"}).out, "old");
}

TEST_F(GridfilesPut, TypeIsKeptInMetadata) {
  write_file("page", "x");
  EXPECT_EQ(gridfiles({"--type", "text/html", "put", "page"}).status, 0);
  EXPECT_EQ(gridfiles({"put", "page", "-t", "image/png"}).status, 0);
  with_bucket([](gridfs::Bucket& bucket) {
    auto snapshot = must(bucket.store().snapshot());
    for (const char* type : {"text/html", "image/png"}) {
      EXPECT_EQ(must(bucket.files().count(*snapshot, document("metadata.contentType", type))), 1);
    }
  });
}

TEST_F(GridfilesPut, DatabaseAndPrefixChooseTheBucket) {
  write_file("a", "x");
  EXPECT_EQ(gridfiles({"-d", "media", "--prefix", "photos", "put", "a"}).status, 0);
  EXPECT_EQ(listed(), "");
  EXPECT_EQ(gridfiles({"-dmedia", "--prefix=photos", "list"}).out, "a\t1\n");
  EXPECT_EQ(gridfiles({"-d=media", "list"}).out, "");
  // The last option counts.
  EXPECT_EQ(gridfiles({"--db", "other", "--db=media", "--prefix", "photos", "list"}).out, "a\t1\n");
}

TEST_F(GridfilesPut, BadNamesOfDatabaseAndPrefix_AreRefused) {
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"--db", "a b"}, {"--db", std::string(64, 'x')}, {"--prefix", "a$b"}}) {
    Outcome outcome = gridfiles({option, value, "list"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(without_times(outcome.err), ::testing::StartsWith("Failed: ")) << value;
  }
}

TEST_F(GridfilesPut, PutId_StoresUnderThatId) {
  write_file("a", "one");
  for (const std::string id :
       {"plain text", R"({"$oid":"65a000000000000000000001"})", R"({"$numberLong":"7"})",
        R"({"$uuid":"c8edabc3-f738-4ca3-b68d-ab92a91478a3"})", R"({"year":2024,"n":1})",
        R"({"$date":"2024-01-01T00:00:00Z"})"}) {
    Outcome outcome = gridfiles({"put_id", "a", id});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    outcome = gridfiles({"--local", "-", "get_id", id});
    EXPECT_EQ(outcome.out, "one") << id << outcome.err;
  }
  EXPECT_EQ(without_times(gridfiles({"put_id", "a", "x"}).err),
            std::string(kConnected) + "adding gridFile: `a`\n\nadded gridFile: `a`\n\n");
}

TEST_F(GridfilesPut, PutIdThatExists_FailsAndHarmsNothing) {
  std::string bytes = pattern_bytes(600000);
  write_file("a", bytes);
  write_file("b", pattern_bytes(900000));
  write_file("empty", "");
  EXPECT_EQ(gridfiles({"put_id", "a", "the id"}).status, 0);
  for (const char* name : {"b", "empty"}) {
    Outcome outcome = gridfiles({"put_id", name, "the id"});
    EXPECT_EQ(outcome.status, 1) << name;
    EXPECT_THAT(outcome.err, HasSubstr("error adding gridFile: ")) << name;
    EXPECT_THAT(outcome.err, HasSubstr("Failed: ")) << name;
  }
  EXPECT_EQ(listed(), "a\t600000\n");
  EXPECT_EQ(gridfiles({"--local", "-", "get", "a"}).out, bytes);
  EXPECT_EQ(gridstore_check().status, 0) << gridstore_check().out;
}

TEST_F(GridfilesPut, IdThatIsNoJson_IsRefused) {
  write_file("a", "x");
  Outcome outcome = gridfiles({"put_id", "a", "{"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(without_times(outcome.err),
              HasSubstr("Failed: error parsing id (`{\"_id\":{}`) as Extended JSON: "));
  EXPECT_EQ(listed(), "");
}

TEST_F(GridfilesPut, WriteConcern_IsValidated) {
  write_file("a", "x");
  for (const char* good :
       {"majority", "1", "0", "{w: 1}", "{w: 'majority', j: true, wtimeout: 500}",
        R"({"w": 1, "j": true})", "{fsync: true}", ""}) {
    Outcome outcome = gridfiles({"--writeConcern", good, "put", "a"});
    EXPECT_EQ(outcome.status, 0) << good << ": " << outcome.err;
  }
  for (const auto& [bad, message] : std::vector<std::pair<std::string, std::string>>{
           {"-1", "expected argument for flag `--writeConcern', but got option `-1'"},
           {"{w: -1}", "error parsing --writeConcern: invalid 'w' argument: -1"},
           {"{wtimeout: 'x'}", "error parsing --writeConcern: invalid 'wtimeout' argument: \"x\""},
           {"{journal: true}",
            "error parsing --writeConcern: unknown field 'journal'; known are w, j, fsync and "
            "wtimeout"}}) {
    Outcome outcome = gridfiles({"--writeConcern", bad, "put", "a"});
    EXPECT_EQ(outcome.status, 1) << bad;
    EXPECT_EQ(without_times(outcome.err), "error parsing command line options: " + message +
                                              "\ntry 'gridfiles --help' for more information\n");
  }
  for (const auto& [bad, message] : std::vector<std::pair<std::string, std::string>>{
           {"2", "cannot use 'w' > 1 when a host is not replicated"},
           {"tag", "cannot use non-majority 'w' mode tag when a host is not replicated"}}) {
    Outcome outcome = gridfiles({"--writeConcern", bad, "put", "a"});
    EXPECT_EQ(outcome.status, 1) << bad;
    EXPECT_EQ(without_times(outcome.err), "Failed: " + message + "\n");
  }
}

TEST_F(GridfilesPut, Interrupted_TakesTheUploadBack) {
  for (auto [signal_number, name] :
       {std::pair(SIGINT, "interrupt"), std::pair(SIGTERM, "terminated")}) {
    Invocation interrupted{GRIDFILES,
                           {"--store", "store.gfs", "--local", "-", "put", "half"},
                           folder(),
                           pattern_bytes(5 * 1024 * 1024),
                           [number = signal_number](pid_t pid) {
                             // The program has read all input or finds it in the pipe, and then
                             // waits for more.
                             usleep(300000);
                             ::kill(pid, number);
                             usleep(300000);
                           }};
    Outcome outcome = run(interrupted);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(without_times(outcome.err), std::string(kConnected) +
                                              "adding gridFile: `half`\n\nsignal '" + name +
                                              "' received; forcefully terminating\n");
    EXPECT_EQ(listed(), "");
    EXPECT_EQ(chunk_count(), 0);
    EXPECT_EQ(gridstore_check().status, 0);
  }
}

TEST_F(GridfilesPut, Killed_LeavesNothingThatStays) {
  write_file("a", "before");
  EXPECT_EQ(gridfiles({"put", "a"}).status, 0);
  Invocation killed{GRIDFILES,
                    {"--store", "store.gfs", "--local", "-", "put_id", "half", "the id"},
                    folder(),
                    pattern_bytes(20 * 1024 * 1024),
                    [](pid_t pid) {
                      usleep(300000);
                      ::kill(pid, SIGKILL);
                    }};
  EXPECT_EQ(run(killed).status, -SIGKILL);
  EXPECT_EQ(listed(), "a\t6\n");
  Outcome check = gridstore_check();
  EXPECT_EQ(check.status, 0) << check.out;
  EXPECT_THAT(check.out,
              HasSubstr("notice: test.fs: file \"the id\": was deleted or not completed"));
  // The id can be used again.
  EXPECT_EQ(gridfiles({"put_id", "a", "the id"}).status, 0);
  EXPECT_EQ(chunk_count(), 2);
}

TEST_F(GridfilesPut, MachineWentDown_StoreIsRecoveredByReadingToo) {
  write_file("a", "durable");
  EXPECT_EQ(gridfiles({"put", "a"}).status, 0);
  Invocation killed{GRIDFILES,
                    {"--store", "store.gfs", "--local", "-", "put", "half"},
                    folder(),
                    pattern_bytes(20 * 1024 * 1024),
                    [](pid_t pid) {
                      usleep(300000);
                      ::kill(pid, SIGKILL);
                    }};
  EXPECT_EQ(run(killed).status, -SIGKILL);
  // Simulates that the machine was rebooted since.
  std::string owner = read_file("store.gfs/owner");
  size_t boot = owner.find("\nboot ");
  ASSERT_NE(boot, std::string::npos) << owner;
  char& digit = owner[boot + 6];
  digit = digit == '0' ? '1' : '0';
  write_file("store.gfs/owner", owner);
  local::OpenOptions for_reading;
  for_reading.read_only = true;
  auto unrecovered = local::open(store_path(), for_reading);
  ASSERT_FALSE(unrecovered) << "nothing had to be put back, so this test shows nothing";
  ASSERT_EQ(unrecovered.error().code(), ErrorCode::kStoreReadOnly);
  Outcome outcome = gridfiles({"list"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "a\t7\n");
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesPut, Quiet_SilencesStderr) {
  write_file("a", "x");
  Outcome outcome = gridfiles({"--quiet", "put", "a"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  outcome = gridfiles({"--quiet", "put", "missing"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(gridfiles({"--quiet", "list"}).out, "a\t1\n");
}

// A killed process would leave such a file behind, and a later process with the same pid would
// complain about it on stderr.
TEST_F(GridfilesPut, LeavesNoSharedMemory) {
  bool shares = true;
  Outcome outcome = run({GRIDFILES,
                         {"--store", "store.gfs", "--local", "-", "put", "piped"},
                         folder(),
                         pattern_bytes(1 << 20),
                         [&](pid_t pid) {
                           shares =
                               std::filesystem::exists("/dev/shm/mongoc-" + std::to_string(pid));
                         }});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_FALSE(shares);
}

}  // namespace
}  // namespace gridmount::tests
