// Goal: stores can be made and opened at any suitable path, and every other path is refused with a
// helpful error.
//
// Method: folders prepared by hand in a temporary folder, and owners killed in child processes.
// Each error must have the right code, name the store and say what to do, in one line.
#include "engine/local/files/store_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "engine/local/files/lock_file.h"
#include "tests/engine/local/files/store_folder_fixture.h"
#include "tests/sanitized.h"

namespace gridmount::local {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(StoreFolderTest, Create_NewFolder_MakesPrivateFiles) {
  ASSERT_TRUE(create());
  struct stat status {};
  ASSERT_EQ(::stat(store().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  for (const char* name :
       {"data.mdb", "data.mdb-lock", "checkpoint", "redo", "pending", "owner", "format"}) {
    ASSERT_EQ(::stat((store() / name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 07777, 0600u) << name;
  }
  EXPECT_EQ(contents_of(store() / "format"), "gridmount store\nformat 5\n");
  EXPECT_TRUE(open());
}

TEST_F(StoreFolderTest, Create_EmptyFolder_IsUsed_AndExistingStoreIsOpened) {
  fs::create_directory(store());
  {
    auto environment = create();
    ASSERT_TRUE(environment) << environment.error().message();
    ASSERT_TRUE(put(**environment, "k", "v"));
  }
  auto environment = create();
  ASSERT_TRUE(environment);
  EXPECT_EQ(get(**environment, "k"), "v");
}

TEST_F(StoreFolderTest, Create_FolderWithOtherThings_IsRefusedAndUntouched) {
  fs::create_directory(store());
  put_contents(store() / "thesis.txt", "mine");
  expect_error(create(), ErrorCode::kNotAStore, "thesis.txt");
  fs::remove(store() / "thesis.txt");
  // Names like those of a store do not make it one.
  put_contents(store() / "data.mdb", "mine");
  put_contents(store() / "owner", "me");
  expect_error(create(), ErrorCode::kNotAStore, "owner");
  EXPECT_EQ(contents_of(store() / "data.mdb"), "mine");
  EXPECT_EQ(contents_of(store() / "owner"), "me");
  EXPECT_EQ(std::distance(fs::directory_iterator(store()), fs::directory_iterator()), 2);
}

TEST_F(StoreFolderTest, Create_WithoutTheFolderAbove_SaysSo) {
  auto opened = Environment::open(store() / "deep", {.create = true});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::kStoreNotFound);
  EXPECT_THAT(opened.error().message(), HasSubstr("its parent directory"));
}

TEST_F(StoreFolderTest, Create_ReadOnly_IsRefused) {
  expect_error(open({.create = true, .read_only = true}), ErrorCode::kInvalidOptions, "read-only");
}

TEST_F(StoreFolderTest, Create_FailsHalfWay_LeavesNothing) {
  const bool ended = run_and_kill([&] {
    // The limit is enough for `owner` and `checkpoint`, but not for the trees.
    struct rlimit limit {
      8192, 8192
    };
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    auto opened = create();
    if (opened || opened.error().code() != ErrorCode::kOutOfDiskSpace) ::_exit(1);
    if (fs::exists(store())) ::_exit(2);
  });
  EXPECT_TRUE(ended);
  EXPECT_TRUE(create());
}

TEST_F(StoreFolderTest, Create_InterruptedAnywhere_IsRecognisedAndMadeAgain) {
  // The stages are prefixes of the sequence in which the files are made.
  ASSERT_TRUE(create());
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(store())) {
    files[entry.path().filename()] = contents_of(entry.path());
  }
  const std::vector<std::vector<std::pair<std::string, std::string>>> stages = {
      {{"owner", ""}},
      {{"owner", std::string(512, '\0')}},
      {{"owner", files["owner"]}},
      {{"owner", files["owner"]}, {"data.mdb", ""}},
      {{"owner", files["owner"]}, {"data.mdb", ""}, {"checkpoint", ""}},
      {{"owner", files["owner"]}, {"data.mdb", ""}, {"checkpoint", ""}, {"redo", ""}},
      {{"owner", files["owner"]},
       {"data.mdb", files["data.mdb"].substr(0, 5000)},
       {"data.mdb-lock", files["data.mdb-lock"]},
       {"checkpoint", std::string(8192, '\0')}},
      {{"owner", files["owner"]},
       {"data.mdb", files["data.mdb"]},
       {"data.mdb-lock", files["data.mdb-lock"]},
       {"checkpoint", files["checkpoint"]},
       {"redo", files["redo"]},
       {"format.new", "gridm"}},
  };
  for (const auto& stage : stages) {
    fs::remove_all(store());
    fs::create_directory(store());
    for (const auto& [name, contents] : stage) put_contents(store() / name, contents);
    expect_error(open(), ErrorCode::kStoreNotFound, "interrupted");
    auto environment = create();
    ASSERT_TRUE(environment) << environment.error().message();
    ASSERT_TRUE(put(**environment, "k", "v"));
    environment->reset();
    EXPECT_TRUE(open());
  }
}

TEST_F(StoreFolderTest, Open_NothingThere_IsStoreNotFound) {
  expect_error(open(), ErrorCode::kStoreNotFound, "there is no store at");
  fs::create_directory(store());
  expect_error(open(), ErrorCode::kStoreNotFound, "there is no store at");
  EXPECT_TRUE(fs::is_empty(store()));
}

TEST_F(StoreFolderTest, Open_SomethingElse_IsNotAStore) {
  put_contents(store(), "a file");
  expect_error(open(), ErrorCode::kNotAStore, "not a directory");
  fs::remove(store());
  fs::create_directory(store());
  put_contents(store() / "format", "paper: A4\n");
  expect_error(open(), ErrorCode::kNotAStore, "format");
  put_contents(store() / "format", "");
  expect_error(open(), ErrorCode::kNotAStore, "format");
}

TEST_F(StoreFolderTest, Open_DataFileWithoutOwner_IsNotAStore) {
  fs::create_directory(store());
  put_contents(store() / "data.mdb", "another program's");
  expect_error(open(), ErrorCode::kNotAStore,
               "it has 'data.mdb', but neither 'format' nor 'owner'");
  expect_error(create(), ErrorCode::kNotAStore, "data.mdb");
  EXPECT_EQ(contents_of(store() / "data.mdb"), "another program's");
}

TEST_F(StoreFolderTest, Open_NewerFormat_IsStoreFormatTooNew) {
  ASSERT_TRUE(create());
  put_contents(store() / "format", "gridmount store\nformat 6\n");
  expect_error(open(), ErrorCode::kStoreFormatTooNew, "version 6");
  expect_error(open_read_only(), ErrorCode::kStoreFormatTooNew, "versions only up to 5");
  for (const char* damage : {"gridmount store\nformat \n", "gridmount store\nformat 0\n",
                             "gridmount store\nformat 1", "gridmount store\nformat x\n"}) {
    put_contents(store() / "format", damage);
    expect_error(open(), ErrorCode::kStoreDamaged, "has no version");
  }
}

TEST_F(StoreFolderTest, Open_WhileOpen_IsStoreLockedNamingTheProcess) {
  auto first = create();
  ASSERT_TRUE(first);
  expect_error(open(), ErrorCode::kStoreLocked, "process " + std::to_string(::getpid()));
  expect_error(open_read_only(), ErrorCode::kStoreLocked, "process " + std::to_string(::getpid()));
  expect_error(create(), ErrorCode::kStoreLocked, "stop that process first");
  first->reset();
  auto reader = open_read_only();
  ASSERT_TRUE(reader);
  auto second_reader = open_read_only();
  EXPECT_TRUE(second_reader);
  expect_error(open(), ErrorCode::kStoreLocked, "in use by");
  reader->reset();
  second_reader->reset();
  EXPECT_TRUE(open());
}

// D6: the mark says `open`, with the id of this boot.
TEST_F(StoreFolderTest, Open_AfterAKill_HasEveryCommit) {
  make_killed_store();
  {
    auto reader = open_read_only();
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_EQ(get(**reader, "k"), "killed");
  }
  auto environment = open();
  ASSERT_TRUE(environment) << environment.error().message();
  EXPECT_EQ(get(**environment, "k"), "killed");
}

// D5, D6: the mark says `open`, with the id of another boot.
TEST_F(StoreFolderTest, Open_AfterPowerLoss_IsPutBackToTheCheckpoint) {
  make_killed_store();
  expect_error(open_after_power_loss(/*read_only=*/true), ErrorCode::kStoreReadOnly,
               "open it for writing once");
  {
    auto environment = open_after_power_loss();
    ASSERT_TRUE(environment) << environment.error().message();
    EXPECT_EQ(get(**environment, "k"), "durable");
    ASSERT_TRUE(put(**environment, "k", "later"));
  }
  auto reader = open_read_only();
  ASSERT_TRUE(reader);
  EXPECT_EQ(get(**reader, "k"), "later");
}

// D6: the mark says `closed`.
TEST_F(StoreFolderTest, Open_ClosedCleanly_NeedsNoCheckpointAfterAnotherBoot) {
  {
    auto environment = create();
    ASSERT_TRUE(environment);
    ASSERT_TRUE(put(**environment, "k", "v"));
  }
  {
    auto reader = open_after_power_loss(/*read_only=*/true);
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_EQ(get(**reader, "k"), "v");
  }
  // The mark alone suffices, even without the checkpoint.
  fs::remove(store() / "checkpoint");
  auto environment = open_after_power_loss();
  ASSERT_TRUE(environment) << environment.error().message();
  EXPECT_EQ(get(**environment, "k"), "v");
}

// D6: the mark says `open`, with the inode of another file.
TEST_F(StoreFolderTest, Open_CopyOfAnOpenStore_IsPutBackToTheCheckpoint) {
  make_killed_store();
  const fs::path copy = folder_ / "copy";
  fs::copy(store(), copy);
  auto environment = Environment::open(copy, {});
  ASSERT_TRUE(environment) << environment.error().message();
  EXPECT_EQ(get(**environment, "k"), "durable");
}

// D6: there is no valid mark.
TEST_F(StoreFolderTest, Open_OwnerFileLost_GoesBackToTheCheckpoint) {
  make_killed_store();
  fs::remove(store() / "owner");
  {
    auto environment = open();
    ASSERT_TRUE(environment) << environment.error().message();
    EXPECT_EQ(get(**environment, "k"), "durable");
  }
  for (const std::string& garbage :
       {std::string(), std::string(512, 'x'), std::string(9999, '\n')}) {
    put_contents(store() / "owner", garbage);
    auto environment = open();
    ASSERT_TRUE(environment) << environment.error().message();
    EXPECT_EQ(get(**environment, "k"), "durable");
  }
}

// D6: recovery needs a slot.
TEST_F(StoreFolderTest, Open_MachineWentDownWithoutAnyCheckpoint_IsStoreDamaged) {
  make_killed_store();
  put_contents(store() / "checkpoint", std::string(8192, '\0'));
  expect_error(open_after_power_loss(), ErrorCode::kStoreDamaged, "checkpoint");
  expect_error(open(), ErrorCode::kStoreDamaged, "checkpoint");
}

TEST_F(StoreFolderTest, Open_MissingData_IsStoreDamaged) {
  ASSERT_TRUE(create());
  fs::remove(store() / "data.mdb");
  expect_error(open(), ErrorCode::kStoreDamaged, "data.mdb is missing");
  EXPECT_FALSE(fs::exists(store() / "data.mdb"));
}

// D7: a file that is too short has been truncated, whatever the mark says.
TEST_F(StoreFolderTest, Open_DataCutOff_IsStoreDamagedAtAnyLength) {
  {
    auto environment = create();
    ASSERT_TRUE(environment);
    ASSERT_TRUE(put(**environment, "k", std::string(100000, 'v')));
  }
  const auto size = fs::file_size(store() / "data.mdb");
  for (const auto length : {size - 1, size - 4096, size / 2, uintmax_t{8192}, uintmax_t{8191},
                            uintmax_t{4096}, uintmax_t{100}, uintmax_t{0}}) {
    fs::resize_file(store() / "data.mdb", length);
    expect_error(open(), ErrorCode::kStoreDamaged, "data.mdb");
    expect_error(open_read_only(), ErrorCode::kStoreDamaged, "data.mdb");
    expect_error(open_after_power_loss(), ErrorCode::kStoreDamaged, "data.mdb");
  }
}

// D7: after a kill, too, the file is at least as long as the newest checkpoint says.
TEST_F(StoreFolderTest, Open_DataCutOffAfterAKill_IsStoreDamaged) {
  make_killed_store();
  fs::resize_file(store() / "data.mdb", fs::file_size(store() / "data.mdb") / 2);
  expect_error(open(), ErrorCode::kStoreDamaged, "truncated");
  expect_error(open_after_power_loss(), ErrorCode::kStoreDamaged, "truncated");
}

// The opening does not extend the file to the size that the damaged meta pages claim.
TEST_F(StoreFolderTest, Open_KilledWithALastPageThatCannotBe_IsStoreDamaged) {
  make_killed_store();
  const auto size = fs::file_size(store() / "data.mdb");
  for (const std::streamoff page : {0, 4096}) {
    put_bytes_at(store() / "data.mdb", page + 136, std::string("\0\0\0\0\1\0\0\0", 8));
  }
  expect_error(open(), ErrorCode::kStoreDamaged, "last page");
  EXPECT_EQ(fs::file_size(store() / "data.mdb"), size);
}

TEST_F(StoreFolderTest, Open_GarbageMetaPages_IsStoreDamaged) {
  ASSERT_TRUE(create());
  const std::string good = contents_of(store() / "data.mdb");
  struct Damage {
    std::streamoff offset;
    std::string bytes;
  };
  const std::vector<Damage> damages = {
      {0, std::string(8192, 'x')},
      {4096, std::string(4096, '\0')},
      {16, "MAGI"},                                      // magic
      {20, std::string("\2\0\0\0", 4)},                  // version
      {10, std::string("\1\0", 2)},                      // page flags
      {40, std::string("\0\0\0\0", 4)},                  // page size
      {40, std::string("\1\20\0\0", 4)},                 // page size
      {44, std::string("\x09\x40", 2)},                  // fixed map
      {92, std::string("\4\0", 2)},                      // main tree with duplicates
      {136, std::string(8, '\xff')},                     // last page of meta page 0
      {4096 + 128, std::string("\0\0\0\1\0\0\0\0", 8)},  // root page behind the last
      {144, std::string(8, '\x7f')},                     // transaction number of the other page
  };
  for (const Damage& damage : damages) {
    put_contents(store() / "data.mdb", good);
    put_bytes_at(store() / "data.mdb", damage.offset, damage.bytes);
    expect_error(open(), ErrorCode::kStoreDamaged, "data.mdb");
    expect_error(open_read_only(), ErrorCode::kStoreDamaged, "data.mdb");
  }
  put_contents(store() / "data.mdb", good);
  EXPECT_TRUE(open());
}

// D6: these meta pages would be valid, but they disagree with those of the checkpoint for the same
//     transaction.
TEST_F(StoreFolderTest, Open_DamagedMetaPagesOfAClosedStore_ArePutBack) {
  ASSERT_TRUE(create());
  {
    auto opened = open();
    ASSERT_TRUE(opened);
    // Makes sure that page 1 is not the current one by chance.
    ASSERT_TRUE(put(**opened, "a", "1"));
    ASSERT_TRUE(put(**opened, "b", "2"));
  }
  const std::string good = contents_of(store() / "data.mdb");
  for (const std::streamoff page : {0, 4096}) {
    put_contents(store() / "data.mdb", good);
    put_bytes_at(store() / "data.mdb", page + 136, std::string("\0\0\0\1\0\0\0\0", 8));
    auto opened = open();
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(get(**opened, "a"), "1");
    EXPECT_EQ(get(**opened, "b"), "2");
  }
}

// D6: an older meta page is an error. Otherwise LMDB would take the other page for the current one.
TEST_F(StoreFolderTest, Open_OlderMetaPagesThanTheCheckpoints_IsStoreDamaged) {
  ASSERT_TRUE(create());
  {
    auto opened = open();
    ASSERT_TRUE(opened);
    ASSERT_TRUE(put(**opened, "a", "1"));
    ASSERT_TRUE(put(**opened, "b", "2"));
  }
  const std::string good = contents_of(store() / "data.mdb");
  std::vector<ErrorCode> codes;
  for (const std::streamoff page : {0, 4096}) {
    put_contents(store() / "data.mdb", good);
    put_bytes_at(store() / "data.mdb", page + 144, std::string(8, '\0'));
    const auto opened = open_read_only();
    ASSERT_FALSE(opened);
    codes.push_back(opened.error().code());
  }
  // Only the page that is not current can be restored.
  EXPECT_THAT(codes,
              ::testing::UnorderedElementsAre(ErrorCode::kStoreDamaged, ErrorCode::kStoreReadOnly));
}

// D6: a newer meta page is an error. Otherwise LMDB would take the page of the older transaction
//     for the current one.
TEST_F(StoreFolderTest, Open_LaterMetaPagesThanTheCheckpoints_IsStoreDamaged) {
  ASSERT_TRUE(create());
  {
    auto opened = open();
    ASSERT_TRUE(opened);
    ASSERT_TRUE(put(**opened, "a", "1"));
  }
  const std::string good = contents_of(store() / "data.mdb");
  for (const std::streamoff page : {0, 4096}) {
    for (const int byte : {0, 1, 7}) {
      put_contents(store() / "data.mdb", good);
      const size_t at = static_cast<size_t>(page) + 144 + static_cast<size_t>(byte);
      put_bytes_at(store() / "data.mdb", static_cast<std::streamoff>(at),
                   std::string(1, static_cast<char>(good[at] ^ 4)));
      const auto opened = open_read_only();
      EXPECT_FALSE(opened) << page << ' ' << byte;
    }
  }
}

TEST_F(StoreFolderTest, Open_TreeMissing_IsStoreDamaged) {
  ASSERT_TRUE(create());
  {
    MDB_env* env = nullptr;
    MDB_txn* txn = nullptr;
    MDB_dbi dbi = 0;
    ASSERT_EQ(mdb_env_create(&env), 0);
    mdb_env_set_maxdbs(env, 4);
    mdb_env_set_mapsize(env, 64 << 20);
    ASSERT_EQ(mdb_env_open(env, (store() / "data.mdb").c_str(), MDB_NOSUBDIR, 0600), 0);
    ASSERT_EQ(mdb_txn_begin(env, nullptr, 0, &txn), 0);
    ASSERT_EQ(mdb_dbi_open(txn, "t017", 0, &dbi), 0);
    ASSERT_EQ(mdb_drop(txn, dbi, 1), 0);
    ASSERT_EQ(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
  }
  // The checkpoint is removed, because an opening refuses meta pages that are newer than the
  // checkpoint's.
  fs::remove(store() / "checkpoint");
  expect_error(open(), ErrorCode::kStoreDamaged, "t017");
}

TEST_F(StoreFolderTest, Open_LittleAddressSpace_TakesWhatThereIsOrSaysWhatToDo) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need more address space than the limits here";
  ASSERT_TRUE(create());
  const bool ended = run_and_kill([&] {
    struct rlimit limit {
      uint64_t{64} << 30, uint64_t{64} << 30
    };
    ::setrlimit(RLIMIT_AS, &limit);
    {
      auto opened = open();
      if (!opened || !put(**opened, "k", std::string(100000, 'v'))) ::_exit(1);
      const auto stats = (*opened)->stats();
      if (!stats || stats->capacity_bytes > int64_t{64} << 30) ::_exit(2);
    }
    limit = {uint64_t{1} << 30, uint64_t{1} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    auto opened = open();
    if (opened || opened.error().message().find("ulimit -v") == std::string::npos) ::_exit(3);
  });
  EXPECT_TRUE(ended);
}

// Permissions do not restrict the superuser, so a child process gives up that identity.
class StoreFolderPermissionTest : public StoreFolderTest {
 protected:
  template <typename Function>
  bool run_without_privilege(Function function) {
    return run_and_kill([&] {
      constexpr uid_t kNobody = 65534;
      if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(90);
      function();
    });
  }
};

TEST_F(StoreFolderPermissionTest, Open_NoAccess_IsPermissionDenied) {
  ASSERT_TRUE(create());
  fs::permissions(folder_, fs::perms(0755));
  fs::permissions(store(), fs::perms(0));
  const bool ended = run_without_privilege([&] {
    if (open().error().code() != ErrorCode::kPermissionDenied) ::_exit(1);
    if (create().error().code() != ErrorCode::kPermissionDenied) ::_exit(2);
  });
  EXPECT_TRUE(ended);
  fs::permissions(store(), fs::perms(0700));
}

TEST_F(StoreFolderPermissionTest, Open_OnlyReadable_IsStoreReadOnly_AndReadOnlyWorks) {
  {
    auto environment = create();
    ASSERT_TRUE(environment);
    ASSERT_TRUE(put(**environment, "k", "v"));
  }
  fs::permissions(folder_, fs::perms(0755));
  fs::permissions(store(), fs::perms(0555));
  for (const auto& entry : fs::directory_iterator(store())) {
    fs::permissions(entry.path(), fs::perms(0444));
  }
  const bool ended = run_without_privilege([&] {
    auto opened = open();
    if (opened || opened.error().code() != ErrorCode::kStoreReadOnly) ::_exit(1);
    if (opened.error().message().find("only be opened read-only") == std::string::npos) ::_exit(2);
    auto reader = open_read_only();
    if (!reader) ::_exit(3);
    if (get(**reader, "k") != "v") ::_exit(4);
  });
  EXPECT_TRUE(ended);
  fs::permissions(store(), fs::perms(0700));
}

TEST(OwnerMarkTest, FormatAndParse_RoundTrip_AndRefuseEverythingElse) {
  OwnerMark mark;
  mark.state = OwnerState::kFailed;
  mark.pid = 4711;
  mark.host = "a host with spaces";
  mark.boot_id = "";
  mark.data_inode = 99;
  const std::string text = format_owner_mark(mark);
  EXPECT_EQ(text.size(), kOwnerBytes);
  const auto parsed = parse_owner_mark(text);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->state, mark.state);
  EXPECT_EQ(parsed->pid, mark.pid);
  EXPECT_EQ(parsed->host, mark.host);
  EXPECT_EQ(parsed->boot_id, mark.boot_id);
  EXPECT_EQ(parsed->data_inode, mark.data_inode);
  EXPECT_FALSE(parse_owner_mark(text.substr(1)));
  EXPECT_FALSE(parse_owner_mark(text + "\n"));
  std::string torn = text;
  torn.replace(torn.find("state"), 5, "stale");
  EXPECT_FALSE(parse_owner_mark(torn));
}

}  // namespace
}  // namespace gridmount::local
