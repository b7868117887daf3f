#include "engine/aggregation/collection_replacement.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/value.h"

namespace gridmount::aggregation {
namespace {

constexpr ErrorCode kOutputIsCapped{17152};

class NewCollection : public query::CollectionReplacement {
 public:
  NewCollection(std::shared_ptr<engine::Database> database, engine::Transaction& transaction,
                std::string_view collection, bool bypass_validation)
      : database_(std::move(database)),
        transaction_(transaction),
        name_(collection),
        made_name_("tmp.agg_out." + bson::ObjectId::generate().hex()),
        made_(database_->collection(made_name_)),
        options_{.bypass_validation = bypass_validation} {}

  // Removes the new collection unless finish() has succeeded.
  ~NewCollection() override {
    // The drop fails if there is no new collection, or with an error after which the transaction
    // cannot commit.
    if (!finished_) (void)database_->drop(transaction_, made_name_);
  }

  Status create() {
    GM_ASSIGN(const std::optional<engine::CollectionInfo> replaced,
              database_->collection_info(transaction_, name_));
    if (replaced) {
      const engine::Namespace ns{database_->name(), name_};
      GM_ASSIGN(const engine::CollectionOptions options,
                engine::CollectionOptions::parse(ns, replaced->options));
      if (options.capped) {
        return fail(kOutputIsCapped,
                    "namespace '" + ns.full() + "' is capped so it can't be used for $out");
      }
      if (options.is_view()) {
        return fail(ErrorCode::kCommandNotSupportedOnView,
                    ns.full() + " is a view, and $out cannot write to a view");
      }
    }
    GM_TRY(database_->create(transaction_, made_name_,
                             replaced ? replaced->options.view() : bson::View()));
    GM_ASSIGN(const std::vector<engine::IndexDefinition> indexes,
              database_->collection(name_)->indexes(transaction_));
    for (const engine::IndexDefinition& index : indexes) {
      if (index.name != "_id_") GM_TRY(made_->create_index(transaction_, index));
    }
    return {};
  }

  Status add(bson::View document) override {
    GM_TRY(made_->insert(transaction_, document, options_));
    return {};
  }

  Status finish() override {
    GM_TRY(database_->rename(transaction_, made_name_, {database_->name(), name_}, true));
    finished_ = true;
    return {};
  }

 private:
  const std::shared_ptr<engine::Database> database_;
  engine::Transaction& transaction_;
  const std::string name_;
  const std::string made_name_;
  const std::unique_ptr<engine::Collection> made_;
  const engine::InsertOptions options_;
  bool finished_ = false;
};

}  // namespace

Result<std::unique_ptr<query::CollectionReplacement>> replace_collection_in(
    std::shared_ptr<engine::Database> database, engine::Transaction& transaction,
    std::string_view collection, bool bypass_validation) {
  auto made = std::make_unique<NewCollection>(std::move(database), transaction, collection,
                                              bypass_validation);
  GM_TRY(made->create());
  return std::unique_ptr<query::CollectionReplacement>(std::move(made));
}

}  // namespace gridmount::aggregation
