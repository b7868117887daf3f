// An environment in its own folder. It takes checkpoints only on request, and passes its changes to
// the log as the store does.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "engine/local/storage/environment.h"
#include "engine/local/storage/trees.h"
#include "engine/local/test_options.h"

namespace gridmount::local::testing {

class EnvironmentFixture : public ::testing::Test {
 protected:
  // `kind` is the kind of all write transactions.
  EnvironmentFixture(const std::string& name, engine::TransactionKind kind) : kind_(kind) {
    std::string folder = std::filesystem::temp_directory_path() / (name + ".XXXXXX");
    folder_ = ::mkdtemp(folder.data());
    options_.create = true;
    options_.checkpoint_interval = std::chrono::hours(1);
  }
  ~EnvironmentFixture() override {
    environment_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path store() const { return folder_ / "s"; }

  Status try_open(const std::filesystem::path& folder, const TestOptions& test = {}) {
    environment_.reset();
    GM_ASSIGN(environment_, Environment::open(folder, options_, test));
    handles_ = {environment_->catalog(), {}};
    for (int i = 0; i < Environment::kTreeCount; ++i) {
      handles_.keyspaces.push_back(environment_->tree(i));
    }
    return {};
  }

  using Change = std::function<Status(Trees& trees)>;
  Status write(const Change& change) {
    GM_ASSIGN(WriteTransaction transaction, environment_->begin_write(kind_));
    Trees trees(transaction.lmdb(), handles_, true);
    GM_TRY(change(trees));
    transaction.log(trees.take_changes());
    trees.end();
    return transaction.commit();
  }
  Status put(const std::string& key, const std::string& value) {
    return write([&](Trees& trees) { return trees.put(environment_->tree(0), key, value); });
  }
  std::string get(const std::string& key) {
    auto transaction = environment_->begin_read();
    if (!transaction) return "ERROR " + transaction.error().message();
    const Trees trees(transaction->lmdb(), handles_, false);
    return get_in(trees, key);
  }
  // Like get(), but reads as a short snapshot does.
  std::string get_shortly(const std::string& key) {
    Result<std::optional<WriteTransaction>> in_batch = environment_->begin_read_in_batch();
    if (!in_batch) return "ERROR " + in_batch.error().message();
    if (*in_batch) {
      ++reads_in_batches_;
      Trees trees((*in_batch)->lmdb(), handles_, true);
      std::string value = get_in(trees, key);
      trees.end();
      return value;
    }
    auto transaction = environment_->begin_short_read();
    if (!transaction) return "ERROR " + transaction.error().message();
    const Trees trees(transaction->lmdb(), handles_, false);
    return get_in(trees, key);
  }
  std::string get_in(const Trees& trees, const std::string& key) const {
    const auto value = trees.get(environment_->tree(0), key);
    return value && *value ? std::string(**value) : "";
  }

  // Runs `work` in a child process, which is killed at the end.
  void in_killed_process(const std::function<void()>& work) {
    environment_.reset();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      work();
      ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(WTERMSIG(status), SIGKILL);
  }

  engine::TransactionKind kind_;
  std::atomic<int> reads_in_batches_ = 0;  // how often get_shortly() has read in a batch
  std::filesystem::path folder_;
  OpenOptions options_;
  TreeHandles handles_;
  std::unique_ptr<Environment> environment_;
};

}  // namespace gridmount::local::testing
