#include "tools/gridstore/repair/repair_indexes.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/local/index_steps.h"
#include "gridfs/bucket/chunk_document.h"
#include "tools/gridstore/check/missing_indexes.h"

namespace gridmount::tools {

namespace {

// The index by which the repair finds duplicates. It exists only while a unique index is being
// created, or after a repair that was interrupted meanwhile.
constexpr std::string_view kHelpingIndex = "gridstore_repair";

class IndexRepair {
 public:
  IndexRepair(RepairContext& context, const gridfs::Bucket& bucket, const Location& place,
              const MissingIndex& missing)
      : context_(context),
        place_(place),
        missing_(missing),
        collection_(bucket.database().collection(missing.collection)) {}

  Status run() {
    GM_TRY(drop_conflicting());
    Status made = create(missing_.definition);
    if (!made && made.error().code() == ErrorCode::kDuplicateKey) {
      GM_TRY(remove_duplicates());
      made = create(missing_.definition);
    }
    GM_TRY(std::move(made));
    context_.findings.repaired(place_,
                               missing_.collection + " has its index " + missing_.what + " again");
    return {};
  }

 private:
  Status create(const engine::IndexDefinition& definition) {
    if (context_.store.capabilities().transactional_catalog) {
      return local::make_index_in_steps(context_.store, collection_->ns(), definition);
    }
    // A deployment builds the index in its own steps.
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
    GM_TRY(collection_->create_index(*transaction, definition));
    return transaction->commit();
  }

  Status drop(const std::string& name) {
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
    GM_TRY(collection_->drop_index(*transaction, name));
    return transaction->commit();
  }

  // Drops unusable indexes with the same keys or the same name, and the helping index of an
  // interrupted repair.
  Status drop_conflicting() {
    std::vector<std::string> names;
    {
      GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context_.store.snapshot());
      GM_ASSIGN(const std::vector<engine::IndexDefinition> indexes,
                collection_->indexes(*snapshot));
      for (const engine::IndexDefinition& index : indexes) {
        if (bson::compare(bson::Value(index.keys.view()),
                          bson::Value(missing_.definition.keys.view())) == 0 ||
            index.name == query::default_index_name(missing_.definition.keys) ||
            index.name == kHelpingIndex) {
          names.push_back(index.name);
        }
      }
    }
    for (const std::string& name : names) {
      GM_TRY(drop(name));
      context_.findings.repaired(place_, missing_.collection + ": dropped the index '" + name +
                                             "', which cannot be used as " + missing_.what);
    }
    return {};
  }

  Status remove_duplicates() {
    engine::IndexDefinition helping;
    helping.name = kHelpingIndex;
    bson::Builder keys;
    keys.append_all(missing_.definition.keys).append("_id", int32_t{1});
    helping.keys = std::move(keys).finish();
    GM_TRY(create(helping));
    while (true) {
      GM_ASSIGN(const std::vector<bson::Value> ids, find_duplicates(helping.keys));
      if (ids.empty()) break;
      GM_TRY(remove(ids));
    }
    return drop(helping.name);
  }

  // Returns the _ids of some documents that follow another one with the same key.
  Result<std::vector<bson::Value>> find_duplicates(bson::View order) {
    std::vector<bson::Value> ids;
    std::vector<std::string> paths;
    for (const bson::Element part : order) paths.emplace_back(part.key);
    engine::FindOptions options;
    options.sort = order;
    options.hint = bson::Value(kHelpingIndex);
    options.only_paths = paths;
    options.one_at_a_time = true;
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context_.store.snapshot());
    GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
              collection_->find(*snapshot, bson::View(), options));
    std::optional<bson::Document> before;
    while (ids.size() < kRepairDocumentsMax) {
      GM_ASSIGN(const std::optional<bson::View> next, cursor->next());
      if (!next) break;
      bson::Document key = key_of(*next);
      const bool is_duplicate =
          before && bson::compare(bson::Value(before->view()), bson::Value(key.view())) == 0;
      if (is_duplicate) ids.emplace_back((*next)["_id"]);
      before = std::move(key);
    }
    return ids;
  }

  bson::Document key_of(bson::View document) const {
    static const bson::Value kNull;
    bson::Builder key;
    for (const bson::Element part : missing_.definition.keys.view()) {
      key.append(part.key, document.find(part.key).value_or(kNull.view()));
    }
    return std::move(key).finish();
  }

  Status remove(const std::vector<bson::Value>& ids) {
    for (size_t next = 0; next < ids.size();) {
      GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
      std::vector<std::string> lines;
      uint64_t bytes = 0;
      for (; next < ids.size() && bytes < kRepairBytesMax; ++next) {
        const bson::Document by_id = gridfs::equals("_id", ids[next]);
        GM_ASSIGN(const std::optional<bson::View> document,
                  collection_->find_one(*transaction, by_id));
        if (!document) {
          return fail(
              ErrorCode::kDataCorruptionDetected,
              collection_->ns().full() + ": a document that is there is not found by its _id");
        }
        bytes += document->size();
        GM_TRY(context_.keep.keep_document(collection_->ns(), *document));
        lines.push_back(missing_.collection + ": removed the document with _id " +
                        bson::to_json(ids[next], bson::JsonForm::kRelaxed) + ", one of several " +
                        bson::to_json(key_of(*document), bson::JsonForm::kRelaxed));
        GM_TRY(remove_found(*collection_, *transaction, by_id));
      }
      GM_TRY(commit_kept(context_, *transaction));
      for (const std::string& line : lines) context_.findings.repaired(place_, line);
    }
    return {};
  }

  RepairContext& context_;
  const Location& place_;
  const MissingIndex& missing_;
  const std::unique_ptr<engine::Collection> collection_;
};

}  // namespace

Status repair_indexes(RepairContext& context, const gridfs::Bucket& bucket, const Location& place) {
  std::vector<MissingIndex> missing;
  {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, context.store.snapshot());
    GM_ASSIGN(missing, missing_indexes(bucket, *snapshot));
  }
  for (const MissingIndex& index : missing) {
    GM_TRY(IndexRepair(context, bucket, place, index).run());
  }
  return {};
}

}  // namespace gridmount::tools
