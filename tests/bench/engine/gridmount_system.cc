// The benchmark's operations on the embedded document store of engine/local.

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/local/local_store.h"
#include "engine/local/open_store.h"
#include "engine/local/storage/environment.h"
#include "engine/store.h"
#include "tests/bench/engine/result_value.h"
#include "tests/bench/engine/system.h"

namespace gridmount::bench {
namespace {

using engine::Durability;

bson::Document by_id(Number n) {
  bson::Builder builder;
  builder.append("_id", Documents::id(n));
  return std::move(builder).finish();
}

class GridmountSystem final : public System {
 public:
  GridmountSystem(const std::filesystem::path& folder, const Documents& documents,
                  const SystemOptions& options)
      : folder_(folder), documents_(documents) {
    local::OpenOptions open;
    open.create = true;
    open.checkpoint_interval = std::chrono::milliseconds(options.checkpoint_ms);
    store_ = value_of(local::open(folder, open));
    collection_ = store_->database("bench")->collection("documents");
    create_index("email");
    create_index("number");
    settle();
  }

  void prepare_insert(Slice numbers) override {
    prepared_.clear();
    for (uint64_t i = 0; i < numbers.count; ++i) {
      prepared_.push_back(documents_.bson(static_cast<Number>(numbers.first + i)));
    }
  }

  void insert(uint64_t per_transaction, bool durable) override {
    const Durability durability = durable ? Durability::kDurable : Durability::kCommitted;
    for (size_t i = 0; i < prepared_.size();) {
      const auto transaction = value_of(store_->begin(engine::TransactionKind::kShort));
      const size_t end = std::min<size_t>(prepared_.size(), i + per_transaction);
      for (; i < end; ++i) (void)value_of(collection_->insert(*transaction, prepared_[i]));
      check(transaction->commit(durability));
    }
  }

  bool read_by_id(Number n, Reader& reader) override { return read_one(by_id(n), reader); }

  bool read_by_email(Number n, Reader& reader) override {
    bson::Builder filter;
    filter.append("email", Documents::email(n));
    return read_one(std::move(filter).finish(), reader);
  }

  uint64_t scan_numbers(Slice numbers, Reader& reader) override {
    bson::Builder filter;
    filter.open_document("number")
        .append("$gte", static_cast<int64_t>(numbers.first))
        .append("$lt", static_cast<int64_t>(numbers.first + numbers.count))
        .close();
    bson::Builder sort;
    sort.append("number", int32_t{1});
    const bson::Document order = std::move(sort).finish();
    engine::FindOptions options;
    options.sort = order;
    const auto snapshot = value_of(store_->snapshot());
    const auto cursor = value_of(collection_->find(*snapshot, std::move(filter).finish(), options));
    uint64_t count = 0;
    while (const std::optional<bson::View> document = value_of(cursor->next())) {
      reader.take(*document);
      ++count;
    }
    return count;
  }

  uint64_t count_amount_below(double amount) override {
    bson::Builder filter;
    filter.open_document("amount").append("$lt", amount).close();
    const auto snapshot = value_of(store_->snapshot());
    return static_cast<uint64_t>(
        value_of(collection_->count(*snapshot, std::move(filter).finish())));
  }

  uint64_t group_by_category(double amount_below) override {
    bson::Builder builder;
    builder.open_array("stages");
    builder.push_open_document().open_document("$match").open_document("amount");
    builder.append("$lt", amount_below).close().close().close();
    builder.push_open_document().open_document("$group").append("_id", "$category");
    builder.open_document("documents").append("$sum", int32_t{1}).close();
    builder.open_document("sum").append("$sum", "$count").close().close().close();
    builder.close();
    const bson::Document stages = std::move(builder).finish();
    const auto snapshot = value_of(store_->snapshot());
    const auto cursor =
        value_of(collection_->aggregate(*snapshot, stages.view()["stages"].as_document()));
    uint64_t sum = 0;
    while (const std::optional<bson::View> group = value_of(cursor->next())) {
      sum += static_cast<uint64_t>((*group)["documents"].integral().value_or(0));
      sum += static_cast<uint64_t>((*group)["sum"].integral().value_or(0));
    }
    return sum;
  }

  bool increment_count(Number n) override {
    bson::Builder update;
    update.open_document("$inc").append("count", int32_t{1}).close();
    return update_one(n, std::move(update).finish());
  }

  bool set_text(Number n, std::string_view text) override {
    bson::Builder update;
    update.open_document("$set").append("text", text).close();
    return update_one(n, std::move(update).finish());
  }

  bool remove(Number n) override {
    const auto transaction = value_of(store_->begin(engine::TransactionKind::kShort));
    const int64_t removed = value_of(collection_->remove(*transaction, by_id(n), false));
    check(transaction->commit());
    return removed == 1;
  }

  void create_index(std::string_view field) override {
    bson::Builder keys;
    keys.append(field, int32_t{1});
    engine::IndexDefinition definition;
    definition.keys = std::move(keys).finish();
    const auto transaction = value_of(store_->begin(engine::TransactionKind::kShort));
    check(collection_->create_index(*transaction, definition));
    check(transaction->commit());
  }

  void settle() override {
    // Otherwise the log would leave the pages to a checkpoint that runs during the other system's
    // time.
    check(dynamic_cast<local::LocalStore&>(*store_).environment().checkpoint());
  }

  Footprint footprint() override {
    const auto snapshot = value_of(store_->snapshot());
    const engine::CollectionStats stats = value_of(collection_->stats(*snapshot));
    return {static_cast<uint64_t>(stats.documents), bytes_on_disk(folder_)};
  }

 private:
  bool read_one(const bson::Document& filter, Reader& reader) {
    const auto snapshot = value_of(store_->snapshot());
    const std::optional<bson::View> document = value_of(collection_->find_one(*snapshot, filter));
    if (document) reader.take(*document);
    return document.has_value();
  }

  bool update_one(Number n, const bson::Document& update) {
    const auto transaction = value_of(store_->begin(engine::TransactionKind::kShort));
    const engine::UpdateResult result =
        value_of(collection_->update(*transaction, by_id(n), update));
    check(transaction->commit());
    return result.modified == 1;
  }

  const std::filesystem::path folder_;
  const Documents& documents_;
  std::unique_ptr<engine::Store> store_;
  std::unique_ptr<engine::Collection> collection_;
  std::vector<bson::Document> prepared_;
};

}  // namespace

std::unique_ptr<System> make_gridmount(const std::filesystem::path& folder,
                                       const Documents& documents, const SystemOptions& options) {
  return std::make_unique<GridmountSystem>(folder, documents, options);
}

}  // namespace gridmount::bench
