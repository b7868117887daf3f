#include "tests/engine/contract/store_contract.h"

#include <unistd.h>

#include <cstdlib>

namespace gridmount::engine {

bson::Document doc(std::string_view json) {
  Result<bson::Document> document = bson::document_from_json(json);
  if (!document) {
    ADD_FAILURE() << "bad JSON in a test: " << json << ": " << document.error().message();
    return bson::Document();
  }
  return std::move(document).value();
}

std::string json(bson::View document) {
  return bson::to_json(document, bson::JsonForm::kRelaxed);
}

std::string describe(const Error& error) {
  return std::string(error_code_name(error.code())) + " (" +
         std::to_string(static_cast<int32_t>(error.code())) + "): " + error.message();
}

void StoreContract::SetUp() {
  if (GetParam().difference) {
    // The name has the form "Name/Store".
    std::string_view test = testing::UnitTest::GetInstance()->current_test_info()->name();
    test = test.substr(0, test.find('/'));
    const std::string_view reason = GetParam().difference(test);
    if (!reason.empty()) GTEST_SKIP() << reason;
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "gridmount-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  Result<std::unique_ptr<Store>> opened = GetParam().open(folder_ / "store");
  ASSERT_THAT(opened, Succeeded());
  store_ = std::move(opened).value();
}

void StoreContract::TearDown() {
  if (store_ && GetParam().check) GetParam().check(*store_);
  store_.reset();
  if (!folder_.empty()) std::filesystem::remove_all(folder_);
}

void StoreContract::reopen() {
  store_.reset();
  Result<std::unique_ptr<Store>> opened = GetParam().open(folder_ / "store");
  ASSERT_THAT(opened, Succeeded());
  store_ = std::move(opened).value();
}

std::unique_ptr<Snapshot> StoreContract::snapshot() {
  Result<std::unique_ptr<Snapshot>> snapshot = store_->snapshot();
  EXPECT_THAT(snapshot, Succeeded());
  return std::move(snapshot).value();
}

std::unique_ptr<Transaction> StoreContract::begin() {
  Result<std::unique_ptr<Transaction>> transaction = store_->begin();
  EXPECT_THAT(transaction, Succeeded());
  return std::move(transaction).value();
}

Status StoreContract::commit(const std::function<Status(Transaction&)>& work) {
  const std::unique_ptr<Transaction> transaction = begin();
  GM_TRY(work(*transaction));
  return transaction->commit();
}

Status StoreContract::try_insert(std::string_view json, std::string_view name) {
  return commit([&](Transaction& transaction) -> Status {
    GM_TRY(collection(name)->insert(transaction, doc(json)));
    return {};
  });
}

void StoreContract::insert(std::string_view json, std::string_view name) {
  EXPECT_THAT(try_insert(json, name), Succeeded()) << json;
}

Status StoreContract::try_create_index(std::string_view keys, bool unique,
                                       std::string_view index_name) {
  return commit([&](Transaction& transaction) {
    return collection()->create_index(transaction, {std::string(index_name), doc(keys), unique});
  });
}

void StoreContract::create_index(std::string_view keys, bool unique, std::string_view index_name,
                                 std::string_view name) {
  EXPECT_THAT(commit([&](Transaction& transaction) {
                return collection(name)->create_index(transaction,
                                                      {std::string(index_name), doc(keys), unique});
              }),
              Succeeded());
}

Status StoreContract::try_create_index_as(std::string_view specification) {
  return commit([&](Transaction& transaction) -> Status {
    GM_ASSIGN(const IndexDefinition index, IndexDefinition::parse(doc(specification)));
    return collection()->create_index(transaction, index);
  });
}

void StoreContract::create_index_as(std::string_view specification) {
  EXPECT_THAT(try_create_index_as(specification), Succeeded()) << specification;
}

std::vector<std::string> StoreContract::index_specifications(std::string_view name) {
  const auto view = snapshot();
  const auto indexes = collection(name)->indexes(*view);
  EXPECT_THAT(indexes, Succeeded());
  std::vector<std::string> all;
  if (!indexes) return all;
  for (const IndexDefinition& index : *indexes) all.push_back(json(index.specification()));
  return all;
}

std::vector<std::string> StoreContract::ids_by(std::string_view index, std::string_view filter) {
  Find options;
  options.hint = bson::Value(index);
  return ids(filter, options);
}

Result<UpdateResult> StoreContract::try_update(std::string_view filter, std::string_view update,
                                               const UpdateOptions& options) {
  const std::unique_ptr<Transaction> transaction = begin();
  GM_ASSIGN(UpdateResult result,
            collection()->update(*transaction, doc(filter), doc(update), options));
  GM_TRY(transaction->commit());
  return result;
}

UpdateResult StoreContract::update(std::string_view filter, std::string_view update,
                                   const UpdateOptions& options) {
  Result<UpdateResult> result = try_update(filter, update, options);
  EXPECT_THAT(result, Succeeded());
  return result ? *result : UpdateResult();
}

int64_t StoreContract::remove(std::string_view filter, bool multi) {
  int64_t removed = 0;
  EXPECT_THAT(commit([&](Transaction& transaction) -> Status {
                GM_ASSIGN(removed, collection()->remove(transaction, doc(filter), multi));
                return {};
              }),
              Succeeded());
  return removed;
}

Result<std::vector<std::string>> StoreContract::try_find(Snapshot& snapshot,
                                                         std::string_view filter,
                                                         const Find& options,
                                                         std::string_view name) {
  const bson::Document conditions = doc(filter);
  const bson::Document sort = options.sort.empty() ? bson::Document() : doc(options.sort);
  const bson::Document projection =
      options.projection.empty() ? bson::Document() : doc(options.projection);
  const bson::Document collation =
      options.collation.empty() ? bson::Document() : doc(options.collation);
  FindOptions find_options;
  find_options.collation = collation;
  find_options.sort = sort;
  find_options.projection = projection;
  find_options.skip = options.skip;
  find_options.limit = options.limit;
  find_options.hint = options.hint;
  find_options.sort_bytes_max = options.sort_bytes_max;

  std::vector<std::string> found;
  GM_ASSIGN(const std::unique_ptr<Cursor> cursor,
            collection(name)->find(snapshot, conditions, find_options));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> next, cursor->next());
    if (!next) break;
    found.push_back(json(*next));
  }
  const Result<std::optional<bson::View>> first =
      collection(name)->find_one(snapshot, conditions, find_options);
  EXPECT_THAT(first, Succeeded());
  if (!first) return found;
  EXPECT_EQ(first->has_value(), !found.empty()) << filter;
  if (first->has_value() && !found.empty()) {
    EXPECT_EQ(json(**first), found.front()) << filter;
  }
  return found;
}

std::vector<std::string> StoreContract::find_in(Snapshot& snapshot, std::string_view filter,
                                                const Find& options, std::string_view name) {
  Result<std::vector<std::string>> found = try_find(snapshot, filter, options, name);
  EXPECT_THAT(found, Succeeded()) << filter;
  return found ? std::move(found).value() : std::vector<std::string>();
}

std::vector<std::string> StoreContract::find(std::string_view filter, const Find& options,
                                             std::string_view name) {
  return find_in(*snapshot(), filter, options, name);
}

std::vector<std::string> StoreContract::ids(std::string_view filter, const Find& options) {
  std::vector<std::string> ids;
  for (const std::string& found : find(filter, options)) {
    const bson::Document document = doc(found);
    ids.push_back(bson::to_json(document.view()["_id"], bson::JsonForm::kRelaxed));
  }
  return ids;
}

int64_t StoreContract::count(std::string_view filter, std::string_view name) {
  const Result<int64_t> counted = collection(name)->count(*snapshot(), doc(filter));
  EXPECT_THAT(counted, Succeeded());
  return counted.value_or(-1);
}

std::vector<std::string> StoreContract::index_names(std::string_view name) {
  std::vector<std::string> names;
  const auto indexes = collection(name)->indexes(*snapshot());
  EXPECT_THAT(indexes, Succeeded());
  if (!indexes) return names;
  for (const IndexDefinition& index : *indexes) names.push_back(index.name);
  return names;
}

std::vector<std::string> StoreContract::database_names() {
  Result<std::vector<std::string>> names = store_->databases(*snapshot());
  EXPECT_THAT(names, Succeeded());
  if (!names) return {};
  std::erase_if(*names, [](const std::string& name) {
    return name == "admin" || name == "config" || name == "local";
  });
  return *std::move(names);
}

std::vector<std::string> StoreContract::collection_names() {
  std::vector<std::string> names;
  const auto infos = db()->collections(*snapshot());
  EXPECT_THAT(infos, Succeeded());
  if (!infos) return names;
  for (const CollectionInfo& info : *infos) names.push_back(info.name);
  return names;
}

}  // namespace gridmount::engine
