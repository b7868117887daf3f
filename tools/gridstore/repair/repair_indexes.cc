#include "tools/gridstore/repair/repair_indexes.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/local/index_steps.h"
#include "gridfs/bucket/chunk_document.h"
#include "gridfs/bucket/retry.h"
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
    std::vector<bson::Value> before;
    while (true) {
      GM_ASSIGN(std::vector<bson::Value> ids, find_duplicates(helping.keys));
      // The same documents again cannot be removed. Then the index cannot be created either.
      if (ids.empty() || ids == before) break;
      GM_TRY(remove(ids));
      before = std::move(ids);
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

  Status remove(std::span<const bson::Value> ids) {
    while (!ids.empty()) {
      GM_ASSIGN(const Removal removal,
                gridfs::with_retry(context_.store, [&] { return remove_some(ids); }));
      for (const std::string& line : removal.lines) context_.findings.repaired(place_, line);
      ids = ids.subspan(removal.looked_at);
    }
    return {};
  }

  // What one transaction has done: the number of _ids that it has looked at, and a line for each
  // document that it has removed.
  struct Removal {
    size_t looked_at = 0;
    std::vector<std::string> lines;
  };

  Result<Removal> remove_some(std::span<const bson::Value> ids) {
    const size_t count = std::min<size_t>(ids.size(), documents_per_transaction(context_.store));
    GM_ASSIGN(const std::unique_ptr<engine::Transaction> transaction, context_.store.begin());
    Removal removal;
    uint64_t bytes = 0;
    for (; removal.looked_at < count && bytes < kRepairBytesMax; ++removal.looked_at) {
      const bson::Value& id = ids[removal.looked_at];
      const bson::Document by_id = gridfs::equals("_id", id);
      GM_ASSIGN(const std::optional<bson::Document> document, find_duplicate(*transaction, by_id));
      if (!document) continue;
      bytes += document->view().size();
      GM_TRY(context_.keep.keep_document(collection_->ns(), *document));
      removal.lines.push_back(missing_.collection + ": removed the document with _id " +
                              bson::to_json(id, bson::JsonForm::kRelaxed) + ", one of several " +
                              bson::to_json(key_of(*document), bson::JsonForm::kRelaxed));
      GM_TRY(remove_found(*collection_, *transaction, by_id));
    }
    if (!removal.lines.empty()) GM_TRY(commit_kept(context_, *transaction));
    return removal;
  }

  // Returns the document, or nothing if others have removed it or the other documents with its key.
  Result<std::optional<bson::Document>> find_duplicate(engine::Transaction& transaction,
                                                       bson::View by_id) {
    const bool is_alone = context_.store.capabilities().exclusive;
    GM_ASSIGN(const std::optional<bson::View> found, collection_->find_one(transaction, by_id));
    if (!found && is_alone) {
      return fail(ErrorCode::kDataCorruptionDetected,
                  collection_->ns().full() + ": a document that is there is not found by its _id");
    }
    if (!found) return std::optional<bson::Document>();
    std::optional<bson::Document> document(*found);
    if (is_alone) return document;
    bson::Builder others;
    const bson::Document key = key_of(*document);
    for (const bson::Element part : key.view()) {
      others.open_document(part.key).append("$eq", part.value).close();
    }
    others.open_document("_id").append("$ne", document->view()["_id"]).close();
    GM_ASSIGN(const std::optional<bson::View> other,
              collection_->find_one(transaction, std::move(others).finish()));
    if (!other) document.reset();
    return document;
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
