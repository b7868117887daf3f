// A store folder in a temporary folder, prepared by hand. Its owners are killed in child processes.
// Each error of an opening must have the right code, name the store and say what to do, in one
// line.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "engine/local/storage/environment.h"
#include "engine/local/test_options.h"

namespace gridmount::local {

namespace fs = std::filesystem;

inline std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void put_contents(const fs::path& path, const std::string& contents) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << contents;
}

inline void put_bytes_at(const fs::path& path, std::streamoff offset, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(offset);
  file << bytes;
}

class StoreFolderTest : public ::testing::Test {
 protected:
  StoreFolderTest() {
    std::string name = (fs::temp_directory_path() / "store_folder_test.XXXXXX");
    folder_ = ::mkdtemp(name.data());
  }
  ~StoreFolderTest() override { fs::remove_all(folder_); }

  fs::path store() const { return folder_ / "s"; }

  using Opened = Result<std::unique_ptr<Environment>>;
  Opened create() { return open({.create = true}); }
  Opened open(OpenOptions options = {}) {
    options.checkpoint_interval = std::chrono::hours(1);
    return Environment::open(store(), options);
  }
  Opened open_read_only() { return open({.read_only = true}); }
  // Opens the store as after a reboot.
  Opened open_after_power_loss(bool read_only = false) {
    TestOptions test;
    test.boot_id = "another boot";
    return Environment::open(store(), {.read_only = read_only}, test);
  }

  void expect_error(const Opened& opened, ErrorCode code, const std::string& words) {
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), code) << opened.error().message();
    EXPECT_THAT(opened.error().message(), ::testing::AllOf(::testing::HasSubstr(words),
                                                           ::testing::HasSubstr(store().string())));
    EXPECT_THAT(opened.error().message(), ::testing::Not(::testing::HasSubstr("\n")));
  }

  static bool put(Environment& environment, const std::string& key, const std::string& value) {
    auto transaction = environment.begin_write();
    if (!transaction) return false;
    MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
    MDB_val mdb_value{value.size(), const_cast<char*>(value.data())};
    if (mdb_put(transaction->lmdb(), environment.tree(0), &mdb_key, &mdb_value, 0) != 0) {
      return false;
    }
    return transaction->commit().has_value();
  }

  static std::string get(Environment& environment, const std::string& key) {
    auto transaction = environment.begin_read();
    if (!transaction) return "ERROR " + transaction.error().message();
    MDB_val mdb_key{key.size(), const_cast<char*>(key.data())};
    MDB_val value;
    if (mdb_get(transaction->lmdb(), environment.tree(0), &mdb_key, &value) != 0) return "";
    return {static_cast<const char*>(value.mv_data), value.mv_size};
  }

  // Runs the function in a child process, which is then killed. Returns true if the function
  // returned.
  template <typename Function>
  static bool run_and_kill(Function function) {
    const pid_t child = ::fork();
    if (child == 0) {
      function();
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

  // Makes a store whose owner was killed after it had committed "k" = "killed" without a
  // checkpoint.
  void make_killed_store() {
    ASSERT_TRUE(run_and_kill([&] {
      auto environment = create();
      if (!environment || !put(**environment, "k", "durable") || !(*environment)->checkpoint() ||
          !put(**environment, "k", "killed")) {
        ::_exit(1);
      }
      environment->release();  // never closed
    }));
  }

  fs::path folder_;
};

}  // namespace gridmount::local
