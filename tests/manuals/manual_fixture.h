// A store in a temporary folder, and the shell's verbs on it. All texts are in the shell's notation
// (shell_text.h), so a test contains each example as the manual prints it.
//
// A verb that returns a Result lets the test examine the error. The other verbs fail the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/local/open_store.h"
#include "engine/store.h"
#include "tests/manuals/shell_text.h"
#include "tests/manuals/store_under_test.h"

namespace gridmount::manuals {

using Text = std::string_view;
using Strings = std::vector<std::string>;

// Returns relaxed Extended JSON, the form in which results are compared.
std::string json(bson::View document);
std::string json(bson::ValueView value);
// Returns each document of a text in that form. For the results that a test expects.
Strings json_each(Text documents);

std::string describe(const Error& error);

// Returns the options of a new store. Its TTL monitor runs every 20 ms, so that no test waits long
// for it.
local::OpenOptions open_options();

MATCHER(Succeeded, "succeeded") {
  *result_listener << (arg ? std::string("success") : describe(arg.error()));
  return arg.has_value();
}
MATCHER_P(FailedWith, code, "") {
  *result_listener << (arg ? std::string("success") : describe(arg.error()));
  return !arg.has_value() && arg.error().code() == code;
}

struct Find {
  Text sort = "{}";
  Text projection = "{}";
  int64_t skip = 0;
  int64_t limit = 0;
  std::optional<bson::Value> hint = {};
};

struct FindAndModify {
  Text query = "{}";
  Text update = "{}";
  Text sort = "{}";
  bool remove = false;
  bool return_new = false;
  bool upsert = false;
};

// The report of explain: the stages from the last one to the source ("FETCH IXSCAN(parent_1)"), and
// how many documents and keys the plan returned and examined.
struct Explained {
  std::string plan;
  int64_t returned = 0;
  int64_t keys = 0;
  int64_t documents = 0;
};

class Manual : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;  // also checks the structure of the store

  engine::Store& store() { return store_->store(); }
  bool has_transactions() const { return store_->has_transactions(); }
  // Returns the number of entries in all indexes of all collections.
  uint64_t index_entries();
  // Sets the database of the verbs below. It is "test" at first.
  void use(Text database) { database_ = database; }
  std::shared_ptr<engine::Database> db() { return store().database(database_); }
  std::unique_ptr<engine::Collection> collection(Text name) { return db()->collection(name); }
  std::unique_ptr<engine::Snapshot> snapshot();
  std::unique_ptr<engine::Transaction> begin();

  // Inserts all documents of the text.
  void insert(Text name, Text documents);
  // Returns the new document's _id.
  Result<bson::Value> try_insert(Text name, bson::View document,
                                 const engine::InsertOptions& options = {});
  Result<bson::Value> try_insert(Text name, Text one) { return try_insert(name, document(one)); }

  Strings find(Text name, Text filter = "{}", const Find& options = {});
  // Returns the _id of each document that is found, as JSON.
  Strings ids(Text name, Text filter, const Find& options = {});
  bson::Document find_one(Text name, Text filter = "{}", Text projection = "{}");
  // Returns the value of a field, as JSON. Exactly one document must match.
  std::string field(Text name, Text filter, Text path);
  int64_t count(Text name, Text filter = "{}");
  Strings distinct(Text name, Text path, Text filter = "{}");
  Strings aggregate(Text name, Text stages);
  // Ignores `skip` and `limit`.
  Explained explain(Text name, Text filter, const Find& options = {});

  engine::UpdateResult update(Text name, Text filter, Text update,
                              const engine::UpdateOptions& options = {});
  Result<engine::UpdateResult> try_update(Text name, Text filter, Text update,
                                          const engine::UpdateOptions& options = {});
  engine::FindAndModifyResult find_and_modify(Text name, const FindAndModify& options);
  int64_t remove(Text name, Text filter);

  // `options` are those of createIndex().
  void create_index(Text name, Text keys, Text options = "{}");
  Status try_create_index(Text name, Text keys, Text options = "{}");
  Strings index_names(Text name);
  Status create(Text name, Text options);
  Status modify(Text name, Text changes);
  Strings collection_names();

 private:
  Strings gather(Result<std::unique_ptr<engine::Cursor>> cursor);

  std::filesystem::path folder_;
  std::unique_ptr<StoreUnderTest> store_;
  std::string database_ = "test";
};

}  // namespace gridmount::manuals
