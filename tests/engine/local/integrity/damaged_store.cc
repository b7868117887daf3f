#include "tests/engine/local/integrity/damaged_store.h"

#include <unistd.h>

#include <cstdlib>

#include "engine/bson/json.h"
#include "engine/local/catalog/records.h"
#include "engine/local/integrity/structure_check.h"
#include "engine/local/open_store.h"
#include "engine/local/storage/environment.h"

namespace gridmount::local {

bson::Document doc(const std::string& text) {
  Result<bson::Document> document = bson::document_from_json(text);
  EXPECT_TRUE(document.has_value()) << text;
  return std::move(document).value();
}

void DamagedStore::SetUp() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gridmount-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  open();
  const auto transaction = store_->begin();
  ASSERT_TRUE(transaction.has_value());
  ASSERT_TRUE(collection()->create_index(**transaction, {"by_a", doc(R"({"a": 1})"), false}));
  for (int id = 1; id <= kDocuments; ++id) {
    ASSERT_TRUE(collection()->insert(
        **transaction, doc(R"({"_id": )" + std::to_string(id) + R"(, "a": "value"})")));
  }
  ASSERT_TRUE((*transaction)->commit());
}

void DamagedStore::TearDown() {
  store_.reset();
  std::filesystem::remove_all(folder_);
}

void DamagedStore::open() {
  OpenOptions options;
  options.create = true;
  Result<std::unique_ptr<engine::Store>> opened = local::open(folder_ / "store", options);
  ASSERT_TRUE(opened.has_value()) << opened.error().message();
  store_ = std::move(opened).value();
}

void DamagedStore::insert(const std::string& document) {
  const auto transaction = store_->begin();
  ASSERT_TRUE(collection()->insert(**transaction, doc(document)));
  ASSERT_TRUE((*transaction)->commit());
}

void DamagedStore::change(
    const std::function<Status(Trees&, Catalog&, const CollectionMetadata&)>& work) {
  store_.reset();
  {
    auto environment = Environment::open(folder_ / "store", OpenOptions());
    ASSERT_TRUE(environment.has_value()) << environment.error().message();
    TreeHandles handles;
    handles.catalog = (*environment)->catalog();
    handles.checksums = true;
    handles.collations = true;
    handles.text_and_wildcard_indexes = true;
    for (int i = 0; i < Environment::kTreeCount; ++i) {
      handles.keyspaces.push_back((*environment)->tree(i));
    }
    auto transaction = (*environment)->begin_write();
    ASSERT_TRUE(transaction.has_value());
    const auto trees = std::make_shared<Trees>(transaction->lmdb(), handles, true);
    CatalogCache cache;
    Catalog catalog(trees, cache);
    const auto entry = catalog.find({"test", "c"});
    ASSERT_TRUE(entry.has_value() && *entry);
    const Status changed = work(*trees, catalog, **entry);
    ASSERT_TRUE(changed.has_value()) << changed.error().message();
    ASSERT_TRUE(catalog.write_counts());
    trees->end();
    ASSERT_TRUE(transaction->commit());
  }
  open();
}

void DamagedStore::edit_record(RecordId id, const std::function<void(std::string& value)>& edit) {
  change([&](Trees& trees, Catalog&, const CollectionMetadata& metadata) -> Status {
    GM_ASSIGN(const std::optional<std::string_view> found, get_record(trees, metadata.records, id));
    std::string value(found.value());
    edit(value);
    return trees.put(trees.tree(metadata.records), RecordKey(metadata.records, id).view(), value);
  });
}

std::vector<std::string> DamagedStore::problems() {
  const auto report = check_structure(*store_);
  EXPECT_TRUE(report.has_value());
  return report->problems;
}

Result<std::optional<bson::View>> DamagedStore::find_one(engine::Snapshot& snapshot,
                                                         const std::string& filter, bool partial) {
  engine::FindOptions options;
  options.partial = partial;
  return collection()->find_one(snapshot, doc(filter), options);
}

}  // namespace gridmount::local
