// The contract suite of engine/store.h: the behaviour that each implementation must have. The suite
// uses the interface alone. An implementation instantiates the suite StoreContract with a factory
// (see tests/engine/local/store_contract_test.cc).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/store.h"

namespace gridmount::engine {

struct StoreFactory {
  std::string name;
  // Opens the store in the folder, and makes it if it does not exist.
  std::function<Result<std::unique_ptr<Store>>(const std::filesystem::path& folder)> open;
  // Called at the end of every test. Verifies that the store is sound, and reports each fault.
  std::function<void(Store& store)> check;
  // Returns the reason why a test with that name cannot hold on this store, or nothing. The test is
  // then skipped with this reason. Use this function only for differences that no capability
  // expresses.
  std::function<std::string_view(std::string_view test)> difference = {};
};

// Skips the rest of the test if the store does not have the capability.
#define GM_NEEDS(capability) \
  if (!store().capabilities().capability) GTEST_SKIP() << "the store has no " #capability

inline std::ostream& operator<<(std::ostream& out, const StoreFactory& factory) {
  return out << factory.name;
}

// Parses relaxed Extended JSON.
bson::Document doc(std::string_view json);
std::string json(bson::View document);

std::string describe(const Error& error);
template <typename T>
std::string describe(const Result<T>& result) {
  return result ? std::string("success") : describe(result.error());
}

MATCHER(Succeeded, "succeeded") {
  *result_listener << describe(arg);
  return arg.has_value();
}

MATCHER_P(FailedWith, code, "") {
  *result_listener << describe(arg);
  return !arg.has_value() && arg.error().code() == code;
}

// The options of find() as JSON texts. An empty text is no option.
struct Find {
  std::string sort = {};
  std::string projection = {};
  int64_t skip = 0;
  int64_t limit = 0;
  std::optional<bson::Value> hint = {};
  uint64_t sort_bytes_max = 100 * 1024 * 1024;
  std::string collation = {};
};

class StoreContract : public testing::TestWithParam<StoreFactory> {
 protected:
  void SetUp() override;
  void TearDown() override;

  Store& store() { return *store_; }
  void reopen();
  std::shared_ptr<Database> db() { return store_->database("test"); }
  std::unique_ptr<Collection> collection(std::string_view name = "c") {
    return db()->collection(name);
  }
  std::unique_ptr<Snapshot> snapshot();
  std::unique_ptr<Transaction> begin();

  // Each of these functions uses its own transaction, and must succeed.
  void insert(std::string_view json, std::string_view name = "c");
  void create_index(std::string_view keys, bool unique = false, std::string_view index_name = "",
                    std::string_view name = "c");
  // Runs `work` in its own transaction, and commits it if `work` succeeds.
  Status commit(const std::function<Status(Transaction&)>& work);

  UpdateResult update(std::string_view filter, std::string_view update,
                      const UpdateOptions& options = {});
  Result<UpdateResult> try_update(std::string_view filter, std::string_view update,
                                  const UpdateOptions& options = {});
  Status try_insert(std::string_view json, std::string_view name = "c");
  Status try_create_index(std::string_view keys, bool unique, std::string_view index_name = "");
  // Creates an index from a specification as createIndexes accepts it.
  Status try_create_index_as(std::string_view specification);
  void create_index_as(std::string_view specification);
  std::vector<std::string> index_specifications(std::string_view name = "c");
  int64_t remove(std::string_view filter, bool multi = true);

  // Returns the documents as relaxed JSON, in order. Checks both find() and find_one().
  std::vector<std::string> find(std::string_view filter, const Find& options = {},
                                std::string_view name = "c");
  std::vector<std::string> find_in(Snapshot& snapshot, std::string_view filter,
                                   const Find& options = {}, std::string_view name = "c");
  Result<std::vector<std::string>> try_find(Snapshot& snapshot, std::string_view filter,
                                            const Find& options = {}, std::string_view name = "c");
  // Returns the `_id` values of the found documents as JSON.
  std::vector<std::string> ids(std::string_view filter, const Find& options = {});
  // Returns the `_id` values of the documents in an index.
  std::vector<std::string> ids_by(std::string_view index, std::string_view filter);
  int64_t count(std::string_view filter, std::string_view name = "c");
  std::vector<std::string> index_names(std::string_view name = "c");
  std::vector<std::string> collection_names();
  // Returns the names without those that every server has (admin, config, local).
  std::vector<std::string> database_names();

 private:
  std::filesystem::path folder_;
  std::unique_ptr<Store> store_;
};

}  // namespace gridmount::engine
