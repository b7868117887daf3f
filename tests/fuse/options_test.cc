// Goal: every option reaches its field, and nothing unknown or out of range is accepted.
#include "fuse/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

namespace gridmount::fuse {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GridmountOptions parse(std::vector<std::string> arguments) {
  auto line = parse_command_line(arguments);
  EXPECT_TRUE(line) << line.error().message();
  return line ? line->options : GridmountOptions();
}

std::string refusal(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"store", "mnt"});
  auto line = parse_command_line(arguments);
  EXPECT_FALSE(line) << "accepted";
  if (line) return "";
  EXPECT_THAT(line.error().message(), testing::Not(HasSubstr("\n")));
  return line.error().message();
}

TEST(GridmountOptions, OnlyThePlaces_GivesDefaults) {
  GridmountOptions options = parse({"store", "/mnt"});
  EXPECT_EQ(options.store, std::filesystem::current_path() / "store");
  EXPECT_EQ(options.mount_point, "/mnt");
  EXPECT_EQ(options.database, "test");
  EXPECT_FALSE(options.bucket);
  EXPECT_FALSE(options.foreground);
  EXPECT_FALSE(options.create);
  EXPECT_FALSE(options.read_only);
  EXPECT_TRUE(options.md5);
  EXPECT_EQ(options.chunk_bytes, 262144);
  EXPECT_FALSE(options.dirty_bytes);
  EXPECT_FALSE(options.memory_max);
  EXPECT_EQ(options.checkpoint_interval.count(), 1000);
  EXPECT_EQ(options.checkpoint_bytes, 64U << 20);
  EXPECT_EQ(options.size_limit, 0U);
  EXPECT_EQ(options.stuck_after.count(), 60'000);
  EXPECT_EQ(options.umask, 022U);
  EXPECT_EQ(options.log_level, "info");
  EXPECT_THAT(options.mount_options, IsEmpty());
}

TEST(GridmountOptions, All_ReachTheirFields) {
  GridmountOptions options = parse({"-f",
                                    "--create",
                                    "--db",
                                    "media",
                                    "--chunk-size",
                                    "255K",
                                    "--no-md5",
                                    "--dirty-bytes",
                                    "32M",
                                    "--checkpoint-interval",
                                    "0.25",
                                    "--checkpoint-bytes",
                                    "8M",
                                    "--size-limit",
                                    "10G",
                                    "--log-level",
                                    "debug",
                                    "--stuck-after",
                                    "2.5",
                                    "--metrics-address",
                                    "localhost:9100",
                                    "--log-file",
                                    "/tmp/log",
                                    "-o",
                                    "uid=5,gid=6",
                                    "-o",
                                    "umask=077,bucket=photos",
                                    "/store",
                                    "/mnt"});
  EXPECT_TRUE(options.foreground);
  EXPECT_TRUE(options.create);
  EXPECT_EQ(options.database, "media");
  EXPECT_EQ(options.chunk_bytes, 255 * 1024);
  EXPECT_FALSE(options.md5);
  EXPECT_EQ(options.dirty_bytes, 32U << 20);
  EXPECT_EQ(options.checkpoint_interval.count(), 250);
  EXPECT_EQ(options.checkpoint_bytes, 8U << 20);
  EXPECT_EQ(options.size_limit, uint64_t{10} << 30);
  EXPECT_EQ(options.log_level, "debug");
  EXPECT_EQ(options.stuck_after.count(), 2500);
  EXPECT_EQ(options.metrics_address, "localhost:9100");
  EXPECT_EQ(options.log_file, "/tmp/log");
  EXPECT_EQ(options.uid, 5U);
  EXPECT_EQ(options.gid, 6U);
  EXPECT_EQ(options.umask, 077U);
  EXPECT_EQ(options.bucket, "photos");
}

TEST(GridmountOptions, MountOptionsBehindThePlaces_AsMountWritesThem) {
  GridmountOptions options = parse({"/store", "/mnt", "-o", "rw,nosuid,nodev,noatime,allow_other"});
  EXPECT_FALSE(options.read_only);
  EXPECT_THAT(options.mount_options, ElementsAre("nosuid", "nodev", "noatime", "allow_other"));
}

TEST(GridmountOptions, AccessTimes_TheLastCounts) {
  const auto with = [](const std::string& list) { return parse({"/store", "/mnt", "-o", list}); };
  EXPECT_TRUE(with("rw").access_times);
  EXPECT_TRUE(with("rw").folder_access_times);
  EXPECT_FALSE(with("relatime,noatime").access_times);
  const GridmountOptions options = with("noatime,relatime,nodiratime,norelatime,nostrictatime");
  EXPECT_TRUE(options.access_times);
  EXPECT_FALSE(options.folder_access_times);
  EXPECT_THAT(options.mount_options, ElementsAre()) << "libfuse knows none of them";
  EXPECT_FALSE(options.strict_access_times);
  const GridmountOptions strict = with("noatime,strictatime");
  EXPECT_TRUE(strict.access_times);
  EXPECT_TRUE(strict.strict_access_times);
  EXPECT_THAT(strict.mount_options, ElementsAre());
  EXPECT_FALSE(with("strictatime,noatime").access_times);
  EXPECT_FALSE(with("strictatime,relatime").strict_access_times);
  EXPECT_FALSE(with("strictatime,nostrictatime").strict_access_times);
}

TEST(GridmountOptions, LongOptionsInTheList_ReachTheirFields) {
  GridmountOptions options = parse(
      {"/store", "/mnt", "--stuck-after", "5", "-o", "rw,db=media,chunk-size=64K,no-md5,nodev",
       "-o", "listen=127.0.0.1:1,metrics-address=[::1]:0,listen=127.0.0.1:2,log-file=/a\\,b"});
  EXPECT_EQ(options.database, "media");
  EXPECT_EQ(options.chunk_bytes, 65536);
  EXPECT_FALSE(options.md5);
  EXPECT_EQ(options.stuck_after.count(), 5000);
  EXPECT_EQ(options.metrics_address, "[::1]:0");
  EXPECT_EQ(options.log_file, "/a,b");
  EXPECT_THAT(options.endpoint.listen, ElementsAre("127.0.0.1:1", "127.0.0.1:2"));
  EXPECT_THAT(options.mount_options, ElementsAre("nodev"));
  EXPECT_EQ(options.store, "/store");
}

TEST(GridmountOptions, LongOptionsInTheList_AreCheckedAsTheOthers) {
  EXPECT_THAT(refusal({"-o", "chunk-size=0"}), HasSubstr("--chunk-size"));
  EXPECT_THAT(refusal({"-o", "db"}), HasSubstr("--db"));
  EXPECT_THAT(refusal({"-o", "db=a", "--db", "b"}), HasSubstr("--db"));
  EXPECT_THAT(refusal({"-o", "foreground"}), HasSubstr("foreground"));
  EXPECT_THAT(refusal({"-o", "help"}), HasSubstr("help"));
  EXPECT_THAT(refusal({"-o", "f"}), HasSubstr("-o f"));
  EXPECT_THAT(refusal({"-o", "o=ro"}), HasSubstr("-o o=ro"));
}

TEST(GridmountOptions, LineOfFstab_IsTaken) {
  GridmountOptions options =
      parse({"/store", "/mnt", "-o",
             "defaults,noauto,nofail,_netdev,x-systemd.automount,comment=a,users,"
             "relatime,exec"});
  EXPECT_THAT(options.mount_options, ElementsAre("nosuid", "nodev", "noexec", "exec"));
  EXPECT_THAT(refusal({"-o", "ro,user_id=0"}), HasSubstr("unknown option -o user_id=0"));
}

TEST(GridmountOptions, Remount_TakesWhatTheKernelLists) {
  const GridmountOptions options =
      parse({"/store", "/mnt", "-o", "ro,nosuid,relatime,user_id=0,group_id=0,remount"});
  EXPECT_TRUE(options.remount);
  EXPECT_TRUE(options.read_only);
  EXPECT_THAT(options.mount_options, ElementsAre("nosuid"));
  EXPECT_THAT(refusal({"-o", "remount,frobnicate"}), HasSubstr("frobnicate"));
}

TEST(GridmountOptions, Memory_IsNoLessThanADaemonNeeds) {
  EXPECT_EQ(parse({"/s", "/m", "--memory-max", "96M"}).memory_max, 96U << 20);
  EXPECT_THAT(refusal({"--memory-max", "95M"}), HasSubstr("--memory-max"));
}

TEST(GridmountOptions, StuckAfterZero_IsNever) {
  EXPECT_EQ(parse({"/s", "/m", "--stuck-after", "0"}).stuck_after.count(), 0);
}

TEST(GridmountOptions, ReadOnly_LastOneCounts) {
  EXPECT_TRUE(parse({"/s", "/m", "-o", "rw,ro"}).read_only);
  EXPECT_FALSE(parse({"/s", "/m", "-o", "ro,rw"}).read_only);
}

TEST(GridmountOptions, HttpWrite_NeedsAMountThatCanBeWritten) {
  EXPECT_TRUE(parse({"/s", "/m", "--http", "127.0.0.1:0", "--http-write"}).http.write);
  for (const char* option : {"ro", "at=1714564800"}) {
    EXPECT_THAT(refusal({"--http", "127.0.0.1:0", "--http-write", "-o", option}),
                HasSubstr("--http-write"));
  }
}

TEST(GridmountOptions, Revisions_UpToALimit) {
  EXPECT_EQ(parse({"-o", "allow_other", "/store", "/mnt"}).revisions, 0U);
  EXPECT_EQ(parse({"-o", "revisions=10000", "/store", "/mnt"}).revisions, 10'000U);
  EXPECT_THAT(refusal({"-o", "revisions=10001"}),
              AllOf(HasSubstr("revisions"), HasSubstr("up to 10000")));
  EXPECT_THAT(refusal({"-o", "revisions=-1"}), HasSubstr("revisions"));
  EXPECT_THAT(refusal({"-o", "revisions="}), HasSubstr("revisions"));
}

TEST(GridmountOptions, EarlierTime_IsOnlyRead) {
  const GridmountOptions options =
      parse({"-o", "at=2024-05-01T12:00:00.250Z,rw", "/store", "/mnt"});
  EXPECT_EQ(options.at, bson::Date{1714564800250});
  EXPECT_TRUE(options.read_only);
  EXPECT_EQ(parse({"-o", "at=1714564800", "/store", "/mnt"}).at, bson::Date{1714564800000});
  EXPECT_EQ(parse({"-o", "at=2024-05-01T14:00:00+02:00", "/store", "/mnt"}).at,
            bson::Date{1714564800000});
  for (const char* time :
       {"at=", "at=now", "at=-1", "at=2024-05-01", "at=1714564800.5", "at=99999999999999999"}) {
    EXPECT_THAT(refusal({"-o", time}), HasSubstr("2024-05-01T12:00:00Z")) << time;
  }
  EXPECT_THAT(refusal({"--create", "-o", "at=1"}), HasSubstr("--create"));
  EXPECT_THAT(refusal({"-o", "at=1,revisions=2"}), HasSubstr("revisions"));
}

TEST(GridmountOptions, QuotedComma_StaysInTheValue) {
  EXPECT_EQ(parse({"/s", "/m", "-o", "bucket=a\\,b\\\\c"}).bucket, "a,b\\c");
}

TEST(GridmountOptions, Unknown_AreRefusedByName) {
  EXPECT_THAT(refusal({"--frobnicate"}), HasSubstr("--frobnicate"));
  EXPECT_THAT(refusal({"-o", "frobnicate"}), HasSubstr("frobnicate"));
  EXPECT_THAT(refusal({"-o", "nosuid=1"}), HasSubstr("nosuid=1"));
  EXPECT_THAT(refusal({"-o", "uid"}), HasSubstr("uid"));
  EXPECT_THAT(refusal({"a-third-place"}), HasSubstr("mnt"));
}

TEST(GridmountOptions, UnknownWord_IsNamedBeforeWhatIsMissing) {
  const auto line = parse_command_line({"--frobnicate", "store"});
  ASSERT_FALSE(line);
  EXPECT_EQ(line.error().message(), "unknown option '--frobnicate'");
}

TEST(GridmountOptions, Deployment) {
  const GridmountOptions options = parse({"mongodb://user:secret@localhost/media?tls=true", "mnt"});
  EXPECT_EQ(options.store, "mongodb://localhost/media");
  EXPECT_EQ(options.uri, "mongodb://user:secret@localhost/media?tls=true");
  EXPECT_EQ(options.database, "media");
  EXPECT_EQ(options.cache_time, std::chrono::milliseconds(1000));
  EXPECT_EQ(options.server_timeout, std::chrono::milliseconds(30'000));
  EXPECT_FALSE(options.read_ahead);
  EXPECT_EQ(parse({"--read-ahead=8M", "mongodb://localhost", "mnt"}).read_ahead, 8U << 20);
  EXPECT_EQ(parse({"--read-ahead=0", "mongodb://localhost", "mnt"}).read_ahead, 0U);
  EXPECT_FALSE(options.disk_cache);
  const GridmountOptions cached =
      parse({"--disk-cache=/cache", "--disk-cache-size=5M", "mongodb://localhost", "mnt"});
  EXPECT_EQ(cached.disk_cache, "/cache");
  EXPECT_EQ(cached.disk_cache_size, 5U << 20);
  EXPECT_EQ(parse({"--disk-cache=/cache", "mongodb://localhost", "mnt"}).disk_cache_size,
            uint64_t{10} << 30);
  EXPECT_FALSE(options.access_times);
  EXPECT_TRUE(parse({"-o", "relatime", "mongodb://localhost", "mnt"}).access_times);
  EXPECT_EQ(parse({"--db", "x", "mongodb://localhost", "mnt"}).database, "x");
  EXPECT_EQ(parse({"mongodb://localhost", "mnt"}).database, "test");
  EXPECT_FALSE(parse({"store", "mnt"}).uri);
}

TEST(GridmountOptions, Deployment_WhatDoesNotFit) {
  const auto refusal_of = [](const std::vector<std::string>& arguments) {
    const auto line = parse_command_line(arguments);
    return line ? std::string() : line.error().message();
  };
  const std::string uri = "mongodb://user:secret@localhost/media";
  for (const char* const option : {"--size-limit=1G", "--checkpoint-interval=2", "--listen=:1",
                                   "--no-auth", "--tls-ca-file=x"}) {
    EXPECT_THAT(refusal_of({option, uri, "mnt"}), HasSubstr("not for a MongoDB deployment"));
  }
  EXPECT_THAT(refusal_of({"--cache-seconds=1", "store", "mnt"}),
              HasSubstr("for MongoDB deployments"));
  EXPECT_THAT(refusal_of({"--read-ahead=8M", "store", "mnt"}),
              HasSubstr("for MongoDB deployments"));
  EXPECT_THAT(refusal_of({"--read-ahead=8K", uri, "mnt"}), HasSubstr("--read-ahead"));
  EXPECT_THAT(refusal_of({"--disk-cache=/cache", "store", "mnt"}),
              HasSubstr("for MongoDB deployments"));
  EXPECT_THAT(refusal_of({"--disk-cache=/cache", "--disk-cache-size=5K", uri, "mnt"}),
              HasSubstr("1M or more"));
  EXPECT_THAT(refusal_of({"--disk-cache=mnt/cache", uri, "mnt"}), HasSubstr("mount point"));
  EXPECT_EQ(refusal_of({"--disk-cache=mnt-cache", uri, "mnt"}), "");
  EXPECT_THAT(refusal_of({"--disk-cache-size=5M", uri, "mnt"}), HasSubstr("--disk-cache"));
  EXPECT_THAT(refusal_of({"--disk-cache=/cache", "--read-ahead=0", uri, "mnt"}),
              HasSubstr("--read-ahead"));
  EXPECT_THAT(refusal_of({"--db=x", uri, "mnt"}), HasSubstr("contradicts"));
  EXPECT_THAT(refusal_of({"mongodb://a:b:c", "mnt"}), HasSubstr("not a MongoDB URI"));
  EXPECT_THAT(refusal_of({"mongodb:/host/db", "mnt"}), HasSubstr("begins with mongodb://"));
  EXPECT_THAT(refusal_of({"--password-file=x", uri, "mnt"}), HasSubstr("without a password"));
  EXPECT_THAT(refusal_of({"--server-timeout=0", uri, "mnt"}), HasSubstr("--server-timeout"));
  EXPECT_THAT(refusal_of({"--db=x", uri, "mnt"}), testing::Not(HasSubstr("secret")));
}

TEST(GridmountOptions, BadValues_AreRefused) {
  for (const char* name : {"", "bad/name", "a.b"}) {
    EXPECT_THAT(refusal({"--db", name}), HasSubstr("--db: Invalid database name")) << name;
  }
  EXPECT_THAT(refusal({"-o", "db=bad/name"}), HasSubstr("--db"));
  EXPECT_THAT(refusal({"-o", "uid=x"}), HasSubstr("uid"));
  EXPECT_THAT(refusal({"-o", "uid=-1"}), HasSubstr("uid"));
  EXPECT_THAT(refusal({"-o", "uid=4294967295"}), HasSubstr("uid"));
  EXPECT_THAT(refusal({"-o", "umask=8"}), HasSubstr("umask"));
  EXPECT_THAT(refusal({"-o", "umask=1000"}), HasSubstr("umask"));
  EXPECT_THAT(refusal({"-o", "bucket="}), HasSubstr("bucket"));
  EXPECT_THAT(refusal({"--chunk-size", "0"}), HasSubstr("--chunk-size"));
  EXPECT_THAT(refusal({"--chunk-size", "16M"}), HasSubstr("--chunk-size"));
  EXPECT_THAT(refusal({"--chunk-size", "many"}), HasSubstr("--chunk-size"));
  EXPECT_THAT(refusal({"--dirty-bytes", "1"}), HasSubstr("--dirty-bytes"));
  EXPECT_THAT(refusal({"--checkpoint-interval", "0"}), HasSubstr("--checkpoint-interval"));
  EXPECT_THAT(refusal({"--checkpoint-interval", "nan"}), HasSubstr("--checkpoint-interval"));
  EXPECT_THAT(refusal({"--stuck-after", "-1"}), HasSubstr("--stuck-after"));
  EXPECT_THAT(refusal({"--stuck-after", "nan"}), HasSubstr("--stuck-after"));
  EXPECT_THAT(refusal({"--checkpoint-bytes", "1K"}), HasSubstr("--checkpoint-bytes"));
  EXPECT_THAT(refusal({"--size-limit", "1K"}), HasSubstr("--size-limit"));
  EXPECT_THAT(refusal({"--log-level", "loud"}), HasSubstr("--log-level"));
  EXPECT_THAT(refusal({"--create", "-o", "ro"}), HasSubstr("--create"));
}

TEST(GridmountOptions, MissingPlaces_AreRefused) {
  EXPECT_FALSE(parse_command_line({}));
  EXPECT_FALSE(parse_command_line({"/store"}));
}

TEST(GridmountOptions, HelpAndVersion_AreText) {
  auto help = parse_command_line({"--help"});
  ASSERT_TRUE(help && help->text);
  for (const char* part : {"--create", "bucket=NAME", "Exit status", "owns the store"}) {
    EXPECT_THAT(*help->text, HasSubstr(part));
  }
  // The text must not show names from the library that parses the options.
  for (const char* part : {"TEXT", "UINT", "FLOAT", "1024b", ":{"}) {
    EXPECT_THAT(*help->text, testing::Not(HasSubstr(part)));
  }
  std::istringstream lines(*help->text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  auto version = parse_command_line({"--version"});
  ASSERT_TRUE(version && version->text);
  EXPECT_THAT(*version->text, testing::StartsWith("gridmount "));
}

}  // namespace
}  // namespace gridmount::fuse
