// Goal: a store that cannot be opened gets one line that says why. gridstore uses a specific exit
// status, and gridfiles 1, as mongofiles does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "command_line/exit_status.h"
#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Opening : public StoreTest {
 protected:
  Outcome gridstore(const std::vector<std::string>& arguments) const {
    return run({GRIDSTORE, arguments, folder(), "", {}});
  }
  void expect_failure(ExitStatus status, const std::string& word) const {
    Outcome outcome = gridstore_check();
    EXPECT_EQ(outcome.status, static_cast<int>(status)) << outcome.err << outcome.out;
    EXPECT_THAT(outcome.err, StartsWith("gridstore: "));
    EXPECT_THAT(outcome.err, HasSubstr(word));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    outcome = gridfiles({"list"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(without_times(outcome.err), StartsWith("Failed: "));
    EXPECT_EQ(outcome.out, "");
  }
};

TEST_F(Opening, NoStore_AdvisesOnlyWhatMakesOne) {
  expect_failure(ExitStatus::kStoreNotFound, "store.gfs");
  for (const char* command : {"check", "compact", "stats", "dump", "upgrade"}) {
    const Outcome outcome = gridstore({command, "store.gfs"});
    EXPECT_EQ(outcome.status, static_cast<int>(ExitStatus::kStoreNotFound)) << command;
    EXPECT_THAT(outcome.err, HasSubstr("there is no store at store.gfs")) << command;
    EXPECT_THAT(outcome.err, Not(HasSubstr("--create"))) << command;
  }
  EXPECT_THAT(gridstore({"serve", "store.gfs"}).err,
              HasSubstr("there is no store at store.gfs; 'gridstore serve --create' makes one"));
}

TEST_F(Opening, NoStore_CheckSaysWhatToGive) {
  std::filesystem::create_directory(folder() / "empty");
  std::filesystem::create_directory(folder() / "other");
  write_file("other/picture.jpg", "x");
  for (const char* where : {"absent", "empty", "other"}) {
    for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--repair"}}) {
      std::vector<std::string> arguments = {"check", where};
      arguments.insert(arguments.end(), options.begin(), options.end());
      EXPECT_THAT(gridstore(arguments).err,
                  HasSubstr("; give the folder of a store, which has a file 'format'"))
          << where;
    }
  }
}

TEST_F(Opening, ConnectionString_IsNoFolder) {
  const std::string uri = "mongodb://user:secret@localhost/test";
  for (const char* command : {"backup", "compact", "serve", "upgrade"}) {
    const Outcome outcome = gridstore({command, uri, "copy"});
    EXPECT_EQ(outcome.status, static_cast<int>(ExitStatus::kFailure)) << command;
    EXPECT_THAT(outcome.err,
                StartsWith("gridstore: STORE: a connection string is not a store folder"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("secret"))) << command;
  }
  create_store();
  EXPECT_THAT(gridstore({"backup", "store.gfs", uri}).err, StartsWith("gridstore: COPY: "));
  EXPECT_FALSE(exists("mongodb:"));
}

TEST_F(Opening, WrongDatabaseName_IsRefusedFirst) {
  write_file("dump/test/a.bson", "");
  for (const char* name : {"", "bad/name"}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"check"}, {"dump"}, {"restore", "--create"}}) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"store.gfs", "--db", name});
      const Outcome outcome = gridstore(arguments);
      EXPECT_EQ(outcome.status, static_cast<int>(ExitStatus::kFailure)) << command[0];
      EXPECT_THAT(outcome.err, StartsWith("gridstore: --db: Invalid database name")) << command[0];
      EXPECT_FALSE(exists("store.gfs"));
    }
  }
}

TEST_F(Opening, FileInsteadOfAFolder) {
  write_file("store.gfs", "text");
  expect_failure(ExitStatus::kNotAStore, "store.gfs");
}

TEST_F(Opening, FolderOfSomethingElse) {
  write_file("store.gfs/readme.txt", "text");
  expect_failure(ExitStatus::kNotAStore, "store.gfs");
  // --create must not make a store for other commands.
  EXPECT_EQ(gridfiles({"--create", "list"}).status, 1);
}

TEST_F(Opening, DataFileWithoutOwner) {
  write_file("store.gfs/data.mdb", "another program's");
  expect_failure(ExitStatus::kNotAStore, "store.gfs");
}

TEST_F(Opening, StoreInUse_NamesTheProcess) {
  create_store();
  with_store([&](engine::Store&) {
    const std::string pid = "process " + std::to_string(getpid());
    const Outcome served = run({GRIDSTORE, {"serve", "store.gfs"}, folder(), "", {}});
    EXPECT_EQ(served.status, static_cast<int>(ExitStatus::kStoreLocked));
    EXPECT_THAT(served.err, HasSubstr("is in use by " + pid));
    const Outcome listed = gridfiles({"list"});
    EXPECT_EQ(listed.status, 1);
    EXPECT_THAT(listed.err, HasSubstr("is in use by " + pid));
    // A command that only reads, and can do so beside the owner, says that it does.
    const Outcome checked = gridstore_check();
    EXPECT_EQ(checked.status, 0);
    EXPECT_THAT(checked.err, HasSubstr(pid + " on "));
  });
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(Opening, StoreClosedMeanwhile_IsWaitedFor) {
  create_store();
  auto store = must(local::open(store_path(), {}));
  Invocation serve{GRIDSTORE, {"serve", "store.gfs"}, folder(), "", [&](pid_t pid) {
                     usleep(500000);
                     store.reset();
                     const auto socket = store_path() / "gridmount.sock";
                     for (int i = 0; i < 1000 && !std::filesystem::exists(socket); ++i) {
                       usleep(10000);
                     }
                     kill(pid, SIGTERM);
                   }};
  EXPECT_EQ(run(serve).status, 0);
}

TEST_F(Opening, FormatMissing_SaysWhatItWas) {
  create_store();
  std::filesystem::remove(store_path() / "format");
  expect_failure(ExitStatus::kStoreDamaged, "its file 'format' is missing");
  write_file("store.gfs/format", "gridmount store\nformat 3\n");
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(Opening, MakingInterrupted_SaysWhatMakesItAgain) {
  create_store();
  for (const char* name : {"format", "reserve"}) std::filesystem::remove(store_path() / name);
  expect_failure(ExitStatus::kStoreNotFound, "gridstore backup or restore");
}

TEST_F(Opening, NoSocketInItsPlace_IsSaid) {
  create_store();
  write_file("store.gfs/gridmount.sock", "");
  EXPECT_EQ(gridfiles({"list"}).status, 0);
  const Outcome served = run({GRIDSTORE, {"serve", "store.gfs"}, folder(), "", {}});
  EXPECT_EQ(served.status, static_cast<int>(ExitStatus::kFailure));
  EXPECT_THAT(served.err, HasSubstr("gridmount.sock is not a socket"));
  with_store([&](engine::Store&) {
    EXPECT_THAT(gridfiles({"list"}).err, HasSubstr("a file that is not a socket"));
  });
}

TEST_F(Opening, DataFileOfGarbage) {
  create_store();
  auto size = std::filesystem::file_size(store_path() / "data.mdb");
  write_file("store.gfs/data.mdb", pattern_bytes(std::max<size_t>(size, 8192)));
  Outcome outcome = gridstore_check();
  EXPECT_TRUE(outcome.status == static_cast<int>(ExitStatus::kStoreDamaged) ||
              outcome.status == static_cast<int>(ExitStatus::kNotAStore))
      << outcome.status << outcome.err;
  EXPECT_THAT(outcome.err, StartsWith("gridstore: "));
}

TEST_F(Opening, NoPermission) {
  if (geteuid() != 0) {
    create_store();
    ASSERT_EQ(chmod(store_path().c_str(), 0), 0);
    expect_failure(ExitStatus::kPermissionDenied, "store.gfs");
    ASSERT_EQ(chmod(store_path().c_str(), 0700), 0);
    return;
  }
  // If this process is root, another user has to try.
  create_store();
  ASSERT_EQ(chmod(store_path().c_str(), 0700), 0);
  ASSERT_EQ(chmod(folder().c_str(), 0755), 0);
  Outcome outcome =
      run({"/usr/bin/setpriv",
           {"--reuid=65534", "--regid=65534", "--clear-groups", GRIDSTORE, "check", "store.gfs"},
           folder(),
           "",
           {}});
  EXPECT_EQ(outcome.status, static_cast<int>(ExitStatus::kPermissionDenied)) << outcome.err;
  EXPECT_THAT(outcome.err, StartsWith("gridstore: "));
}

TEST_F(Opening, WrongUsageOfGridstore) {
  const std::pair<std::vector<std::string>, std::string> kLines[] = {
      {{}, "no command given (see gridstore --help)"},
      {{"--frob"}, "unknown option '--frob' (see gridstore --help)"},
      {{"frob", "x"}, "unknown command 'frob' (see gridstore --help)"},
      {{"check"}, "STORE is required (see gridstore check --help)"},
      {{"check", "--frob"}, "unknown option '--frob' (see gridstore check --help)"},
      {{"check", "store.gfs", "--frob"}, "unknown option '--frob' (see gridstore check --help)"},
      {{"check", "store.gfs", "x"}, "unexpected argument 'x' (see gridstore check --help)"},
  };
  for (const auto& [arguments, line] : kLines) {
    const Outcome outcome = gridstore(arguments);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, "gridstore: " + line + "\n");
    EXPECT_EQ(outcome.out, "");
  }
  Outcome help = run({GRIDSTORE, {"--help"}, folder(), "", {}});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("Exit status:"));
  EXPECT_THAT(run({GRIDSTORE, {"--version"}, folder(), "", {}}).out,
              StartsWith("gridstore version: "));
}

}  // namespace
}  // namespace gridmount::tests
