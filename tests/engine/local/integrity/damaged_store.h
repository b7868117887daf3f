// A store that tests damage. To do so, the fixture closes the store, changes its trees directly,
// and opens it again.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "engine/local/catalog/catalog.h"
#include "engine/local/format/record.h"
#include "engine/local/storage/trees.h"
#include "engine/store.h"

namespace gridmount::local {

// Parses JSON. Fails the test if it is malformed.
bson::Document doc(const std::string& text);

// The collection test.c with the documents {_id: 1..5, a: "value"} as records 1 to 5 and the index
// by_a on `a`.
class DamagedStore : public testing::Test {
 protected:
  static constexpr int kDocuments = 5;

  void SetUp() override;
  void TearDown() override;

  void open();
  std::unique_ptr<engine::Collection> collection() {
    return store_->database("test")->collection("c");
  }
  void insert(const std::string& document);

  // Changes the closed store's trees.
  void change(const std::function<Status(Trees&, Catalog&, const CollectionMetadata&)>& work);
  // Lets `edit` change the bytes of a record's value.
  void edit_record(RecordId id, const std::function<void(std::string& value)>& edit);

  // Returns what check_structure() finds.
  std::vector<std::string> problems();

  Result<std::optional<bson::View>> find_one(engine::Snapshot& snapshot, const std::string& filter,
                                             bool partial = false);

  std::filesystem::path folder_;
  std::unique_ptr<engine::Store> store_;
};

}  // namespace gridmount::local
