#include "tests/manuals/manual_fixture.h"

#include <unistd.h>

#include <cstdlib>

#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/local/integrity/structure_check.h"

namespace gridmount::manuals {
namespace {

using engine::Transaction;

std::string stages_of(bson::View stage) {
  std::string stages(stage["stage"].as_string());
  if (const auto name = stage.find("indexName")) {
    stages += "(" + std::string(name->as_string()) + ")";
  }
  if (const auto input = stage.find("inputStage")) stages += " " + stages_of(input->as_document());
  return stages;
}

// Runs `work` in the transaction, and commits the transaction if `work` succeeds.
template <typename Work>
auto commit(Transaction& transaction, const Work& work) -> decltype(work(transaction)) {
  auto result = work(transaction);
  if (!result) return result;
  GM_TRY(transaction.commit());
  return result;
}

template <typename T>
T must(Result<T> result) {
  EXPECT_THAT(result, Succeeded());
  return result ? std::move(result).value() : T();
}

}  // namespace

std::string json(bson::View document) {
  return bson::to_json(document, bson::JsonForm::kRelaxed);
}

std::string json(bson::ValueView value) {
  return bson::to_json(value, bson::JsonForm::kRelaxed);
}

Strings json_each(Text text) {
  Strings all;
  for (const bson::Document& each : documents(text)) all.push_back(json(each));
  return all;
}

std::string describe(const Error& error) {
  return error_code_name(error.code()) + ": " + error.message();
}

local::OpenOptions open_options() {
  local::OpenOptions options;
  options.create = true;
  options.expiry_interval = std::chrono::milliseconds(20);
  return options;
}

void Manual::SetUp() {
  std::string pattern = (std::filesystem::temp_directory_path() / "gridmount-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  store_ = StoreUnderTest::make(folder_ / "store");
  ASSERT_NE(store_, nullptr);
}

void Manual::TearDown() {
  if (store_) {
    const auto report = local::check_structure(store_->embedded());
    EXPECT_THAT(report, Succeeded());
    if (report) {
      EXPECT_THAT(report->problems, testing::IsEmpty());
    }
  }
  store_.reset();
  std::filesystem::remove_all(folder_);
}

uint64_t Manual::index_entries() {
  const auto report = local::check_structure(store_->embedded());
  EXPECT_THAT(report, Succeeded());
  return report ? report->index_entries : 0;
}

std::unique_ptr<engine::Snapshot> Manual::snapshot() {
  return must(store().snapshot());
}

std::unique_ptr<Transaction> Manual::begin() {
  return must(store().begin());
}

Result<bson::Value> Manual::try_insert(Text name, bson::View document,
                                       const engine::InsertOptions& options) {
  return commit(*begin(), [&](Transaction& transaction) -> Result<bson::Value> {
    GM_ASSIGN(engine::InsertResult inserted,
              collection(name)->insert(transaction, document, options));
    return std::move(inserted.id);
  });
}

void Manual::insert(Text name, Text text) {
  for (const bson::Document& each : documents(text)) {
    EXPECT_THAT(try_insert(name, each), Succeeded()) << json(each);
  }
}

Strings Manual::gather(Result<std::unique_ptr<engine::Cursor>> cursor) {
  Strings found;
  EXPECT_THAT(cursor, Succeeded());
  while (cursor) {
    const Result<std::optional<bson::View>> next = (*cursor)->next();
    EXPECT_THAT(next, Succeeded());
    if (!next || !*next) break;
    found.push_back(json(**next));
  }
  return found;
}

Strings Manual::find(Text name, Text filter, const Find& options) {
  const bson::Document sort = document(options.sort);
  const bson::Document projection = document(options.projection);
  engine::FindOptions find;
  find.sort = sort;
  find.projection = projection;
  find.skip = options.skip;
  find.limit = options.limit;
  find.hint = options.hint;
  const auto view = snapshot();
  return gather(collection(name)->find(*view, document(filter), find));
}

Strings Manual::ids(Text name, Text filter, const Find& options) {
  Strings ids;
  for (const std::string& found : find(name, filter, options)) {
    ids.push_back(json(must(bson::document_from_json(found)).view()["_id"]));
  }
  return ids;
}

bson::Document Manual::find_one(Text name, Text filter, Text projection) {
  const bson::Document wanted = document(projection);
  engine::FindOptions options;
  options.projection = wanted;
  const auto view = snapshot();
  const auto found = must(collection(name)->find_one(*view, document(filter), options));
  EXPECT_TRUE(found.has_value()) << filter;
  return found ? bson::Document(*found) : bson::Document();
}

std::string Manual::field(Text name, Text filter, Text path) {
  EXPECT_EQ(count(name, filter), 1) << filter;
  const bson::Document found = find_one(name, filter);
  const std::optional<bson::ValueView> value = found.find(path);
  return value ? json(*value) : "no such field";
}

int64_t Manual::count(Text name, Text filter) {
  return must(collection(name)->count(*snapshot(), document(filter)));
}

Strings Manual::distinct(Text name, Text path, Text filter) {
  Strings values;
  for (const bson::Value& value :
       must(collection(name)->distinct(*snapshot(), path, document(filter)))) {
    values.push_back(json(value));
  }
  return values;
}

Strings Manual::aggregate(Text name, Text stages) {
  const bson::Document pipeline = array(stages);
  const auto view = snapshot();
  return gather(collection(name)->aggregate(*view, pipeline));
}

Explained Manual::explain(Text name, Text filter, const Find& options) {
  const bson::Document sort = document(options.sort);
  const bson::Document projection = document(options.projection);
  engine::FindOptions find;
  find.sort = sort;
  find.projection = projection;
  find.hint = options.hint;
  const bson::Document explained = must(collection(name)->explain(
      *snapshot(), document(filter), find, engine::Verbosity::kExecutionStats));
  const auto planner = explained.find("queryPlanner");
  const auto stats = explained.find("executionStats");
  if (!planner || !stats) return {};
  const bson::View execution = stats->as_document();
  return {stages_of(planner->as_document()["winningPlan"].as_document()),
          execution["nReturned"].integral().value_or(-1),
          execution["totalKeysExamined"].integral().value_or(-1),
          execution["totalDocsExamined"].integral().value_or(-1)};
}

Result<engine::UpdateResult> Manual::try_update(Text name, Text filter, Text update,
                                                const engine::UpdateOptions& options) {
  return commit(*begin(), [&](Transaction& transaction) {
    return collection(name)->update(transaction, document(filter), document(update), options);
  });
}

engine::UpdateResult Manual::update(Text name, Text filter, Text update,
                                    const engine::UpdateOptions& options) {
  return must(try_update(name, filter, update, options));
}

engine::FindAndModifyResult Manual::find_and_modify(Text name, const FindAndModify& options) {
  const bson::Document sort = document(options.sort);
  engine::FindAndModifyOptions modify;
  modify.sort = sort;
  modify.remove = options.remove;
  modify.return_new = options.return_new;
  modify.upsert = options.upsert;
  return must(commit(*begin(), [&](Transaction& transaction) {
    return collection(name)->find_and_modify(transaction, document(options.query),
                                             document(options.update), modify);
  }));
}

int64_t Manual::remove(Text name, Text filter) {
  return must(commit(*begin(), [&](Transaction& transaction) {
    return collection(name)->remove(transaction, document(filter), true);
  }));
}

Status Manual::try_create_index(Text name, Text keys, Text options) {
  return commit(*begin(), [&](Transaction& transaction) -> Status {
    bson::Builder specification;
    specification.append("key", document(keys)).append_all(document(options));
    GM_ASSIGN(const engine::IndexDefinition index,
              engine::IndexDefinition::parse(std::move(specification).finish()));
    return collection(name)->create_index(transaction, index);
  });
}

void Manual::create_index(Text name, Text keys, Text options) {
  EXPECT_THAT(try_create_index(name, keys, options), Succeeded()) << keys;
}

Strings Manual::index_names(Text name) {
  Strings names;
  for (const engine::IndexDefinition& index : must(collection(name)->indexes(*snapshot()))) {
    names.push_back(index.name);
  }
  return names;
}

Status Manual::create(Text name, Text options) {
  return commit(*begin(), [&](Transaction& transaction) {
    return db()->create(transaction, name, document(options));
  });
}

Status Manual::modify(Text name, Text changes) {
  return commit(*begin(), [&](Transaction& transaction) -> Status {
    GM_TRY(db()->modify(transaction, name, document(changes)));
    return {};
  });
}

Strings Manual::collection_names() {
  Strings names;
  for (const engine::CollectionInfo& info : must(db()->collections(*snapshot()))) {
    names.push_back(info.name);
  }
  return names;
}

}  // namespace gridmount::manuals
