// Goal: the command line of gridfiles: wrong ones get mongofiles' messages, and right ones open the
// store they name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/tools/store_test.h"

namespace gridmount::tests {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kTry = "try 'gridfiles --help' for more information\n";
const std::string kHint =
    " (If you are trying to specify a connection string, it must begin with mongodb:// or "
    "mongodb+srv://)\n";

class GridfilesOptions : public StoreTest {};

struct Wrong {
  std::vector<std::string> arguments;
  std::string message;  // with its newline, without the line that recommends --help
};

TEST_F(GridfilesOptions, WrongCommandLines_AreRefusedInMongofilesWords) {
  const std::string kParse = "error parsing command line options: ";
  for (const Wrong& wrong : std::vector<Wrong>{
           {{"--frob", "list"}, kParse + "unknown option `frob`\n"},
           {{"--frob=3", "list"}, kParse + "unknown option `frob`\n"},
           {{"-z", "list"}, kParse + "unknown option `z`\n"},
           {{"-rz", "list"}, kParse + "unknown option `rz`\n"},
           {{"list", "--local"}, kParse + "expected argument for flag `-l, --local'\n"},
           {{"put", "a", "-rlfile"}, kParse + "expected argument for flag `-l, --local'\n"},
           {{"put", "a", "--local", "--replace"},
            kParse + "expected argument for flag `-l, --local', but got option `--replace'\n"},
           {{"--replace=yes", "put", "a"},
            kParse + "bool flag `-r, --replace' cannot have an argument\n"},
           {{"-r=yes", "put", "a"}, kParse + "bool flag `-r, --replace' cannot have an argument\n"},
           {{}, "no command specified\n"},
           {{"frob"}, "`frob` is not a valid command" + kHint},
           {{"media.gfs", "list"},
            "`media.gfs` is not a valid command; a store is given with --store STORE\n"},
           {{"put"}, "`put` argument missing\n"},
           {{"put", ""}, "`put` argument missing\n"},
           {{"get"}, "`get` argument missing\n"},
           {{"get_id"}, "`get_id` argument missing\n"},
           {{"get_regex"}, "`get_regex` argument missing\n"},
           {{"search"}, "`search` argument missing\n"},
           {{"delete"}, "`delete` argument missing\n"},
           {{"delete_id"}, "`delete_id` argument missing\n"},
           {{"put_id", "a"}, "`put_id` argument(s) missing\n"},
           {{"list", "a", "b"}, "too many non-URI positional arguments" + kHint},
           {{"put_id", "a", "b", "c"}, "too many non-URI positional arguments" + kHint},
           {{"get_id", "a", "b"}, "too many non-URI positional arguments" + kHint},
           {{"get_regex", "a", "b"}, "too many non-URI positional arguments" + kHint},
           {{"search", "a", "b"}, "too many non-URI positional arguments" + kHint},
           {{"delete", "a", "b"}, "too many non-URI positional arguments" + kHint},
           {{"delete_id", "a", "b"}, "too many non-URI positional arguments" + kHint},
           {{"--prefix", "", "list"}, "--prefix cannot be blank\n"},
       }) {
    Outcome outcome = gridfiles(wrong.arguments);
    EXPECT_EQ(outcome.status, 1) << wrong.message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(without_times(outcome.err), wrong.message + kTry);
  }
}

TEST_F(GridfilesOptions, Connections_ExcludeAStore) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--uri", "mongodb://localhost", "list"},
                                             {"--host", "localhost", "list"},
                                             {"-h", "localhost", "list"},
                                             {"--port=27017", "list"},
                                             {"-u", "me", "list"},
                                             {"-psecret", "list"},
                                             {"--ssl", "list"},
                                             {"--readPreference", "nearest", "list"},
                                             {"mongodb://localhost", "list"},
                                             {"list", "mongodb+srv://example.org"}}) {
    Outcome outcome = gridfiles(arguments);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(without_times(outcome.err), StartsWith("error parsing command line options: "));
    EXPECT_THAT(outcome.err, HasSubstr("cannot specify --store and a connection to a server"));
    EXPECT_THAT(outcome.err, EndsWith(kTry));
  }
}

TEST_F(GridfilesOptions, WhatNoConnectionHasHere_IsRefusedNotIgnored) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--sslCRLFile", "f", "list"},
                                             {"--sslFIPSMode", "list"},
                                             {"--gssapiHostName", "h", "list"}}) {
    Outcome outcome = gridfiles_plain(arguments);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, HasSubstr("is not supported"));
  }
}

TEST_F(GridfilesOptions, ServerThatIsNotThere_IsAFailure) {
  Outcome outcome =
      gridfiles_plain({"--host", "localhost:1", "--serverSelectionTimeout", "1", "list"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(without_times(outcome.err), StartsWith("Failed: "));
}

// Returns what every user of the machine can see of a process: its arguments, separated by spaces.
std::string command_line_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

TEST_F(GridfilesOptions, Secrets_LeaveTheListOfProcesses) {
  // Nobody listens on this port, so the program waits for some seconds.
  const std::vector<std::string> nowhere = {"--serverSelectionTimeout", "3", "list"};
  const std::vector<std::string> host = {"-h", "localhost:1", "-u", "me"};
  for (const std::vector<std::string>& given :
       std::vector<std::vector<std::string>>{{"--password", "geheim"},
                                             {"--password=geheim"},
                                             {"-pgeheim"},
                                             {"-p", "geheim", "--sslPEMKeyPassword=geheim"},
                                             {"--uri", "mongodb://me:geheim@localhost:1/"},
                                             {"mongodb://me:geheim@localhost:1"}}) {
    std::vector<std::string> arguments = given;
    if (given.back().find("://") == std::string::npos) {
      arguments.insert(arguments.end(), host.begin(), host.end());
    }
    arguments.insert(arguments.end(), nowhere.begin(), nowhere.end());
    std::string seen;
    run({GRIDFILES, arguments, folder(), "", [&](pid_t process) {
           const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
           do {
             std::this_thread::sleep_for(std::chrono::milliseconds(1));
             seen = command_line_of(process);
           } while (seen.find("xxxxxx") == std::string::npos &&
                    std::chrono::steady_clock::now() < deadline);
           kill(process, SIGKILL);
         }});
    EXPECT_THAT(seen, HasSubstr("xxxxxx"));
    EXPECT_THAT(seen, HasSubstr("localhost:1"));
    EXPECT_THAT(seen, Not(HasSubstr("geheim")));
  }
}

TEST_F(GridfilesOptions, Verbosity) {
  create_store();
  for (const char* option : {"-v", "--verbose", "-v=1", "--verbose=1", "-vv", "-vvv", "-vv=2"}) {
    EXPECT_EQ(without_times(gridfiles({option, "list"}).err),
              "using write concern: {w: \"majority\"}\n"
              "connected to: store.gfs\n"
              "handling gridfiles 'list' command...\n")
        << option;
  }
  write_file("a", "x");
  EXPECT_THAT(gridfiles({"-vv", "put", "a"}).err,
              HasSubstr("creating GridFS gridFile `a` from local gridFile `a`"));
  Outcome outcome = gridfiles({"-v=x", "list"});
  EXPECT_EQ(outcome.status, 255);
  EXPECT_EQ(without_times(outcome.err), "Invalid verbosity value given\n");
}

TEST_F(GridfilesOptions, HelpAndVersion_GoToStdout) {
  Outcome outcome = gridfiles_plain({"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  for (const char* word : {"Usage:\n", "put_id", "get_regex", "--overwriteLocal", "--store",
                           "-d, --db=<database-name>"}) {
    EXPECT_THAT(outcome.out, HasSubstr(word));
  }
  outcome = gridfiles_plain({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith("gridfiles version: "));
}

TEST_F(GridfilesOptions, StoreThatDoesNotExist_IsMadeOnlyWhenTold) {
  for (const char* command : {"list", "delete"}) {
    Outcome outcome = gridfiles({command, "x"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(without_times(outcome.err), StartsWith("Failed: "));
    EXPECT_THAT(outcome.err, HasSubstr("store.gfs"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("--create")));
    EXPECT_FALSE(exists("store.gfs"));
  }
  EXPECT_THAT(gridfiles({"put", "x"}).err, HasSubstr("; 'gridfiles --create' makes one"));
  EXPECT_FALSE(exists("store.gfs"));
  EXPECT_EQ(gridfiles({"--create", "list"}).status, 0);
  EXPECT_TRUE(exists("store.gfs"));
  // If a store exists, the option has no effect.
  write_file("a", "x");
  EXPECT_EQ(gridfiles({"--create", "put", "a"}).status, 0);
  EXPECT_EQ(gridfiles({"list"}).out, "a\t1\n");
  EXPECT_EQ(gridstore_check().status, 0);
}

TEST_F(GridfilesOptions, WrongDatabaseName_LeavesNothingBehind) {
  write_file("a", "x");
  for (const char* name : {"", "bad/name"}) {
    const Outcome outcome = gridfiles({"--create", "--db", name, "put", "a"});
    EXPECT_EQ(outcome.status, 1) << name;
    EXPECT_THAT(outcome.err, HasSubstr("the database name")) << name;
    EXPECT_FALSE(exists("store.gfs")) << name;
  }
}

TEST_F(GridfilesOptions, ConnectionStringAsTheStore_IsRefused) {
  const Outcome outcome =
      gridfiles_plain({"--create", "--store", "mongodb://u:secret@localhost/test", "list"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("give a connection string without --store"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("secret")));
  EXPECT_FALSE(exists("mongodb:"));
}

TEST_F(GridfilesOptions, StoreInUse_NamesTheOwner) {
  create_store();
  with_store([&](engine::Store&) {
    Outcome outcome = gridfiles({"list"});
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(without_times(outcome.err), StartsWith("Failed: "));
    EXPECT_THAT(outcome.err, HasSubstr(std::to_string(getpid())));
  });
  EXPECT_EQ(gridfiles({"list"}).status, 0);
}

TEST_F(GridfilesOptions, DoubleDash_EndsTheOptions) {
  create_store();
  write_file("-x", "12");
  EXPECT_EQ(gridfiles({"put", "--", "-x"}).status, 0);
  EXPECT_EQ(gridfiles({"list"}).out, "-x\t2\n");
}

TEST_F(GridfilesOptions, OddNames_AreShownAsGoShowsThem) {
  create_store();
  Outcome outcome = gridfiles({"get", "a`b", "line\nbreak\t", "caf\xc3\xa9", "\xff"});
  EXPECT_EQ(without_times(outcome.err),
            "connected to: store.gfs\nFailed: requested files not found: \"a`b\", "
            "\"line\\nbreak\\t\", `caf\xc3\xa9`, \"\\xff\"\n");
}

}  // namespace
}  // namespace gridmount::tests
